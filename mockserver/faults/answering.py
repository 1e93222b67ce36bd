"""Faults in answering: each takes the place of the API for one request.

The names are those of the control listener. A fault either refuses before anything happens, or spoils the answer to a
request that was carried out: a client that repeats it then meets what it did the first time.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Final, Protocol

from aiohttp.web_request import BaseRequest

from mockserver.answer import Answer

Carry = Callable[[BaseRequest], Awaitable[Answer]]


class AnsweringFault(Protocol):
    """One way to misbehave."""

    async def answer(self, request: BaseRequest, carry: Carry) -> Answer:
        """What is answered instead; `carry` carries the request out as the clean server does."""


class Late:
    """Carries the request out and answers `delay_s` seconds late."""

    def __init__(self, delay_s: float = 1.0) -> None:
        self._delay_s = delay_s

    async def answer(self, request: BaseRequest, carry: Carry) -> Answer:
        """The right answer, late."""
        answer = await carry(request)
        await asyncio.sleep(self._delay_s)
        return answer


class ServerError:
    """Answers with `status` and carries nothing out."""

    def __init__(self, status: int = HTTPStatus.SERVICE_UNAVAILABLE) -> None:
        self._status = int(status)

    async def answer(self, request: BaseRequest, carry: Carry) -> Answer:
        """A failure that is the server's own."""
        return Answer(self._status, b'{"fault": "server_error"}')


class DroppedConnection:
    """Closes the connection and carries nothing out."""

    async def answer(self, request: BaseRequest, carry: Carry) -> Answer:
        """Nothing."""
        return _hung_up(request)


class LostAnswer:
    """Carries the request out and closes the connection without an answer."""

    async def answer(self, request: BaseRequest, carry: Carry) -> Answer:
        """Nothing, although all is done."""
        await carry(request)
        return _hung_up(request)


class MalformedJson:
    """Carries the request out and answers with the first half of the body."""

    async def answer(self, request: BaseRequest, carry: Carry) -> Answer:
        """The right status, and a body that is no JSON."""
        return (await carry(request)).halved()


FAULTS: Final[Mapping[str, type[AnsweringFault]]] = {
    "late": Late,
    "server_error": ServerError,
    "dropped_connection": DroppedConnection,
    "lost_answer": LostAnswer,
    "malformed_json": MalformedJson,
}


def _hung_up(request: BaseRequest) -> Answer:
    """Close the connection; the answer that is returned finds nobody to go to."""
    if request.transport is not None:
        request.transport.close()
    return Answer(HTTPStatus.SERVICE_UNAVAILABLE, b"", last=True)
