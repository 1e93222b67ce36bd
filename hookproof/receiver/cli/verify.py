"""The command `hookproof verify`: checks one saved delivery, without a network."""

import json
import math
import os
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click
from click.shell_completion import CompletionItem

from hookproof.help_examples import examples
from hookproof.process.exit_codes import ExitCode
from hookproof.process.messages import print_document, print_text
from hookproof.receiver.cli.saved_delivery import (
    SavedDelivery,
    read_delivery,
    read_file,
    read_headers,
    read_standard_input,
    with_url,
)
from hookproof.receiver.signatures.diagnosis.remedies import remedy_of
from hookproof.receiver.signatures.judgement import SchemeFormat, SignatureJudge, SignatureJudgement
from hookproof.receiver.signatures.schemes.catalogue import (
    NamedScheme,
    SchemeProblem,
    load_scheme,
    shipped_schemes,
)
from hookproof.receiver.signatures.schemes.forwarded_url import forwarded_line
from hookproof.receiver.signatures.signed_message import Headers
from hookproof.receiver.signatures.verification import PEM
from hookproof.spec.completion import complete_dialect
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.strict_yaml.file_problem import FileProblems

DEFAULT_DIALECT: Final = "reference"
AUTOMATIC: Final = "auto"
TRIED: Final = (
    "ways to sign: keys made of these secrets, forms of this body, joins, times and hashes; "
    "and the schemes of all senders whose headers are here"
)
# What a diagnosis says of the sender, and what is known of a delivery that others have handled.
SENT: Final = {
    ", sent it ": ", here it is ",
    ", sent them ": ", here they are ",
    ", sent ": ", here is ",
}
LINE_END: Final = (
    "note: HOOKPROOF_SECRET ends in a line end, which was left out here; "
    "a receiver that takes it for a part of the secret makes another signature"
)


def load_named_dialect(text: str) -> Dialect:
    """Load the dialect that an option names; raises a usage error."""
    # Imported late: `receive` has the same options and must start fast.
    from hookproof.spec.dialect.reader import load_dialect

    try:
        return load_dialect(text)
    except FileProblems as problems:
        raise click.UsageError("; ".join(str(problems).splitlines())) from None


def read_time(
    _context: click.Context, _parameter: click.Parameter, text: str | None
) -> float | None:
    """Convert Unix seconds or an RFC 3339 time to Unix seconds."""
    if text is None:
        return None
    try:
        return _finite(float(text))
    except ValueError:
        pass
    try:
        date = datetime.fromisoformat(text)
    except ValueError:
        expected = "give Unix seconds or a time like 2025-01-01T00:00:00Z"
        raise click.BadParameter(f"{text!r} is not a time; {expected}") from None
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()


def _finite(number: float) -> float:
    if not math.isfinite(number):
        raise ValueError("not finite")
    return number


DIALECT: Final[dict[str, Any]] = {
    "default": DEFAULT_DIALECT,
    "show_default": True,
    "metavar": "NAME|FILE",
    "shell_complete": complete_dialect,
    "help": "How the sender signs.",
}
FORMAT: Final[dict[str, Any]] = {
    "type": click.Choice([choice.value for choice in SchemeFormat]),
    "help": "The signature format; either of the two by default.",
}


class SecretText(click.types.StringParamType):
    """A secret, which may contain spaces; the environment variable has one in each line.

    The line end after the last line is left out. If there is one secret alone, further ones are
    part of it, as they are for a receiver that reads such a variable. A key or a chain of
    certificates in PEM has several lines, so it is the only one.
    """

    def split_envvar_value(self, rv: str) -> list[str]:
        if PEM in rv:
            return [rv]
        text = rv.removesuffix("\n").removesuffix("\r")
        lines = [line for line in text.splitlines() if line]
        return [text] if len(lines) == 1 and text.startswith(lines[0]) else lines


SECRET: Final[dict[str, Any]] = {
    "type": SecretText(),
    "multiple": True,
    "envvar": "HOOKPROOF_SECRET",
    "metavar": "TEXT",
    "help": (
        "A secret of the endpoint; may be repeated (better: HOOKPROOF_SECRET, one in each line)."
    ),
}
TOLERANCE: Final[dict[str, Any]] = {
    "type": click.FloatRange(min=0),
    "metavar": "SECONDS",
    "help": "How far the signed time may be off; the dialect's tolerance by default.",
}


