"""Runs the generators of a run in one process, and reads the requests and sequences they write.

    async with RequestGenerators() as generators:
        async for request in generators.requests(document, seed=7, examples=30):
            ...

Where the variable HOOKPROOF_GENERATED names a folder, what a generator wrote is kept there, and
read again for the same arguments: runs of one campaign, all with one seed, generate alike. The
folder is for one version of the sources.
"""

import asyncio
import base64
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from hookproof.conformance.generation.operation_sequence import SequenceStep
from hookproof.process.messages import print_line
from hookproof.process.private_folder import private_folder
from hookproof.process.subprocesses import subprocess_killed_at_end
from hookproof.receiver.client.child_process import SOURCES

FAILED: Final = b"!"
LESS: Final = b"?"
LINE_LIMIT = 16 * 1024 * 1024
# The variable with the folder in which the output of generators is kept; empty or missing for none.
KEPT_IN: Final = "HOOKPROOF_GENERATED"
# By how much the generators give way to the processes that talk with the target, once the first
# requests are there, for which an experiment waits.
GENERATORS_NICENESS: Final = 10


class GeneratorFailed(Exception):
    """A generator failed, or its process ended: an error of ours, or a document that it cannot
    read.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedRequest:
    """One request as schemathesis generated it, with percent-encoded path parameters and query.

    `valid` tells whether it is meant to fit the contract, `aim` what it tries, in the words of
    schemathesis.
    """

    operation_id: str
    path_parameters: Mapping[str, str]
    query: str
    headers: tuple[tuple[str, str], ...]
    content: bytes | None
    phase: str
    valid: bool
    aim: str

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "GeneratedRequest":
        return cls(
            operation_id=value["operation_id"],
            path_parameters={name: str(text) for name, text in value["path_parameters"].items()},
            query=value["query"],
            headers=tuple((name, text) for name, text in value["headers"]),
            content=None if value["body_b64"] is None else base64.b64decode(value["body_b64"]),
            phase=value["phase"],
            valid=value["valid"],
            aim=value["aim"],
        )


class RequestGenerators:
    """The generators of one run: a context that begins their process when it is first needed, or
    `at_once`, and ends it.

    The same arguments generate the same requests and sequences. Each method raises GeneratorFailed.
    """

    def __init__(self, *, at_once: bool = False) -> None:
        self._at_once = at_once and not os.environ.get(KEPT_IN)
        self._ended = AsyncExitStack()
        self._process: asyncio.Task[_Process] | None = None

    async def __aenter__(self) -> Self:
        await self._ended.__aenter__()
        if self._at_once:
            self._begin()
        return self

    async def __aexit__(self, *error: object) -> None:
        if self._process is not None:
            self._process.cancel()
            await asyncio.gather(self._process, return_exceptions=True)
        await self._ended.aclose()

    async def requests(
        self, document: Mapping[str, Any], *, seed: int, examples: int, first: str = ""
    ) -> AsyncGenerator[GeneratedRequest, None]:
        """Generate requests for the document's operations, the one with the id `first` before all
        others.
        """
        arguments = {"document": document, "seed": seed, "examples": examples, "first": first}
        async with aclosing(self._generate("requests", arguments)) as lines:
            async for line in lines:
                yield GeneratedRequest.from_json(line)

    async def linked(
        self, document: Mapping[str, Any], *, seed: int, sequences: int, steps: int
    ) -> AsyncGenerator[tuple[GeneratedRequest, ...], None]:
        """Generate sequences of at most `steps` requests along the document's links.

        A path parameter may be `uid_from(n)`: the uid in the answer to request n of the sequence.
        """
        arguments = {"document": document, "seed": seed, "sequences": sequences, "steps": steps}
        async with aclosing(self._generate("linked", arguments)) as lines:
            async for line in lines:
                yield tuple(map(GeneratedRequest.from_json, line))

    async def sequences(
        self, *, seed: int, sequences: int, steps: int, portal_links: int
    ) -> AsyncGenerator[tuple[SequenceStep, ...], None]:
        """Generate sequences of at most `steps` steps."""
        arguments = {
            "seed": seed,
            "sequences": sequences,
            "steps": steps,
            "portal_links": portal_links,
        }
        async with aclosing(self._generate("sequences", arguments)) as lines:
            async for line in lines:
                yield tuple(map(SequenceStep.from_json, line))

    async def _generate(self, kind: str, arguments: Mapping[str, Any]) -> AsyncGenerator[Any, None]:
        """What a generator writes for these arguments, line by line, as JSON."""
        given = json.dumps(arguments)
        kept = _kept_output(kind, given)
        if kept is not None and kept.exists():
            for line in kept.read_bytes().splitlines():
                yield json.loads(line)
            return
        process = await asyncio.shield(self._begin())
        written = []
        async with aclosing(process.output(kind, given)) as lines:
            async for line in lines:
                written.append(line)
                yield json.loads(line)
        if kept is not None:
            with suppress(OSError):  # the run has what it needs; the next one generates again
                _keep(written, kept)

    def _begin(self) -> "asyncio.Task[_Process]":
        if self._process is None:
            self._process = asyncio.create_task(self._ended.enter_async_context(_process()))
        return self._process


@asynccontextmanager
async def _process() -> AsyncIterator["_Process"]:
    with private_folder() as storage:
        async with subprocess_killed_at_end(
            *(sys.executable, "-P", "-m", "hookproof.conformance.generation.worker"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=LINE_LIMIT,
            env=_environment(storage),
            start_new_session=True,  # the terminal's ctrl-C is for hookproof, which ends it
        ) as process:
            running = _Process(process)
            reading = asyncio.create_task(running.read())
            try:
                yield running
            finally:
                reading.cancel()
                await asyncio.wait([reading])


class _Process:
    """The process of the generators, and who waits for its output."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._outputs: dict[int, asyncio.Queue[bytes]] = {}
        self._failure = ""
        self._has_given_way = False

    async def output(self, kind: str, arguments: str) -> AsyncGenerator[bytes, None]:
        """The lines that a generator writes; raises GeneratorFailed."""
        assert self._process.stdin is not None
        number = len(self._outputs) + 1
        lines = self._outputs[number] = asyncio.Queue()
        job = f'{{"job": {number}, "generate": "{kind}", "arguments": {arguments}}}\n'
        # It stays open, so that the process notices its end even if this one is killed.
        self._process.stdin.write(job.encode())
        while not self._failure:
            line = await lines.get()
            if line.startswith(FAILED):
                raise GeneratorFailed(f"a generator failed: {line[1:].decode().strip()}")
            if line.startswith(LESS):
                print_line(f"hookproof: {line[1:].decode().strip()}", err=True)
                continue
            if not line.strip():
                break
            if kind == "requests":
                self._let_others_go_first()
            yield line
        if self._failure:
            raise GeneratorFailed(self._failure)

    async def read(self) -> None:
        """Hand out the output of the process, until it ends."""
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        stderr = asyncio.ensure_future(self._process.stderr.read())
        try:
            while written := await self._process.stdout.readline():
                number, _, line = written.partition(b" ")
                self._outputs[int(number)].put_nowait(line)
            code = await self._process.wait()
            errors = (await stderr).decode(errors="replace").strip().splitlines()
            self._failure = (
                f"the generators' process ended with {code}:"
                f" {errors[-1] if errors else 'no message'}"
            )
            for lines in self._outputs.values():
                lines.put_nowait(b"")
        finally:
            stderr.cancel()
            await asyncio.wait([stderr])

    def _let_others_go_first(self) -> None:
        """Lower the priority of the process: experiments that measure time run meanwhile."""
        if self._has_given_way:
            return
        self._has_given_way = True
        pid = self._process.pid
        with suppress(OSError):  # it may have ended
            priority = os.getpriority(os.PRIO_PROCESS, 0) + GENERATORS_NICENESS
            os.setpriority(os.PRIO_PROCESS, pid, priority)
        # Linux may weigh sessions before processes, and this one has a session of its own.
        with suppress(OSError):
            Path(f"/proc/{pid}/autogroup").write_text(str(GENERATORS_NICENESS))


def _kept_output(kind: str, arguments: str) -> Path | None:
    """The file for what a generator writes, whether it is there or not; None if it is not kept."""
    folder = os.environ.get(KEPT_IN)
    name = hashlib.sha256(f"{kind}\n{arguments}".encode()).hexdigest()
    return Path(folder, f"{name}.jsonl") if folder else None


def _keep(lines: list[bytes], kept: Path) -> None:
    """Write a file at once, since other processes may read it meanwhile."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=kept.parent, delete=False) as file:
        file.writelines(lines)
    Path(file.name).replace(kept)


def _environment(storage: Path) -> dict[str, str]:
    # The child must find this package whatever the current directory is, order sets
    # alike every time, and keep the caches of hypothesis out of the current directory.
    paths = [str(SOURCES), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONHASHSEED": "0",
        "HYPOTHESIS_STORAGE_DIRECTORY": str(storage),
    }
