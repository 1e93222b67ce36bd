"""curl commands that repeat the exchanges of a finding."""

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Final

from hookproof.conformance.model.evidence import Exchange
from hookproof.receiver.http.curl_arguments import (
    URL_AS_IT_IS,
    body_argument,
    header_argument,
    omitted_header_argument,
)
from hookproof.target.masking.quotation_mask import HEADER_VARIABLE, VARIABLE

MOST_EXCHANGES: Final = 4
# In bytes; a longer body would hide the rest of the command.
LONGEST_BODY: Final = 2000
LENGTH: Final = "Content-Length"
_NAME: Final = re.compile(r"\bsecret#(\d+)")

# The credential secret#7 is read from HOOKPROOF_SECRET_7.
CREDENTIAL: Final = "HOOKPROOF_SECRET"
# What the shell expands: keys, whole or without their last character, and what a script names.
VARIABLES: Final = re.compile(
    rf"(\$\{{{VARIABLE}(?:_\d+)?%\?\}}|\${VARIABLE}(?:_\d+)?|\${CREDENTIAL}_\d+"
    rf"|\${HEADER_VARIABLE}[A-Z0-9_]+|\$HOOKPROOF_RECEIVER"
    r"|\$HOOKPROOF_(?:UID_\d+(?:_[A-Z0-9_]+)?|(?:ENDPOINT|PORTAL_LINK)_\d+))"
)


def curl(exchanges: Sequence[Exchange]) -> str:
    """Commands that repeat the last few of these exchanges, one line each.

    API keys, credentials and the headers of target.yaml come from the environment. A body that was
    announced and is not kept, because it is far too long, is made of blanks.
    """
    return "\n".join(map(_command, exchanges[-MOST_EXCHANGES:]))


def _command(exchange: Exchange) -> str:
    blanks = _blanks(exchange)
    return " ".join(
        [
            *([f"head -c {blanks} /dev/zero | tr '\\0' ' ' |"] if blanks else []),
            "curl",
            "-i",
            *URL_AS_IT_IS,
            *_method(exchange),
            quoted(exchange.url),
            *_parts(exchange),
        ]
    )


def _method(exchange: Exchange) -> list[str]:
    return (
        []
        if exchange.method == "GET" and exchange.request_body is None
        else ["-X", exchange.method]
    )


def _blanks(exchange: Exchange) -> int:
    """How many bytes of a body that is not kept were announced."""
    announced = dict(exchange.request_headers).get(LENGTH, "0")
    return int(announced) if exchange.request_body is None and announced.isdecimal() else 0


def _parts(exchange: Exchange) -> Iterator[str]:
    blanks = _blanks(exchange)
    for name, value in exchange.request_headers:
        if not (blanks and name == LENGTH):  # curl counts them itself
            yield header_argument(name, value, quoted)
    body = exchange.request_body
    if blanks:
        yield omitted_header_argument("Expect", quoted)  # or curl would ask before it sends them
        yield "--data-binary @-"
    if body is not None:
        text = _printable(body)
        if text is None:
            yield (
                f"--data-binary @body.bin  # {len(body)} bytes: request_body_b64 of this exchange"
                " in run.jsonl"
            )
        else:
            yield body_argument(quoted(text))


def quoted(text: str) -> str:
    """Quote a text for a shell, so that the shell expands only our own variables."""
    parts = VARIABLES.split(_NAME.sub(rf"${CREDENTIAL}_\1", text))
    if len(parts) == 1:
        return shlex.quote(text)
    return (
        '"'
        + "".join(
            part if i % 2 else re.sub(r'([\\"$`])', r"\\\1", part) for i, part in enumerate(parts)
        )
        + '"'
    )


def _printable(body: bytes) -> str | None:
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return None
    return (
        text
        if len(body) <= LONGEST_BODY and all(c.isprintable() or c in "\n\t" for c in text)
        else None
    )