def build_judge(
    dialect: str,
    secrets: tuple[str, ...],
    format_name: str | None,
    tolerance_s: float | None,
    schemes: tuple[NamedScheme, ...] = (),
    *,
    automatic: bool = False,
    at_own_time: bool = False,
) -> SignatureJudge:
    """The judge that the options describe."""
    loaded = load_named_dialect(dialect)
    own = (loaded.signatures.simple, loaded.signatures.advanced)
    secrets = secrets or tuple(
        each.entry.secret.public_key for each in schemes if each.entry.secret.public_key
    )
    secrets = secrets or tuple(dict.fromkeys(filter(None, (each.public_key for each in own))))
    if not secrets:
        raise click.UsageError(
            "a secret is needed: --secret TEXT, or HOOKPROOF_SECRET in the environment"
        )
    formats = (
        (SchemeFormat(format_name),)
        if format_name
        else (SchemeFormat.ADVANCED, SchemeFormat.SIMPLE)
    )
    return SignatureJudge(
        dialect=loaded,
        secrets=secrets,
        formats=formats,
        tolerance_s=tolerance_s,
        schemes=schemes,
        automatic=automatic,
        at_own_time=at_own_time,
    )


def read_schemes(
    _context: click.Context, _parameter: click.Parameter, name: str | None
) -> tuple[NamedScheme, ...]:
    """The scheme that an option names; none for `auto`."""
    return named_schemes(name)


def named_schemes(name: str | None) -> tuple[NamedScheme, ...]:
    """The scheme of a name; none for `auto`, or without one. Raises a usage error."""
    try:
        return () if name in {None, AUTOMATIC} else (load_scheme(str(name)),)
    except SchemeProblem as problem:
        raise click.UsageError(str(problem)) from None


