"""The command `hookproof check-consumer`: judges a consumer of webhooks."""

import json
import time
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Final

import click

from hookproof.help_examples import examples
from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.process.messages import print_document, print_line
from hookproof.process.stop_signals import run_until_stopped
from hookproof.receiver.cli.send import delivery_options, signer_for
from hookproof.receiver.cli.signing_options import (
    Signing,
    read_body,
    signing_options,
)
from hookproof.receiver.consumer.effect import (
    Effect,
    EffectUnknown,
    effect_of_command,
    effect_of_url,
)
from hookproof.receiver.consumer.examination import Examination, Unreachable
from hookproof.receiver.consumer.finding import (
    VERDICTS,
    Finding,
    Requirement,
    Verdict,
    exit_code,
    requirements,
)
from hookproof.receiver.sending.attempt import Event, new_event_id
from hookproof.receiver.sending.exchange import Consumer, UnusableUrl, tls_context, usable_url
from hookproof.receiver.sending.signing import CannotSign

# What stands for the identifier of each event, and for a text that may be any, in body and headers.
EVENT_ID: Final = "HOOKPROOF_EVENT_ID"
TEXT: Final = "HOOKPROOF_TEXT"
PLAIN_TEXT: Final = "plain"
BEYOND_ASCII: Final = "Zo\u00eb \u2713 \U0001f600"
BODY: Final = (
    b'{"id":"HOOKPROOF_EVENT_ID","type":"hookproof.check","data":{"number":7,'
    b'"text":"HOOKPROOF_TEXT"}}'
)
WORDS: Final = {
    Verdict.PASS: "ok  ",
    Verdict.FAIL: "FAIL",
    Verdict.NOT_EXERCISED: "skip",
    Verdict.NOT_APPLICABLE: "n/a ",
}


@click.command(
    "check-consumer",
    epilog=examples(
        (
            "hookproof check-consumer http://127.0.0.1:8000/hooks --scheme svix --effect URL",
            "Judge a consumer; the secret is in HOOKPROOF_SECRET.",
        ),
        (
            "hookproof check-consumer http://127.0.0.1:8000/hooks --scheme svix --body event.json",
            "Judge it by an event that it knows.",
        ),
    ),
)
@click.argument("consumer_url", metavar="URL")
@partial(signing_options, format_option="--signature-format")
@click.option(
    "--body",
    "body_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help=(
        "An event that the consumer takes; in it, and in --header, HOOKPROOF_EVENT_ID stands for "
        "the identifier of each event and HOOKPROOF_TEXT for a text."
    ),
)
@click.option(
    "--effect",
    "effect_url",
    metavar="URL",
    help="A URL that answers with a number which each event changes, such as a count of orders.",
)
@click.option(
    "--effect-command",
    metavar="COMMAND",
    help="A command for the shell that prints this number.",
)
@click.option(
    "--effect-within",
    "within_s",
    type=click.FloatRange(min=0, min_open=True),
    default=5,
    show_default=True,
    metavar="SECONDS",
    help="How long the effect of an event may take.",
)
@click.option(
    "--expired-secret",
    metavar="TEXT",
    help="A secret that the consumer had once and has to refuse.",
)
@click.option(
    "--only",
    multiple=True,
    metavar="PATTERN",
    help="Test these requirements alone, such as 'refuses-*'; may be repeated.",
)
@click.option(
    "--exclude",
    multiple=True,
    metavar="PATTERN",
    help="Leave these requirements out; may be repeated.",
)
@delivery_options
@click.option(
    "--format",
    "report_format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="The form of the report.",
)
@click.option("--json", "report_format", flag_value="json", help="The same as --format json.")
@click.pass_context
def check_consumer(
    context: click.Context,
    /,
    *,
    consumer_url: str,
    signing: Signing,
    body_file: Path | None,
    effect_url: str | None,
    effect_command: str | None,
    within_s: float,
    expired_secret: str | None,
    only: Sequence[str],
    exclude: Sequence[str],
    size: int,
    timeout_s: float,
    ca: Path | None,
    report_format: str,
) -> None:
    """Judge a consumer of webhooks: what it takes, what it refuses, and what comes of it.

    It sends some hundred deliveries, with right ones before and after each that is wrong. Exit
    codes: 0 conforms; 1 does not; 3 incomplete; 4 the consumer is unreachable; 64 wrong usage.
    """
    chosen = _chosen(only, exclude)
    body = BODY if body_file is None else read_body(body_file)
    began = time.monotonic()
    try:
        examination = Examination(
            consumer=Consumer.at(consumer_url, ca=ca, timeout_s=timeout_s),
            signer=signer_for(signing, consumer_url, size, expired_secret),
            new_event=partial(new_event, signing, body),
            own_event=body_file is not None,
            effect=_effect(effect_url, effect_command, ca),
            within_s=within_s,
        )
        examination.signer.check(examination.new_event())
        show = print_finding if report_format == "text" else None
        findings = run_until_stopped(partial(_examine, examination, chosen, show))
    except (UnusableUrl, CannotSign) as problem:
        raise click.UsageError(str(problem)) from None
    except EffectUnknown as problem:
        raise CommandError(f"the effect is not known: {problem}") from None
    except Unreachable as problem:
        raise CommandError(f"{consumer_url} {problem}", ExitCode.UNREACHABLE) from None
    code, took_s = exit_code(findings), time.monotonic() - began
    if report_format == "json":
        print_document(json.dumps(_report(consumer_url, findings, code, took_s)))
    else:
        print_line(verdict_line(findings, code, took_s))
    context.exit(code)


