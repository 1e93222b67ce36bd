"""The command `hookproof send`: one signed event to a consumer, in the ways of real senders."""

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import click

from hookproof.help_examples import examples
from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.process.messages import print_document, print_line
from hookproof.process.stop_signals import run_until_stopped
from hookproof.receiver.cli.signing_options import (
    BODY,
    EVENT_ID,
    Signing,
    given_event,
    signing_options,
)
from hookproof.receiver.sending.attempt import Event, Signer, new_event_id
from hookproof.receiver.sending.delivering import (
    SentDelivery,
    events_of,
    prepared_way,
    send_way,
)
from hookproof.receiver.sending.exchange import (
    Consumer,
    UnusableUrl,
)
from hookproof.receiver.sending.signing import CannotSign, Headers
from hookproof.receiver.sending.tables import ways
from hookproof.receiver.signatures.judgement import Contract

LARGE: Final = 2**20
LARGEST: Final = 64 * 2**20
PLAIN: Final = "right"
NOT_SHOWN: Final = "(the secret)"


def delivery_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options that say how a delivery is sent."""
    for option in reversed(
        (
            click.option(
                "--size",
                type=click.IntRange(1, LARGEST),
                default=LARGE,
                show_default=True,
                metavar="BYTES",
                help="The size of a large body.",
            ),
            click.option(
                "--timeout",
                "timeout_s",
                type=click.FloatRange(min=0, min_open=True),
                default=10,
                show_default=True,
                metavar="SECONDS",
                help="How long to wait for each answer.",
            ),
            click.option(
                "--ca",
                type=click.Path(path_type=Path),
                metavar="FILE",
                help=(
                    "Certificates to trust (PEM); without it those of this machine are not"
                    " verified."
                ),
            ),
        )
    ):
        command = option(command)
    return command


class WayNames(click.ParamType[Sequence[str]]):
    """Names of ways with commas between them."""

    name = "ways"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Sequence[str]:
        if not isinstance(value, str):
            return value  # type: ignore[return-value]
        names = [name.strip() for name in value.split(",")]
        choice = click.Choice(list(ways()))
        return [choice.convert(name, param, ctx) for name in names]


def _described_ways() -> str:
    width = max(map(len, ways()))
    lines = [f"  {name:<{width}}  {way.help}" for name, way in ways().items()]
    return "\n".join(["\b", "Ways to send it, for --as:", *lines])


@click.command(
    epilog=f"{_described_ways()}\n\n"
    + examples(
        (
            "hookproof send http://127.0.0.1:8000/hooks --scheme stripe --body event.json",
            "Send one right delivery; the secret is in HOOKPROOF_SECRET.",
        ),
        (
            "hookproof send http://127.0.0.1:8000/hooks --scheme svix --body event.json --as old",
            "Send it with a time that is too old, which has to be refused.",
        ),
    )
)
@click.argument("consumer_url", metavar="URL")
@signing_options
@BODY
@EVENT_ID
@click.option(
    "--as",
    "names",
    type=WayNames(),
    default=PLAIN,
    show_default=True,
    metavar="WAY,...",
    help="How to send it; see below.",
)
@delivery_options
@click.option("--json", "as_json", is_flag=True, help="Print what was sent and answered as JSON.")
@click.pass_context
def send(
    context: click.Context,
    /,
    *,
    consumer_url: str,
    signing: Signing,
    body_file: Path | None,
    event_id: str | None,
    names: Sequence[str],
    size: int,
    timeout_s: float,
    ca: Path | None,
    as_json: bool,
) -> None:
    """Send one signed event to a consumer, and say for each delivery whether the answer is right.

    A right delivery has to be answered with 2xx, an old one with 4xx; what else is right, the page
    docs/consumers.md says. Exit codes: 0 all answers are right; 1 at least one is not; 4 nothing
    could be sent; 64 wrong usage.
    """
    event = given_event(signing, body_file, event_id)
    try:
        consumer = Consumer.at(consumer_url, ca=ca, timeout_s=timeout_s)
        signer = signer_for(signing, consumer_url, size)
        deliver = partial(_deliver_all, signer, event, names, consumer, as_json)
        sent = run_until_stopped(deliver)
    except (UnusableUrl, CannotSign) as problem:
        raise click.UsageError(str(problem)) from None
    if as_json:
        print_document(json.dumps([_to_json(each, signing) for each in sent]))
    if all(each.answer.unreachable for each in sent):
        raise CommandError(f"{consumer_url} {sent[0].answer.problem}", ExitCode.UNREACHABLE)
    context.exit(ExitCode.OK if all(each.is_right for each in sent) else ExitCode.FAILED)


def signer_for(signing: Signing, called: str, size: int, expired: str | None = None) -> Signer:
    line = signing.line(called)
    assert line is not None
    return Signer(
        contract=signing.contract, secrets=signing.secrets, line=line, size=size, expired=expired
    )


async def _deliver_all(
    signer: Signer, event: Event, names: Sequence[str], consumer: Consumer, silent: bool
) -> list[SentDelivery]:
    events = events_of(event, new_event_id)
    for name in names:
        prepared_way(signer, name, events)  # before anything is sent
    sent = []
    for name in names:
        async for each in send_way(consumer, signer, name, events):
            sent.append(each)
            if not silent:
                print_line(each.sentence)
    return sent


def _to_json(sent: SentDelivery, signing: Signing) -> dict[str, object]:
    """Bytes of the answer that are not UTF-8 are replaced."""
    own = sent.delivery.headers[len(signing.headers) :]
    return {
        "as": sent.way,
        "number": sent.number,
        "headers": _shown(signing.contract, own),
        "bytes": len(sent.delivery.body),
        "status": sent.status,
        "problem": sent.answer.problem or None,
        "took_ms": sent.answer.took_ms,
        "answer": sent.answer.body.decode("utf-8", "replace"),
        "right": sent.is_right,
        "wanted": list(sent.row.answers),
    }


def _shown(contract: Contract, headers: Headers) -> Headers:
    """The headers of the signature as they may be shown: a token is the secret itself."""
    if contract.signature.algorithm.signs:
        return headers
    return tuple(
        (name, NOT_SHOWN if name == contract.signature.header else value) for name, value in headers
    )
