"""The command `hookproof verify`: checks one saved delivery, without a network."""

import json
import math
import re
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click

from hookproof.help_examples import examples
from hookproof.process.exit_codes import ExitCode
from hookproof.process.messages import print_document, print_text
from hookproof.receiver.signatures.judgement import SchemeFormat, SignatureJudge, SignatureJudgement
from hookproof.spec.completion import complete_dialect
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.given_file import read_given
from hookproof.spec.strict_yaml.file_problem import FileProblems

FIELD: Final = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*")
# The largest file or body, in bytes.
LARGEST: Final = 32 * 2**20
STATUS_OR_REQUEST_LINE: Final = re.compile(r"[A-Za-z]+ \S+( HTTP/[0-9.]+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedMessage:
    """Headers in order, and the raw body."""

    headers: tuple[tuple[str, str], ...]
    body: bytes


def read_headers(options: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Parse headers written `Name: value`; `@FILE` is a file with one on each line.

    Raises ValueError.
    """
    fields: list[tuple[str, str]] = []
    for option in options:
        lines = _read_lines(Path(option[1:])) if option.startswith("@") else [option]
        fields += [_parse_field(line) for line in lines]
    return tuple(fields)


def read_request(path: Path) -> SavedMessage:
    """Read a whole HTTP/1 request as on the wire; bare line feeds are accepted.

    Raises ValueError.
    """
    content = _read_file(path)
    head, blank_line, body = _split(content)
    first, *lines = head.decode("latin-1").splitlines() or [""]
    if not blank_line or not STATUS_OR_REQUEST_LINE.fullmatch(first):
        raise ValueError(
            f"{path} does not hold an HTTP request: "
            "a request line, headers, an empty line, and the body"
        )
    return SavedMessage(headers=tuple(_parse_field(line) for line in lines), body=body)


def _split(content: bytes) -> tuple[bytes, bytes, bytes]:
    match = re.search(rb"\r?\n\r?\n", content)
    if match is None:
        return content, b"", b""
    return content[: match.start()], match[0], content[match.end() :]


def _parse_field(line: str) -> tuple[str, str]:
    match = FIELD.fullmatch(line)
    if match is None:
        raise ValueError(f"{line[:60]!r} is not a header; write 'Name: value'")
    return match[1], match[2]


def _read_lines(path: Path) -> list[str]:
    lines = _read_file(path).decode("latin-1").splitlines()
    return [line for line in lines if line.strip() and not STATUS_OR_REQUEST_LINE.fullmatch(line)]


def _read_file(path: Path) -> bytes:
    try:
        return read_given(path, LARGEST)
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror or error}") from None


DEFAULT_DIALECT: Final = "reference"


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
    """A secret, which may contain spaces; the environment variable has one in each line."""

    def split_envvar_value(self, rv: str) -> list[str]:
        return [line for line in rv.splitlines() if line]


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
    dialect: str, secrets: tuple[str, ...], format_name: str | None, tolerance_s: float | None
) -> SignatureJudge:
    """The judge that the options describe."""
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
        dialect=load_named_dialect(dialect),
        secrets=secrets,
        formats=formats,
        tolerance_s=tolerance_s,
    )


@click.command(
    epilog=examples(
        (
            "hookproof verify --secret 'a secret' --header @headers.txt < body.json",
            "Check a saved delivery.",
        ),
        (
            "hookproof verify --request delivery.http --dialect standard-webhooks",
            "Check a whole saved request; the secret is in HOOKPROOF_SECRET.",
        ),
    )
)
@click.option("--secret", "secrets", **SECRET)
@click.option(
    "--header",
    "headers",
    multiple=True,
    metavar="'NAME: VALUE'",
    help="A header; @FILE reads them from it.",
)
@click.option(
    "--request",
    type=click.Path(path_type=Path),
    help="A saved HTTP request, in place of headers and body.",
)
@click.option("--dialect", **DIALECT)
@click.option("--format", "format_name", **FORMAT)
@click.option("--at", callback=read_time, metavar="TIME", help="When it arrived; now by default.")
@click.option("--tolerance", "tolerance_s", **TOLERANCE)
@click.option("--json", "as_json", is_flag=True, help="Print the verdict as JSON.")
@click.pass_context
def verify(
    context: click.Context,
    /,
    *,
    secrets: tuple[str, ...],
    headers: tuple[str, ...],
    request: Path | None,
    dialect: str,
    format_name: str | None,
    at: float | None,
    tolerance_s: float | None,
    as_json: bool,
) -> None:
    """Check the signature of one delivery, its body on standard input; say why if it is not valid.

    Exit codes: 0 verified; 1 not verified; 64 wrong usage.
    """
    judge = build_judge(dialect, secrets, format_name, tolerance_s)
    message = _read_message(headers, request)
    judgement = judge.judge(message.headers, message.body, time.time() if at is None else at)
    if as_json:
        print_document(json.dumps(judgement.to_json()))
    else:
        print_text(judgement_text(judgement))
    context.exit(ExitCode.OK if judgement.verified else ExitCode.FAILED)


def judgement_text(judgement: SignatureJudgement) -> str:
    """A judgement for a person."""
    if judgement.diagnosis is None:
        return f"verified: {judgement.sentence}"
    return (
        f"not verified: {judgement.reason} ({judgement.detail})\nwhy: {judgement.diagnosis.cause}"
    )


def _read_message(headers: tuple[str, ...], request: Path | None) -> SavedMessage:
    if request is not None and headers:
        raise click.UsageError("--request brings its own headers; leave --header out")
    if request is None and not headers:
        raise click.UsageError(
            "give the headers of the delivery with --header, or the whole of it with --request"
        )
    try:
        if request is not None:
            return read_request(request)
        return SavedMessage(headers=read_headers(headers), body=_read_standard_input())
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _read_standard_input() -> bytes:
    if sys.stdin is None or sys.stdin.isatty():
        raise ValueError("the body is read from standard input: add `< body.json`")
    body = sys.stdin.buffer.read(LARGEST + 1)
    if len(body) > LARGEST:
        raise ValueError(f"the body is larger than {LARGEST} bytes")
    return body
