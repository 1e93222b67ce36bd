"""The examples at the end of `--help`, written so that pages of documentation can read them too."""

from collections.abc import Iterator
from typing import Final

TITLE: Final = "Examples:"
# The character by which click leaves the lines of a paragraph as they are.
_AS_IT_IS: Final = "\b"


def examples(*pairs: tuple[str, str]) -> str:
    """The epilog of a command: command lines, each with what it does."""
    lines = [line for command, meaning in pairs for line in (f"  {command}", f"      {meaning}")]
    return "\n".join([_AS_IT_IS, TITLE, *lines])


def examples_in(epilog: str | None) -> Iterator[tuple[str, str]]:
    """The command lines and meanings of an epilog that `examples` wrote."""
    lines = (epilog or "").splitlines()
    if TITLE in lines:
        written = [line.strip() for line in lines[lines.index(TITLE) + 1 :]]
        yield from zip(written[::2], written[1::2], strict=True)
