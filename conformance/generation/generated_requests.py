"""The requests and the sequences that the generators make, as they come out of their processes.

    async for request in generated_requests(document, seed=7, examples=30):
        ...

A process ends with the iteration, however that ends.
"""

import asyncio
import base64
import json
import os
import signal
import sys
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hookproof
from hookproof.conformance.generation.operation_sequence import Step
from hookproof.receiver.client.child_process import send_signal

LINE_LIMIT = 16 * 1024 * 1024


class GeneratorFailed(Exception):
    """The generator's process ended with an error: a fault of hookproof, or a document that it
    cannot read.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedRequest:
    """One request as schemathesis made it: path parameters and query are percent-encoded, nothing
    is filled in.

    `valid` says whether it was meant to fit the contract, `aim` what it tries, in schemathesis'
    words.
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
        """The request in one line of the generator's output."""
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
    document: Mapping[str, Any], *, seed: int, examples: int
) -> AsyncGenerator[GeneratedRequest, None]:
    """Every request for the document's operations, the same for the same arguments; raises
    GeneratorFailed.
    """
    order = {"document": document, "seed": seed, "examples": examples}
    async with aclosing(
        _answers("hookproof.conformance.generation.schemathesis_worker", order)
    ) as answers:
        async for answer in answers:
            yield GeneratedRequest.from_json(answer)


async def linked_requests(
    document: Mapping[str, Any], *, seed: int, sequences: int, steps: int
) -> AsyncGenerator[tuple[GeneratedRequest, ...], None]:
    """Sequences of at most so many requests along the document's links, the same for the same
    arguments.

    A path parameter may be `uid_from(n)`: the uid in the answer to request n of the sequence.
    Raises GeneratorFailed.
    """
    order = {"document": document, "seed": seed, "sequences": sequences, "steps": steps}
    async with aclosing(
        _answers("hookproof.conformance.generation.schemathesis_worker", order)
    ) as answers:
        async for answer in answers:
            yield tuple(map(GeneratedRequest.from_json, answer))


async def generated_sequences(
    *, seed: int, sequences: int, steps: int, portal_links: int
) -> AsyncGenerator[tuple[Step, ...], None]:
    """Sequences of at most so many steps, the same for the same arguments; raises GeneratorFailed."""
    order = {"seed": seed, "sequences": sequences, "steps": steps, "portal_links": portal_links}
    async with aclosing(
        _answers("hookproof.conformance.generation.stateful_worker", order)
    ) as answers:
        async for answer in answers:
            yield tuple(Step.from_json(one) for one in answer)


async def _answers(module: str, order: Mapping[str, Any]) -> AsyncGenerator[Any, None]:
    """What a generator's process says to an order, line by line; the process ends with the
    iteration.
    """
    with tempfile.TemporaryDirectory(prefix="hookproof-") as storage:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", module),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=LINE_LIMIT,
            env=_environment(storage),
            start_new_session=True,  # the terminal's ctrl-C is for hookproof, which ends it
        )
        try:
            async with aclosing(_lines(process, json.dumps(order).encode())) as lines:
                async for line in lines:
                    yield json.loads(line)
        finally:
            send_signal(process, signal.SIGKILL)
            await process.wait()


async def _lines(process: asyncio.subprocess.Process, order: bytes) -> AsyncGenerator[bytes, None]:
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    complaints = asyncio.ensure_future(process.stderr.read())
    try:
        process.stdin.write(order)
        process.stdin.close()
        while line := await process.stdout.readline():
            yield line
        if await process.wait():
            said = (await complaints).decode(errors="replace").strip().splitlines()
            raise GeneratorFailed(
                f"a generator's process ended with {process.returncode}: {(said or ['no word'])[-1]}"
            )
    finally:
        complaints.cancel()
        await asyncio.gather(complaints, return_exceptions=True)


def _environment(storage: str) -> dict[str, str]:
    # The child must find this package from wherever hookproof was started, order its sets alike
    # every time, and keep the caches of hypothesis out of the folder where the user stands.
    here = str(Path(hookproof.__file__).parents[1])
    paths = [here, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONHASHSEED": "0",
        "HYPOTHESIS_STORAGE_DIRECTORY": storage,
    }
