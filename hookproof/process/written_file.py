"""Files that a command writes: whole or not at all, and in one line if not at all."""

import errno
import os
from collections.abc import Mapping
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import Final

from hookproof.process.exit_codes import CommandError
from hookproof.process.terminal_text import message_text

# Beside the file, until it is whole; a command that was killed may leave it to the next one.
UNFINISHED: Final = ".new"
# No space on the disk, none left of what this user may use, and a limit of the process.
LACKING: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class FileNotWritten(CommandError):
    """A file cannot be written; the message names it, says why, and may end with a hint."""

    def __init__(self, path: Path, error: OSError, hint: str = "") -> None:
        super().__init__(f"{path} cannot be written: {error.strerror or error}{hint}")


def unfinished_file(path: Path) -> Path:
    """Where the content of a file is written that is not whole yet."""
    return path.with_name(f"{path.name}{UNFINISHED}")


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file; its former content stays unless all of it is written. Raises FileNotWritten."""
    unfinished = unfinished_file(path)
    written = content.encode() if isinstance(content, str) else content
    try:
        unfinished.write_bytes(written)
        unfinished.replace(path)
    except OSError as error:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise FileNotWritten(path, error) from None


def write_files(contents: Mapping[Path, str]) -> None:
    """Write each of these files; raises the first FileNotWritten when all have been tried."""
    failures = []
    for path, content in contents.items():
        try:
            write_file(path, content)
        except FileNotWritten as failure:
            failures.append(failure)
    if failures:
        raise failures[0]


def write_whole(stream: FileIO, content: bytes) -> None:
    """Write all of it at once, unbuffered; raises OSError, with a part written or nothing."""
    rest = memoryview(content)
    while rest:
        rest = rest[stream.write(rest) :]


def lack_of_space(error: OSError) -> str | None:
    """That there is no space for a file, in a line; None for any other error."""
    if error.errno not in LACKING:
        return None
    where = message_text(os.fsdecode(error.filename)) if error.filename else "a file"
    return f"{where} cannot be written: {error.strerror}"
