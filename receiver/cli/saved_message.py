"""One delivery from outside: headers as options or a file, a body from a stream, or a whole saved
HTTP request.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

FIELD: Final = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*")
# In bytes.
LARGEST: Final = 32 * 2**20
STATUS_OR_REQUEST_LINE: Final = re.compile(r"[A-Za-z]+ \S+( HTTP/[0-9.]+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedMessage:
    """Headers in order, and the raw body."""

    headers: tuple[tuple[str, str], ...]
    body: bytes


def header_fields(options: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Headers written `Name: value`; `@FILE` stands for a file with one on each line. Raises
    ValueError.
    """
    fields: list[tuple[str, str]] = []
    for option in options:
        lines = _lines(Path(option[1:])) if option.startswith("@") else [option]
        fields += [_field(line) for line in lines]
    return tuple(fields)


def read_request(path: Path) -> SavedMessage:
    """A whole HTTP/1 request as it was on the wire; line ends may be bare line feeds. Raises
    ValueError.
    """
    content = _content(path)
    head, gap, body = _split(content)
    first, *lines = head.decode("latin-1").splitlines() or [""]
    if not gap or not STATUS_OR_REQUEST_LINE.fullmatch(first):
        raise ValueError(
            f"{path} holds no HTTP request: a request line, headers, an empty line, and the body"
        )
    return SavedMessage(headers=tuple(_field(line) for line in lines), body=body)


def _split(content: bytes) -> tuple[bytes, bytes, bytes]:
    found = re.search(rb"\r?\n\r?\n", content)
    if found is None:
        return content, b"", b""
    return content[: found.start()], found[0], content[found.end() :]


def _field(line: str) -> tuple[str, str]:
    found = FIELD.fullmatch(line)
    if found is None:
        raise ValueError(f"{line[:60]!r} is no header; write 'Name: value'")
    return found[1], found[2]


def _lines(path: Path) -> list[str]:
    lines = _content(path).decode("latin-1").splitlines()
    return [line for line in lines if line.strip() and not STATUS_OR_REQUEST_LINE.fullmatch(line)]


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            content = stream.read(LARGEST + 1)
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror or error}") from None
    if len(content) > LARGEST:
        raise ValueError(f"{path} is larger than {LARGEST} bytes")
    return content
