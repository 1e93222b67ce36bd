"""Temporary folders for keys and plans: readable by their owner, and gone after the process.

A process that is killed cannot remove its folder. So each folder holds a file that is locked as
long as its process lives, and who makes a folder removes those whose lock is free.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from hookproof.process.exit_codes import CommandError

PREFIX: Final = "hookproof-private-"
LOCK: Final = "lock"


@contextmanager
def private_folder() -> Iterator[Path]:
    """A temporary folder (mode 0700) that is removed at the end of the context.

    Those that killed processes of the same user left beside it are removed before. Raises
    CommandError if no temporary file can be written, as where all disks are full.
    """
    try:
        parent = Path(tempfile.gettempdir())
    except FileNotFoundError as error:
        raise CommandError(f"no temporary file can be written: {error.strerror}") from None
    remove_abandoned(parent)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    descriptor = _locked(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)


def remove_abandoned(parent: Path) -> None:
    """Remove the folders of this user's processes that have ended."""
    for folder in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):
            if folder.lstat().st_uid == os.getuid() and _is_abandoned(folder):
                shutil.rmtree(folder, ignore_errors=True)


def _locked(folder: Path) -> int:
    """Lock a file in the folder until the descriptor returned is closed.

    The file gets its name once it is locked: a folder without it is just being made.
    """
    unnamed = folder / f"{LOCK}.new"
    descriptor = os.open(unnamed, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    unnamed.rename(folder / LOCK)
    return descriptor


def _is_abandoned(folder: Path) -> bool:
    """Whether the process that made the folder has ended; raises OSError without a lock."""
    descriptor = os.open(folder / LOCK, os.O_WRONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True
