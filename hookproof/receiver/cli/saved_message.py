"""Reads one delivery: headers from options or a file, or a whole saved HTTP request."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hookproof.spec.given_file import read_given

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
