"""The command `hookproof sign`: the headers of a signed delivery."""

import time
from pathlib import Path

import click

from hookproof.help_examples import examples
from hookproof.process.messages import print_document
from hookproof.process.written_file import write_file
from hookproof.receiver.cli.signing_options import (
    BODY,
    EVENT_ID,
    Signing,
    given_event,
    signing_options,
)
from hookproof.receiver.cli.verify import read_time
from hookproof.receiver.sending import signing as signatures
from hookproof.receiver.sending.signing import CannotSign, SignedDelivery, signing_key


@click.command(
    epilog=examples(
        (
            "hookproof sign --scheme github --body event.json > headers.txt",
            "Sign a body; the secret is in HOOKPROOF_SECRET.",
        ),
        (
            "hookproof sign --scheme square --url https://hooks.example.org/in --body event.json",
            "Sign for a scheme that signs the URL, too.",
        ),
    )
)
@signing_options
@BODY
@EVENT_ID
@click.option("--at", callback=read_time, metavar="TIME", help="When it is signed; now by default.")
@click.option(
    "--write-body",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Where to write the body, for a scheme whose signature stands in it.",
)
def sign(
    *,
    signing: Signing,
    body_file: Path | None,
    event_id: str | None,
    at: float | None,
    write_body: Path | None,
) -> None:
    """Print the headers of a signed delivery, one in each line, as `curl -H @FILE` reads them.

    Exit codes: 0 signed; 64 wrong usage.
    """
    event = given_event(signing, body_file, event_id)
    try:
        delivery = signatures.sign(
            signing.contract,
            [signing_key(signing.contract, secret) for secret in signing.secrets],
            headers=event.headers,
            body=event.body,
            line=signing.line(),
            at=time.time() if at is None else at,
            event_id=event.id,
        )
    except CannotSign as problem:
        raise click.UsageError(str(problem)) from None
    if write_body is not None:
        write_file(write_body, delivery.body)
    elif delivery.body != event.body:
        raise click.UsageError(
            "the signature of this scheme stands in the body: add --write-body FILE for it"
        )
    print_document(_lines(delivery))


def _lines(delivery: SignedDelivery) -> str:
    return "\n".join(f"{name}: {value}" for name, value in delivery.headers)
