"""Files that a command is given, or finds where it was told to look: plain ones of a bounded size.

Reading a pipe may wait without an end, and a device has none. Everything that a user or a stranger
named is opened here; a test finds other ways.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Final

# In bytes: what people write, and certificates.
LARGEST_FILE: Final = 4 * 1024 * 1024
# In bytes: what tools write, runs aside.
LARGEST_REPORT: Final = 64 * 1024 * 1024


class NotPlain(OSError):
    """A file is not read for what it is; `strerror` says that."""

    def __init__(self, why: str) -> None:
        super().__init__(None, why)

    def __str__(self) -> str:
        return self.strerror or ""


@contextmanager
def given_file(path: str | os.PathLike[str], most: int = LARGEST_FILE) -> Iterator[BinaryIO]:
    """A regular file of at most `most` bytes, open for reading; raises OSError."""
    try:
        # It waits neither for somebody who writes into a pipe nor for a terminal.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except ValueError as error:  # a path with a NUL, or with half of a pair of surrogates
        raise NotPlain(str(error)) from None
    try:
        _confirm_plain(os.fstat(descriptor), most)
    except NotPlain:
        os.close(descriptor)
        raise
    with os.fdopen(descriptor, "rb") as stream:
        yield stream


def read_given(path: str | os.PathLike[str], most: int = LARGEST_FILE) -> bytes:
    """The content of a regular file of at most `most` bytes; raises OSError."""
    with given_file(path, most) as stream:
        content = stream.read(most + 1)
    if len(content) > most:  # it has grown, or does not say how long it is, as those of /proc
        raise _too_large(most)
    return content


def confirm_plain(path: str | os.PathLike[str]) -> None:
    """Raise OSError for what another library would wait for, or read without an end."""
    with given_file(path):
        pass


def text_lines(stream: BinaryIO, most: int, longest: int) -> Iterator[str]:
    """The lines of UTF-8 text, each with its end; raises ValueError if one is longer than
    `longest` bytes or all of them than `most`.
    """
    left = most
    while line := stream.readline(longest + 1):
        left -= len(line)
        if len(line) > longest or left < 0:
            which, limit = ("the file", most) if left < 0 else ("a line", longest)
            raise ValueError(f"{which} has more than {limit:,} bytes, the most that is read")
        yield line.decode("utf-8")


def _confirm_plain(found: os.stat_result, most: int) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise NotPlain("it is a directory")
    if not stat.S_ISREG(found.st_mode):
        raise NotPlain("it is not a regular file")
    if found.st_size > most:
        raise _too_large(most)


def _too_large(most: int) -> NotPlain:
    return NotPlain(f"it is larger than {most} bytes")
