"""Faults in answering: each takes the place of the API for one request.

The names are those of the control listener. A fault either refuses before anything happens, or
spoils the answer to a request that was carried out: a client that repeats it then meets what it did
the first time.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Final, Protocol

from aiohttp.web_request import BaseRequest

from hookproof.mockserver.api.response import ApiResponse

PIECES: Final = 4

Carry = Callable[[BaseRequest], Awaitable[ApiResponse]]


class AnsweringFault(Protocol):
    """One way to misbehave."""

    async def answer(self, request: BaseRequest, carry: Carry) -> ApiResponse:
        """What is answered instead; `carry` carries the request out as the clean server does."""


class Late:
    """Carries the request out and answers `delay_s` seconds late."""

    def __init__(self, delay_s: float = 1.0) -> None:
        self._delay_s = delay_s

    async def answer(self, request: BaseRequest, carry: Carry) -> ApiResponse:
        """The right answer, late."""
        answer = await carry(request)
        await asyncio.sleep(self._delay_s)
        return answer


class ServerError:
    """Answers with `status` and carries nothing out."""

    def __init__(self, status: int = HTTPStatus.SERVICE_UNAVAILABLE) -> None:
        self._status = int(status)

    async def answer(self, request: BaseRequest, carry: Carry) -> ApiResponse:
        """A failure that is the server's own."""
        return ApiResponse(self._status, b'{"fault": "server_error"}')


class DroppedConnection:
    """Closes the connection and carries nothing out."""

    async def answer(self, request: BaseRequest, carry: Carry) -> ApiResponse:
        """Nothing."""
        return _hung_up(request)


class LostAnswer:
    """Carries the request out and closes the connection without an answer."""

    async def answer(self, request: BaseRequest, carry: Carry) -> ApiResponse:
        """Nothing, although all is done."""
        await carry(request)
        return _hung_up(request)


class MalformedJson:
    """Carries the request out and answers with the first half of the body."""

    async def answer(self, request: BaseRequest, carry: Carry) -> ApiResponse:
        """The right status, and a body that is no JSON."""
        return (await carry(request)).with_half_body()


class SlowBody:
    """Carries the request out and answers in pieces, with `delay_s` seconds before each."""

    def __init__(self, delay_s: float = 0.5) -> None:
        self._delay_s = delay_s

    async def answer(self, request: BaseRequest, carry: Carry) -> ApiResponse:
        """The right answer, a piece at a time."""
        return Dribbled(await carry(request), self._delay_s)


class Dribbled(ApiResponse):
    """An answer whose bytes leave in `PIECES` pieces, with a pause in seconds before each but the
    first.
    """

    def __init__(self, whole: ApiResponse, pause_s: float) -> None:
        super().__init__(whole.status, b"")
        self._whole = whole
        self._pause_s = pause_s

    async def prepare(self, request: BaseRequest) -> None:
        """Remember whom to answer."""
        await self._whole.prepare(request)
        await super().prepare(request)

    async def write_eof(self, data: bytes = b"") -> None:
        """Write piece after piece, for as long as there is somebody."""
        text = self._whole.to_bytes()
        size = -(-len(text) // PIECES)
        for start in range(0, len(text), size):
            if start:
                await asyncio.sleep(self._pause_s)
            transport = self._request.transport
            if transport is None or transport.is_closing():
                raise ConnectionResetError
            transport.write(text[start : start + size])


FAULTS: Final[Mapping[str, type[AnsweringFault]]] = {
    "late": Late,
    "server_error": ServerError,
    "dropped_connection": DroppedConnection,
    "lost_answer": LostAnswer,
    "malformed_json": MalformedJson,
    "slow_body": SlowBody,
}


def _hung_up(request: BaseRequest) -> ApiResponse:
    """Close the connection; the answer that is returned finds nobody to go to."""
    if request.transport is not None:
        request.transport.close()
    return ApiResponse(HTTPStatus.SERVICE_UNAVAILABLE, b"", close_connection=True)
