"""A folder that one command at a time writes into, so that no reports are of two runs.

The lock is one of the operating system, and ends with its process however that ends: what a killed
command leaves keeps nobody from the folder.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import click

from hookproof.process.exit_codes import CommandError

LOCK: Final = ".lock"
# In bytes, of the file: what its command is called.
LONGEST_NAME: Final = 500


@contextmanager
def locked_folder(out: Path, of: str = "") -> Iterator[Path]:
    """Create the folder of `--out` and keep other commands from it; `of` says more of this one.

    Raises CommandError if a command is using it, which is named, or if it cannot be written to.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        descriptor = _locked(out)
    except OSError as error:
        raise CommandError(f"--out {out} cannot be written to: {error.strerror or error}") from None
    try:
        with suppress(OSError):  # without space it locks without a name
            os.truncate(descriptor, 0)
            os.write(descriptor, _name(of).encode())
        yield out
    finally:
        (out / LOCK).unlink(missing_ok=True)
        os.close(descriptor)


def _name(of: str) -> str:
    context = click.get_current_context(silent=True)
    command = context.command_path if context else "hookproof"
    since = datetime.now(UTC).isoformat(" ", "seconds")
    return f"{command}{of and f', {of}'}, process {os.getpid()}, since {since}"


def _locked(out: Path) -> int:
    """The descriptor of the locked file, which who had it before may have removed meanwhile."""
    while True:
        descriptor = os.open(out / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            name = os.read(descriptor, LONGEST_NAME).decode(errors="replace") or "another command"
            os.close(descriptor)
            raise CommandError(
                f"--out {out} is in use by {name}: give another folder, or wait until it has ended"
            ) from None
        except OSError:
            return descriptor  # a file system without locks
        if _is_at(descriptor, out / LOCK):
            return descriptor
        os.close(descriptor)


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False
