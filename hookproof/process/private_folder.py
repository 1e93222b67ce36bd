"""Temporary folders for keys and plans: readable by their owner, and gone after the process.

A process that is killed cannot remove its folder. So each folder holds a file that is locked as
long as a process uses it, and who makes a folder removes those whose lock is free.
"""

import errno
import fcntl
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

from hookproof.process.exit_codes import CommandError

PREFIX: Final = "hookproof-private-"
LOCK: Final = "lock"


# How long other processes may take to end that use a folder, in seconds.
OTHERS_END_WITHIN_S: Final = 30.0


@contextmanager
def private_folder() -> Iterator[Path]:
    """A temporary folder (mode 0700) that is removed at the end of the context.

    Those that killed processes of the same user left beside it are removed before. Raises
    CommandError if no temporary file can be written, as where all disks are full.
    """
    with ExitStack() as used:
        try:
            parent = Path(tempfile.gettempdir())
            used.enter_context(private_folders_kept(parent))
        except FileNotFoundError as error:
            raise CommandError(f"no temporary file can be written: {error.strerror}") from None
        remove_abandoned(parent)
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        descriptor = _locked(folder)
        used.callback(os.close, descriptor)
        try:
            yield folder
        finally:
            # Who opens the lock from now on finds it removed.
            _lock_alone(descriptor, OTHERS_END_WITHIN_S)
            shutil.rmtree(folder, ignore_errors=True)


def remove_abandoned(parent: Path) -> None:
    """Remove the folders of this user's processes that have ended."""
    for folder in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):
            if folder.lstat().st_uid == os.getuid():
                _remove_unused(folder)


@contextmanager
def private_folders_kept(path: Path) -> Iterator[None]:
    """Keep the private folders that a path leads through, which may be another process' ones.

    That one may end before, and who writes there would make its folder anew. Raises
    FileNotFoundError if one is gone.
    """
    with ExitStack() as kept:
        for folder in (path, *path.parents):
            if folder.name.startswith(PREFIX):
                descriptor = os.open(folder / LOCK, os.O_RDONLY | os.O_NOFOLLOW)
                kept.callback(os.close, descriptor)
                fcntl.flock(descriptor, fcntl.LOCK_SH)
                if not os.fstat(descriptor).st_nlink:  # it was removed meanwhile
                    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(folder))
        yield


def _lock_alone(descriptor: int, within_s: float) -> None:
    """Wait until no other process uses a folder, for so many seconds at most."""
    waiting = threading.Thread(target=fcntl.flock, args=(descriptor, fcntl.LOCK_EX), daemon=True)
    waiting.start()
    waiting.join(within_s)


def _locked(folder: Path) -> int:
    """Lock a file in the folder until the descriptor returned is closed, with others that use it.

    The file gets its name once it is locked: a folder without it is just being made.
    """
    unnamed = folder / f"{LOCK}.new"
    descriptor = os.open(unnamed, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    unnamed.rename(folder / LOCK)
    return descriptor


def _remove_unused(folder: Path) -> None:
    """Remove a folder if all processes that use it have ended; raises OSError without a lock."""
    descriptor = os.open(folder / LOCK, os.O_WRONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(descriptor)
