"""The standard streams: output that a command can always write, and input whose end it notices.

What is written is lost where nobody reads any more, or the disk is full: the command goes on and
ends with its own exit code. What the encoding of the stream lacks is written as an escape.

Standard input tells a child process that its parent is gone. The parent holds the other end of a
pipe open as long as it lives, however it ends; what arrives there is read and thrown away.
"""

import contextlib
import errno
import io
import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final, TextIO

from hookproof.process.exit_codes import ExitCode

if TYPE_CHECKING:
    import asyncio

    from _typeshed import ReadableBuffer

OUTPUT: Final = 1
ERRORS: Final = 2
# Nobody reads the pipe or the terminal any more, which is no news to its reader (`| head -1`).
NO_READER: Final = frozenset({errno.EPIPE, errno.EIO})


class LastingFile(io.FileIO):
    """The raw file of a standard stream; `failure` is why what was written is lost."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self.failure: OSError | None = None

    def write(self, content: "ReadableBuffer") -> int:
        """Write, or lose it; what children write to the same file is lost too then."""
        try:
            return super().write(content)
        except OSError as failure:
            self.failure = failure
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            return memoryview(content).nbytes


def use_lasting_streams() -> None:
    """Replace the streams of this process, unless someone else has replaced them already."""
    if sys.stdout is sys.__stdout__:
        sys.stdout = _lasting(OUTPUT, sys.stdout)
    if sys.stderr is sys.__stderr__:
        sys.stderr = _lasting(ERRORS, sys.stderr)


@contextlib.contextmanager
def output_to_standard_error() -> Iterator[None]:
    """Have standard error get what this process and its children write to standard output."""
    try:
        kept = os.dup(OUTPUT)
    except OSError:  # it is closed: nothing gets there
        yield
        return
    sys.stdout.flush()
    os.dup2(ERRORS, OUTPUT)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, OUTPUT)
        os.close(kept)


def output_problem() -> str | None:
    """Why a part of standard output is lost that somebody may miss, or None."""
    if sys.stdout is None:
        return None
    sys.stdout.flush()
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    failure = raw.failure if isinstance(raw, LastingFile) else None
    if failure is None or failure.errno in NO_READER:
        return None
    return f"standard output cannot be written: {failure.strerror}"


def _lasting(descriptor: int, before: TextIO | None) -> TextIO:
    """A stream like the one before; that of a closed descriptor is None."""
    encoding = "utf-8" if before is None else before.encoding
    return io.TextIOWrapper(
        io.BufferedWriter(LastingFile(descriptor)),
        encoding=encoding,
        errors="backslashreplace",
        line_buffering=descriptor == ERRORS or (before is not None and before.isatty()),
    )


# The option by which a command is asked to stop then.
UNTIL_STDIN_CLOSES: Final = "--until-stdin-closes"

STDIN: Final = 0
_CHUNK_BYTES: Final = 2**16


def call_at_end_of_input(loop: "asyncio.AbstractEventLoop", callback: Callable[[], object]) -> None:
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


def _wait(loop: "asyncio.AbstractEventLoop", callback: Callable[[], object]) -> None:
    read_to_end()
    with contextlib.suppress(RuntimeError):  # the loop may have closed meanwhile
        loop.call_soon_threadsafe(callback)
