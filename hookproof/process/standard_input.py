"""Noticing the end of standard input, by which a child process learns that its parent is gone.

A parent holds the other end of a pipe open as long as it lives, however it ends. What arrives is
read and thrown away.
"""

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable
from typing import Final

from hookproof.process.exit_codes import ExitCode

# The option by which a command is asked to stop then.
OPTION: Final = "--until-stdin-closes"

STDIN: Final = 0
_CHUNK_BYTES: Final = 2**16


def call_at_end_of_input(loop: asyncio.AbstractEventLoop, callback: Callable[[], object]) -> None:
    """Call `callback` in the event loop when standard input ends; a closed one has ended."""
    # A thread, since an event loop can watch a pipe, but neither a file nor a closed descriptor.
    threading.Thread(target=_wait, args=(loop, callback), daemon=True).start()


def end_with_parent(read: Callable[[int, int], bytes] = os.read) -> None:
    """End this process at once when its parent has ended, which it never outlives by itself."""
    read_to_end(read)
    os._exit(ExitCode.INTERNAL_ERROR)


def read_to_end(read: Callable[[int, int], bytes] = os.read) -> None:
    """Return when standard input has ended; gevent brings a `read` that does not block."""
    with contextlib.suppress(OSError):
        while read(STDIN, _CHUNK_BYTES):
            pass


def _wait(loop: asyncio.AbstractEventLoop, callback: Callable[[], object]) -> None:
    read_to_end()
    with contextlib.suppress(RuntimeError):  # the loop may have closed meanwhile
        loop.call_soon_threadsafe(callback)
