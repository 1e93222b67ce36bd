"""The command `hookproof verify`: one saved delivery, checked without a network."""

import json
import math
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click

from hookproof.process.exit_codes import ExitCode
from hookproof.receiver.cli.saved_message import LARGEST, SavedMessage, header_fields, read_request
from hookproof.receiver.signatures.judgement import Format, Judge, Judgement
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.strict_yaml.file_problem import FileProblems

DEFAULT_DIALECT: Final = "reference"


def dialect_named(text: str) -> Dialect:
    """The dialect that an option names; raises click's exception for one that cannot be used."""
    from hookproof.spec.dialect.reader import (
        load_dialect,  # late: `receive` takes the same options, and has to start fast
    )

    try:
        return load_dialect(text)
    except FileProblems as problems:
        raise click.UsageError("; ".join(str(problems).splitlines())) from None


def read_time(
    _context: click.Context, _parameter: click.Parameter, text: str | None
) -> float | None:
    """Unix seconds, or a moment of RFC 3339, as Unix seconds."""
    if text is None:
        return None
    try:
        return _finite(float(text))
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        wanted = "give Unix seconds or a moment like 2025-01-01T00:00:00Z"
        raise click.BadParameter(f"{text!r} is no time; {wanted}") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _finite(number: float) -> float:
    if not math.isfinite(number):
        raise ValueError("no moment")
    return number


DIALECT: Final[dict[str, Any]] = {
    "default": DEFAULT_DIALECT,
    "show_default": True,
    "metavar": "NAME|FILE",
    "help": "How the sender signs.",
}
FORMAT: Final[dict[str, Any]] = {
    "type": click.Choice([one.value for one in Format]),
    "help": "The signature format; either of the two by default.",
}


class SecretText(click.types.StringParamType):
    """A secret, which may have spaces in it; the environment holds one in each line."""

    def split_envvar_value(self, rv: str) -> list[str]:
        """The secrets of the environment variable."""
        return [line for line in rv.splitlines() if line]


SECRET: Final[dict[str, Any]] = {
    "type": SecretText(),
    "multiple": True,
    "envvar": "HOOKPROOF_SECRET",
    "metavar": "TEXT",
    "help": "A secret of the endpoint; may be repeated (better: HOOKPROOF_SECRET, one in each line).",
}
TOLERANCE: Final[dict[str, Any]] = {
    "type": click.FloatRange(min=0),
    "metavar": "SECONDS",
    "help": "Age or lead of the signed time that is accepted; the dialect's by default.",
}


def judge_of(
    dialect: str, secrets: tuple[str, ...], chosen: str | None, tolerance_s: float | None
) -> Judge:
    """The judge that the options describe."""
    if not secrets:
        raise click.UsageError(
            "a secret is needed: --secret TEXT, or HOOKPROOF_SECRET in the environment"
        )
    formats = (Format(chosen),) if chosen else (Format.ADVANCED, Format.SIMPLE)
    return Judge(
        dialect=dialect_named(dialect), secrets=secrets, formats=formats, tolerance_s=tolerance_s
    )


@click.command()
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
@click.option("--format", "chosen", **FORMAT)
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
    chosen: str | None,
    at: float | None,
    tolerance_s: float | None,
    as_json: bool,
) -> None:
    """Check the signature of one delivery, its body on standard input; says why if it is not valid.

    Exit codes: 0 verified; 1 not verified; 64 wrong usage.
    """
    judge = judge_of(dialect, secrets, chosen, tolerance_s)
    message = _message(headers, request)
    word = judge.of(message.headers, message.body, time.time() if at is None else at)
    click.echo(json.dumps(word.to_json()) if as_json else told(word))
    context.exit(ExitCode.OK if word.verified else ExitCode.FAILED)


def told(word: Judgement) -> str:
    """A verdict for a person."""
    if word.bisection is None:
        return f"verified: {word.sentence}"
    return f"not verified: {word.reason} ({word.detail})\nwhy: {word.bisection.cause}"


def _message(headers: tuple[str, ...], request: Path | None) -> SavedMessage:
    if request is not None and headers:
        raise click.UsageError("--request brings its own headers; leave --header out")
    if request is None and not headers:
        raise click.UsageError(
            "give the headers of the delivery with --header, or the whole of it with --request"
        )
    try:
        if request is not None:
            return read_request(request)
        return SavedMessage(headers=header_fields(headers), body=_standard_input())
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _standard_input() -> bytes:
    if sys.stdin is None or sys.stdin.isatty():
        raise ValueError("the body is read from standard input: add `< body.json`")
    body = sys.stdin.buffer.read(LARGEST + 1)
    if len(body) > LARGEST:
        raise ValueError(f"the body is larger than {LARGEST} bytes")
    return body