def complete_scheme(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The names of schemes for a shell."""
    return [
        CompletionItem(name, help=scheme.entry.title)
        for name, scheme in shipped_schemes().items()
        if name.startswith(incomplete)
    ]


@click.command(
    epilog=examples(
        (
            "hookproof verify delivery.http",
            "Check a saved delivery, whoever sent it; the secret is in HOOKPROOF_SECRET.",
        ),
        (
            "hookproof verify --scheme stripe --header @headers.txt --body body.json",
            "Check headers and a body that were saved apart.",
        ),
    )
)
@click.argument("saved_file", metavar="[FILE]", required=False, type=click.Path(path_type=Path))
@click.option("--secret", "secrets", **SECRET)
@click.option(
    "--header",
    "headers",
    multiple=True,
    metavar="'NAME: VALUE'",
    help="A header; @FILE reads them from it.",
)
@click.option(
    "--body",
    "body_file",
    type=click.Path(path_type=Path),
    help="The file of the body; standard input by default.",
)
@click.option(
    "--request",
    type=click.Path(path_type=Path),
    help="The same as FILE.",
)
@click.option(
    "--scheme",
    "schemes",
    default=AUTOMATIC,
    show_default=True,
    metavar="NAME|FILE|auto",
    callback=read_schemes,
    shell_complete=complete_scheme,
    help="Who sent it, such as stripe or github; `hookproof scheme list` shows all.",
)
@click.option(
    "--dialect",
    metavar="NAME|FILE",
    shell_complete=complete_dialect,
    help="The dialect of the service that sent it, in place of a scheme.",
)
@click.option("--format", "format_name", **FORMAT)
@click.option(
    "--url", metavar="URL", help="The URL that the sender called; that of FILE by default."
)
@click.option(
    "--forwarded",
    is_flag=True,
    help="Take this URL from X-Forwarded-Proto, -Host and -Prefix, which a proxy of yours sets.",
)
@click.option(
    "--at",
    callback=read_time,
    metavar="TIME",
    help="When it arrived; now by default, but the age of FILE is told and not judged.",
)
@click.option("--tolerance", "tolerance_s", **TOLERANCE)
@click.option("--json", "as_json", is_flag=True, help="Print the verdict as JSON.")
@click.pass_context
def verify(
    context: click.Context,
    /,
    *,
    secrets: tuple[str, ...],
    headers: tuple[str, ...],
    body_file: Path | None,
    saved_file: Path | None,
    request: Path | None,
    schemes: tuple[NamedScheme, ...],
    dialect: str | None,
    format_name: str | None,
    url: str | None,
    forwarded: bool,
    at: float | None,
    tolerance_s: float | None,
    as_json: bool,
) -> None:
    """Check the signature of one saved delivery; say why, who and what to do if it is not valid.

    FILE is a saved delivery: an HTTP request, or what `curl -v`, a HAR or an event of a cloud
    function holds. Headers and body that were saved apart are given by options instead.

    Exit codes: 0 verified; 1 not verified; 64 wrong usage.
    """
    if schemes and (dialect or format_name):
        raise click.UsageError(
            "--scheme takes the place of --dialect and --format; leave these out"
        )
    if saved_file and request:
        raise click.UsageError("FILE is a saved delivery already; leave --request out")
    request = saved_file or request
    if url and forwarded:
        raise click.UsageError("--url says the URL; leave --forwarded out")
    judge = build_judge(
        dialect or DEFAULT_DIALECT,
        secrets,
        format_name,
        tolerance_s,
        schemes,
        automatic=dialect is None and format_name is None,
        at_own_time=request is not None and at is None and tolerance_s is None,
    )
    saved = _read_saved(headers, request, body_file, url)
    body = saved.body or b""
    arrived = at if at is not None else saved.arrived_at
    now = time.time() if arrived is None else arrived
    line = saved.line
    if forwarded:
        if line is None:
            raise click.UsageError("--forwarded needs the path that arrived: give a saved delivery")
        line = forwarded_line(line, saved.headers)
    judgement = judge.judge(saved.headers, body, now, line)
    if as_json:
        print_document(
            json.dumps(judgement.to_json() | _remedy_json(judgement, saved.headers, body))
        )
    else:
        print_text(judgement_text(judgement, saved.headers, body))
        in_environment = os.environ.get(str(SECRET["envvar"]), "")
        if in_environment.endswith("\n") and PEM not in in_environment:
            print_text(LINE_END)
    context.exit(ExitCode.OK if judgement.verified else ExitCode.FAILED)


def _remedy_json(
    judgement: SignatureJudgement, headers: Headers, body: bytes
) -> dict[str, str | list[str] | None]:
    """Who most likely made the difference, and what mends it, as `judgement_text` says it."""
    diagnosis = judgement.diagnosis
    if diagnosis is None or not (diagnosis.explained or not judgement.others):
        return {"who": None, "mend": None, "examples": []}
    remedy = remedy_of(diagnosis, headers, body)
    return {"who": remedy.who, "mend": remedy.mend, "examples": list(remedy.examples)}


def judgement_text(judgement: SignatureJudgement, headers: Headers, body: bytes) -> str:
    """A judgement for a person."""
    if judgement.diagnosis is None:
        return f"verified: {judgement.sentence}"
    lines = [
        f"not verified: {judgement.reason} ({judgement.detail})",
        f"why: {_seen_here(judgement)}",
    ]
    if judgement.diagnosis.remedy is not None and not judgement.others:
        lines.append(f"tried: {judgement.diagnosis.hashes} {TRIED}")
    if judgement.diagnosis.explained or not judgement.others:
        remedy = remedy_of(judgement.diagnosis, headers, body)
        lines += [f"who: {remedy.who}", f"mend: {remedy.mend}", *remedy.examples]
    return "\n".join(lines)


def _seen_here(judgement: SignatureJudgement) -> str:
    """The cause for somebody who does not know yet who made the difference."""
    assert judgement.diagnosis is not None
    if not judgement.diagnosis.explained:
        return judgement.cause
    cause = judgement.cause
    for sent, here in SENT.items():
        cause = cause.replace(sent, here)
    return f"the sender {cause}"


def _read_saved(
    headers: tuple[str, ...], request: Path | None, body_file: Path | None, url: str | None
) -> SavedDelivery:
    if request is not None and headers:
        raise click.UsageError("a saved delivery brings its own headers; leave --header out")
    if request is None and not headers:
        raise click.UsageError("give a saved delivery as FILE, or its headers with --header")
    try:
        if request is not None:
            saved = read_delivery(request)
        else:
            saved = SavedDelivery(headers=read_headers(headers), body=None)
        if body_file is not None:
            saved = replace(saved, body=read_file(body_file))
        elif saved.body is None:
            saved = replace(saved, body=read_standard_input())
        return with_url(saved, url)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