def new_event(signing: Signing, body: bytes) -> Event:
    """A further event, with an identifier of its own wherever the template names it."""
    event_id = new_event_id()

    def filled(text: str) -> bytes:
        return body.replace(EVENT_ID.encode(), event_id.encode()).replace(
            TEXT.encode(), text.encode()
        )

    return Event(
        id=event_id,
        headers=tuple(
            (name, value.replace(EVENT_ID, event_id).replace(TEXT, PLAIN_TEXT))
            for name, value in signing.headers
        ),
        body=filled(PLAIN_TEXT),
        beyond_ascii=filled(BEYOND_ASCII) if TEXT.encode() in body else None,
    )


async def _examine(
    examination: Examination,
    chosen: dict[str, Requirement],
    show: Callable[[Finding], None] | None,
) -> list[Finding]:
    findings = []
    async for finding in examination.findings(chosen):
        findings.append(finding)
        if show is not None:
            show(finding)
    return findings


def print_finding(finding: Finding) -> None:
    """A requirement, the proof, and how to mend what failed."""
    word, text = WORDS[finding.verdict], finding.requirement.text.removesuffix(".")
    print_line(f"{word}  {finding.id}: {text}")
    if finding.verdict is not Verdict.PASS:
        label = "proof" if finding.verdict is Verdict.FAIL else "since"
        print_line(f"      {label}: {finding.proof}")
    if finding.verdict is Verdict.FAIL:
        print_line(f"      mend:  {finding.requirement.mend}")


def verdict_line(findings: Sequence[Finding], code: ExitCode, took_s: float) -> str:
    counts = {verdict: sum(each.verdict is verdict for each in findings) for verdict in Verdict}
    applicable = len(findings) - counts[Verdict.NOT_APPLICABLE]
    parts = [f"{VERDICTS[code][1]}  pass {counts[Verdict.PASS]}/{applicable}"]
    parts += [
        f"{verdict.replace('_', ' ')} {counts[verdict]}"
        for verdict in (Verdict.FAIL, Verdict.NOT_EXERCISED, Verdict.NOT_APPLICABLE)
        if counts[verdict]
    ]
    return " \u00b7 ".join([*parts, f"{took_s:.1f} s"])


def _report(
    url: str, findings: Sequence[Finding], code: ExitCode, took_s: float
) -> dict[str, object]:
    return {
        "consumer": url,
        "verdict": VERDICTS[code][0],
        "exit_code": int(code),
        "duration_s": took_s,
        "totals": {
            verdict.value: sum(each.verdict is verdict for each in findings) for verdict in Verdict
        },
        "requirements": [each.to_json() for each in findings],
    }


def _chosen(only: Sequence[str], exclude: Sequence[str]) -> dict[str, Requirement]:
    for option, patterns in (("--only", only), ("--exclude", exclude)):
        for pattern in patterns:
            if not any(fnmatchcase(name, pattern) for name in requirements()):
                names = ", ".join(requirements())
                raise click.UsageError(f"{option} {pattern} fits no requirement; there are {names}")
    chosen = {
        name: requirement
        for name, requirement in requirements().items()
        if (not only or _fits(name, only)) and not _fits(name, exclude)
    }
    if not chosen:
        raise click.UsageError("--only and --exclude leave no requirement")
    return chosen


def _fits(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _effect(url: str | None, command: str | None, ca: Path | None) -> Effect | None:
    if url is not None and command is not None:
        raise click.UsageError("--effect and --effect-command tell the same; leave one of them out")
    if url is not None:
        return effect_of_url(usable_url(url), tls_context(url, ca))
    return None if command is None else effect_of_command(command)
