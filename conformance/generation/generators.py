"""Runs the generators in processes of their own and reads the requests and sequences they write.

    async for request in generated_requests(document, seed=7, examples=30):
        ...

A process ends with the iteration, however that ends. Where the variable HOOKPROOF_GENERATED names a
folder, what a generator wrote is kept there, and read again for the same arguments: runs of one
campaign, all with one seed, generate alike. The folder is for one version of the sources.
"""

import asyncio
import base64
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hookproof.conformance.generation.operation_sequence import SequenceStep
from hookproof.process.private_folder import private_folder
from hookproof.process.subprocesses import subprocess_killed_at_end
from hookproof.receiver.client.child_process import SOURCES

LINE_LIMIT = 16 * 1024 * 1024
# The variable with the folder in which the output of generators is kept; empty or missing for none.
KEPT_IN: Final = "HOOKPROOF_GENERATED"
# By how much generators of requests give way to the processes that talk with the target.
GENERATORS_NICENESS: Final = 10


class GeneratorFailed(Exception):
    """The generator's process ended with an error: ours, or a document that it cannot read."""


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


async def generated_requests(
    document: Mapping[str, Any], *, seed: int, examples: int, first: str = ""
) -> AsyncGenerator[GeneratedRequest, None]:
    """Generate requests for the document's operations, the one with the id `first` before all
    others; raises GeneratorFailed.

    The same arguments generate the same requests.
    """
    arguments = {"document": document, "seed": seed, "examples": examples, "first": first}
    async with aclosing(
        _run_generator("hookproof.conformance.generation.schemathesis_worker", arguments)
    ) as lines:
        async for line in lines:
            yield GeneratedRequest.from_json(line)


async def linked_requests(
    document: Mapping[str, Any], *, seed: int, sequences: int, steps: int
) -> AsyncGenerator[tuple[GeneratedRequest, ...], None]:
    """Generate sequences of at most `steps` requests along the document's links.

    The same arguments generate the same sequences. A path parameter may be `uid_from(n)`: the uid
    in the answer to request n of the sequence. Raises GeneratorFailed.
    """
    arguments = {"document": document, "seed": seed, "sequences": sequences, "steps": steps}
    async with aclosing(
        _run_generator("hookproof.conformance.generation.schemathesis_worker", arguments)
    ) as lines:
        async for line in lines:
            yield tuple(map(GeneratedRequest.from_json, line))


async def generated_sequences(
    *, seed: int, sequences: int, steps: int, portal_links: int
) -> AsyncGenerator[tuple[SequenceStep, ...], None]:
    """Generate sequences of at most `steps` steps; raises GeneratorFailed.

    The same arguments generate the same sequences. It takes a second or less, and what follows is
    one request after the other until the end of the run, so that it gives way to nobody.
    """
    arguments = {"seed": seed, "sequences": sequences, "steps": steps, "portal_links": portal_links}
    async with aclosing(
        _run_generator("hookproof.conformance.generation.stateful_worker", arguments, niceness=0)
    ) as lines:
        async for line in lines:
            yield tuple(map(SequenceStep.from_json, line))


async def _run_generator(
    module: str, arguments: Mapping[str, Any], *, niceness: int = GENERATORS_NICENESS
) -> AsyncGenerator[Any, None]:
    """The output of a generator with these arguments, line by line, as JSON."""
    given = json.dumps(arguments).encode()
    kept = _kept_output(module, given)
    if kept is not None and kept.exists():
        for line in kept.read_bytes().splitlines():
            yield json.loads(line)
        return
    written = []
    async with aclosing(_output_of(module, given, niceness)) as lines:
        async for line in lines:
            written.append(line)
            yield json.loads(line)
    if kept is not None:
        with suppress(OSError):  # the run has what it needs; the next one generates again
            _keep(written, kept)


def _kept_output(module: str, arguments: bytes) -> Path | None:
    """The file for what a generator writes, whether it is there or not; None if it is not kept."""
    folder = os.environ.get(KEPT_IN)
    name = hashlib.sha256(module.encode() + b"\n" + arguments).hexdigest()
    return Path(folder, f"{name}.jsonl") if folder else None


def _keep(lines: list[bytes], kept: Path) -> None:
    """Write a file at once, since other processes may read it meanwhile."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=kept.parent, delete=False) as file:
        file.writelines(lines)
    Path(file.name).replace(kept)


async def _output_of(module: str, arguments: bytes, niceness: int) -> AsyncGenerator[bytes, None]:
    """Run a generator with these arguments and read its output, line by line."""
    with private_folder() as storage:
        async with subprocess_killed_at_end(
            *(sys.executable, "-P", "-m", module),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=LINE_LIMIT,
            env=_environment(storage),
            start_new_session=True,  # the terminal's ctrl-C is for hookproof, which ends it
        ) as process:
            _let_others_go_first(process.pid, niceness)
            async with aclosing(_lines(process, arguments)) as lines:
                async for line in lines:
                    yield line


def _let_others_go_first(pid: int, niceness: int) -> None:
    """Lower the priority of a generator by so much: experiments that measure time run meanwhile."""
    priority = os.getpriority(os.PRIO_PROCESS, 0) + niceness
    with suppress(OSError):  # it may have ended
        os.setpriority(os.PRIO_PROCESS, pid, priority)
    # Linux may weigh sessions before processes, and a generator has a session of its own.
    with suppress(OSError):
        Path(f"/proc/{pid}/autogroup").write_text(str(niceness))


async def _lines(
    process: asyncio.subprocess.Process, arguments: bytes
) -> AsyncGenerator[bytes, None]:
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    stderr = asyncio.ensure_future(process.stderr.read())
    try:
        # It stays open, so that the process notices its end even if this one is killed.
        process.stdin.write(arguments + b"\n")
        while line := await process.stdout.readline():
            yield line
        if await process.wait():
            errors = (await stderr).decode(errors="replace").strip().splitlines()
            raise GeneratorFailed(
                f"a generator's process ended with {process.returncode}:"
                f" {errors[-1] if errors else 'no message'}"
            )
    finally:
        stderr.cancel()
        await asyncio.gather(stderr, return_exceptions=True)


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
