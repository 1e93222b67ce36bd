"""Starts hookproof as a process that is forked from one that has imported it already.

The imports of a command take half a second of processor time, which short runs would pay each time.
The fork server of multiprocessing starts with the first process, and ends with the process that
asked for it.
"""

import asyncio
import multiprocessing
import os
import runpy
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext, ForkServerProcess
from multiprocessing.reduction import DupFd
from typing import Any, Final, Self

# What the fork server imports: the commands that a run starts.
PRELOADED: Final = (
    "hookproof.cli",
    "hookproof.mockserver.cli",
    "hookproof.receiver.cli.receive",
)
STREAMS: Final = (0, 1, 2)
# In bytes: the path of a socket has 107 of them, and in the folder it has up to 60.
LONGEST_FOLDER: Final = 47


def can_fork() -> bool:
    """Whether a fork server can have its socket in the folder of temporary files."""
    return len(os.fsencode(tempfile.gettempdir())) <= LONGEST_FOLDER


class ForkedProcess:
    """A process, with what of `asyncio.subprocess.Process` a parent needs.

    `returncode` is None until `wait` has returned.
    """

    def __init__(
        self,
        process: ForkServerProcess,
        stdin: asyncio.WriteTransport,
        stdout: asyncio.StreamReader,
        stderr: asyncio.StreamReader,
    ) -> None:
        assert process.pid is not None
        self.pid = process.pid
        self.returncode: int | None = None
        self.stdin = stdin
        self.stdout = stdout
        self.stderr = stderr
        self._process = process

    @classmethod
    async def start(
        cls, arguments: Sequence[str], variables: Mapping[str, str], *, limit: int
    ) -> Self:
        """Fork `hookproof ARGUMENTS` with these variables and a session of its own.

        `limit` is that of the stream readers, in bytes. The package is looked for where PYTHONPATH
        of the first process says.
        """
        context = _context(variables["PYTHONPATH"])
        (given_in, stdin), *outputs = (os.pipe() for _ in STREAMS)
        given = [given_in, *(written for _, written in outputs)]
        process = context.Process(
            target=_run, args=(arguments, variables, _Descriptors(given)), daemon=True
        )
        try:
            await asyncio.to_thread(process.start)  # the first waits until all is imported
        except BaseException:
            _close([stdin, *(read for read, _ in outputs)])
            raise
        finally:
            _close(given)
        stdout, stderr = [await _reader(read, limit) for read, _ in outputs]
        return cls(process, await _writer(stdin), stdout, stderr)

    async def wait(self) -> int:
        """Wait for its end, and return its exit code."""
        if self.returncode is None:
            loop, sentinel = asyncio.get_running_loop(), self._process.sentinel
            ended = asyncio.Event()
            loop.add_reader(sentinel, ended.set)
            try:
                await ended.wait()
            finally:
                loop.remove_reader(sentinel)
            self._process.join()
            self.returncode = self._process.exitcode or 0
            self._process.close()
        return self.returncode


class _Descriptors:
    """Open descriptors; a process that is started with them has a list of `DupFd` in their place.

    multiprocessing sends a descriptor while it writes down what a process gets.
    """

    def __init__(self, descriptors: Sequence[int]) -> None:
        self._descriptors = descriptors

    def __reduce__(self) -> tuple[type[list[Any]], tuple[list[Any]]]:
        return list, ([DupFd(each) for each in self._descriptors],)


@cache
def _context(path: str) -> ForkServerContext:
    """Where processes are forked; the fork server runs then."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(PRELOADED))
    # It imports from nowhere else, whatever the current folder has.
    with _variables_set(PYTHONPATH=path, PYTHONSAFEPATH="1"):
        forkserver.ensure_running()
    return context


@contextmanager
def _variables_set(**values: str) -> Iterator[None]:
    """Set variables of the environment for processes that are started in the block."""
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        for name in values:
            if name in before:
                os.environ[name] = before[name]
            else:
                del os.environ[name]


def _run(arguments: Sequence[str], variables: Mapping[str, str], given: Sequence[Any]) -> None:
    """Make this process, which was forked, `hookproof ARGUMENTS`."""
    os.setsid()
    for stream, sent in zip(STREAMS, given, strict=True):
        descriptor = sent.detach()
        os.dup2(descriptor, stream)
        os.close(descriptor)
    sys.stdin = open(0)  # noqa: SIM115  # multiprocessing has closed it
    os.environ.clear()
    os.environ.update(variables)
    sys.argv = ["hookproof", *arguments]
    runpy.run_module("hookproof", run_name="__main__", alter_sys=True)


async def _reader(descriptor: int, limit: int) -> asyncio.StreamReader:
    reader = asyncio.StreamReader(limit)
    pipe = os.fdopen(descriptor, "rb", buffering=0)
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), pipe
    )
    return reader


async def _writer(descriptor: int) -> asyncio.WriteTransport:
    pipe = os.fdopen(descriptor, "wb", buffering=0)
    transport, _ = await asyncio.get_running_loop().connect_write_pipe(asyncio.Protocol, pipe)
    return transport


def _close(descriptors: Sequence[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
