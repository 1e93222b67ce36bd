"""Somebody's verifier: a command or a URL that is shown vectors, and says whether it accepts them.

It is shown what arrives, and none of what is expected of it.
"""

import asyncio
import os
import shlex
import signal
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, suppress
from http import HTTPStatus
from types import TracebackType
from typing import Final, Protocol, Self

import aiohttp
import orjson

from hookproof.receiver.vectors.grading import GradedVector, VerifierAnswer, read_failures
from hookproof.receiver.vectors.vector import Vector

# The members of a vector that tell the verdict.
WITHHELD: Final = ("expect", "reason", "why", "notes")
# How long a verifier may take for a vector, on a busy machine.
ANSWER_WITHIN_S: Final = 30.0
TOO_LATE: Final = f"nothing came within {ANSWER_WITHIN_S:g} s"
# The exit codes that are verdicts. A program in Python or JavaScript that fails ends with 1 too, so
# that this is a refusal only of a verifier that never refuses with the other code.
ACCEPTS, REFUSES, FAILS_OR_REFUSES = 0, 3, 1
# In bytes: how much is read of what a verifier says.
LONGEST_REMARK: Final = 2**16


class VerifierUnusable(Exception):
    """The command cannot be run; the message says why."""


class VerifierUnreachable(Exception):
    """Nothing answers at the URL; the message says why."""


class Verifier(AbstractAsyncContextManager["Verifier"], Protocol):
    async def answer(self, vector: Vector) -> VerifierAnswer:
        """Raises VerifierUnusable or VerifierUnreachable."""
        ...


class CommandVerifier:
    """A command that reads a vector from standard input; it ends with 0 to accept it, and with 3,
    or always with 1, to refuse it. Raises VerifierUnusable.
    """

    def __init__(self, command: str) -> None:
        try:
            self._words = shlex.split(command)
        except ValueError as error:
            raise VerifierUnusable(f"{command!r} is no command: {error}") from None
        if not self._words:
            raise VerifierUnusable("the command is empty")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Its processes have ended."""

    async def answer(self, vector: Vector) -> VerifierAnswer:
        process = await self._start()
        try:
            async with asyncio.timeout(ANSWER_WITHIN_S):
                output, errors = await process.communicate(shown(vector))
        except TimeoutError:
            return VerifierAnswer(accepts=None, remark=TOO_LATE)
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        remark = _last_line(errors) or _last_line(output)
        code = process.returncode
        if code in {ACCEPTS, REFUSES, FAILS_OR_REFUSES}:
            return VerifierAnswer(
                accepts=code == ACCEPTS, remark=remark, may_have_failed=code == FAILS_OR_REFUSES
            )
        ended = f"it ended with {code}"
        return VerifierAnswer(accepts=None, remark=f"{ended}: {remark}" if remark else ended)

    async def _start(self) -> asyncio.subprocess.Process:
        pipe = asyncio.subprocess.PIPE
        try:
            return await asyncio.create_subprocess_exec(
                *self._words, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
            )
        except OSError as error:
            raise VerifierUnusable(
                f"{self._words[0]!r} cannot be run: {error.strerror or error}"
            ) from None


class UrlVerifier:
    """A URL that a vector is posted to; it answers with 2xx to accept it, and with 4xx to refuse
    it.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._session: aiohttp.ClientSession

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=ANSWER_WITHIN_S))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._session.close()

    async def answer(self, vector: Vector) -> VerifierAnswer:
        headers = {"Content-Type": "application/json"}
        try:
            async with self._session.post(
                self._url, data=shown(vector), headers=headers, allow_redirects=False
            ) as response:
                remark = _last_line(await response.content.read(LONGEST_REMARK))
                status = response.status
        except TimeoutError:
            return VerifierAnswer(accepts=None, remark=TOO_LATE)
        except (aiohttp.ClientConnectorError, aiohttp.InvalidURL) as error:
            raise VerifierUnreachable(f"{self._url} cannot be reached: {error}") from None
        except aiohttp.ClientError as error:
            return VerifierAnswer(accepts=None, remark=str(error) or type(error).__name__)
        if HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
            return VerifierAnswer(accepts=True, remark=remark)
        if HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR:
            return VerifierAnswer(accepts=False, remark=remark)
        answered = f"it answered {status}"
        return VerifierAnswer(accepts=None, remark=f"{answered}: {remark}" if remark else answered)


async def grade(verifier: Verifier, vectors: Sequence[Vector], at_once: int) -> list[GradedVector]:
    """Show the verifier all vectors, so many at once.

    Raises VerifierUnusable and VerifierUnreachable if it cannot be asked about the first one; that
    it is gone later loses no answer.
    """
    free = asyncio.Semaphore(at_once)

    async def graded(vector: Vector) -> GradedVector:
        async with free:
            try:
                answer = await verifier.answer(vector)
            except (VerifierUnusable, VerifierUnreachable) as gone:
                answer = VerifierAnswer(accepts=None, remark=str(gone))
        return GradedVector(vector=vector, answer=answer)

    async with verifier:
        first = GradedVector(vector=vectors[0], answer=await verifier.answer(vectors[0]))
        return read_failures([first, *await asyncio.gather(*map(graded, vectors[1:]))])


def shown(vector: Vector) -> bytes:
    """The vector as a verifier sees it, as JSON."""
    members = vector.to_json()
    for name in WITHHELD:
        del members[name]
    return orjson.dumps(members)


def _last_line(output: bytes) -> str:
    """What a verifier says at last: of a traceback, the exception."""
    lines = output[-LONGEST_REMARK:].decode(errors="replace").strip().splitlines()
    return lines[-1].strip() if lines else ""
