"""Responder faults: each replaces the API for one request.

Users name them as in `FAULTS`. A fault either does not carry the request out, or alters the
response to a request that was carried out, so that a client that repeats it meets the effect of the
first one.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final, Protocol

import msgspec
from aiohttp.web_request import BaseRequest

from hookproof.mockserver.api.response import ApiResponse

PIECES: Final = 4

CarryOut = Callable[[BaseRequest], Awaitable[ApiResponse]]


class ResponderFault(Protocol):
    async def answer(self, request: BaseRequest, carry_out: CarryOut) -> ApiResponse:
        """The response to send; `carry_out` carries the request out as the clean server does."""


class Late:
    """Carries the request out and responds `delay_s` seconds late."""

    def __init__(self, delay_s: float = 1.0) -> None:
        self._delay_s = delay_s

    async def answer(self, request: BaseRequest, carry_out: CarryOut) -> ApiResponse:
        response = await carry_out(request)
        await asyncio.sleep(self._delay_s)  # the lateness that was ordered
        return response


class ServerError:
    """Responds with `status` and does not carry the request out."""

    def __init__(self, status: int = HTTPStatus.SERVICE_UNAVAILABLE) -> None:
        self._status = int(status)

    async def answer(self, request: BaseRequest, carry_out: CarryOut) -> ApiResponse:
        return ApiResponse(self._status, b'{"fault": "server_error"}')


class DroppedConnection:
    """Closes the connection and does not carry the request out."""

    async def answer(self, request: BaseRequest, carry_out: CarryOut) -> ApiResponse:
        return _close_connection(request)


class LostAnswer:
    """Carries the request out and closes the connection without a response."""

    async def answer(self, request: BaseRequest, carry_out: CarryOut) -> ApiResponse:
        await carry_out(request)
        return _close_connection(request)


class MalformedJson:
    """Carries the request out and responds with the first half of the body."""

    async def answer(self, request: BaseRequest, carry_out: CarryOut) -> ApiResponse:
        return (await carry_out(request)).with_changed_body(lambda body: body[: len(body) // 2])


class ChangedMember:
    """Carries the request out and responds with `member` of the body set to `value`, or without it.

    `member` is a path such as `data.uid`; `*` stands for every element of an array. A body without
    the member, and one that is not a JSON object, stay as they are.
    """

    def __init__(self, member: str, value: Any = msgspec.UNSET) -> None:
        self._path = member.split(".")
        self._value = value

    async def answer(self, request: BaseRequest, carry_out: CarryOut) -> ApiResponse:
        return (await carry_out(request)).with_changed_body(self._change)

    def _change(self, body: bytes) -> bytes:
        try:
            document = msgspec.json.decode(body)
        except msgspec.DecodeError:
            return body
        self._change_member(document, self._path)
        return msgspec.json.encode(document)

    def _change_member(self, value: Any, path: Sequence[str]) -> None:
        step, *rest = path
        if step == "*" and isinstance(value, list) and rest:
            for element in value:
                self._change_member(element, rest)
        elif isinstance(value, dict) and step in value:
            if rest:
                self._change_member(value[step], rest)
            elif self._value is msgspec.UNSET:
                del value[step]
            else:
                value[step] = self._value


class SlowBody:
    """Carries the request out and responds in pieces, with `delay_s` seconds between them."""

    def __init__(self, delay_s: float = 0.5) -> None:
        self._delay_s = delay_s

    async def answer(self, request: BaseRequest, carry_out: CarryOut) -> ApiResponse:
        return PiecewiseResponse(await carry_out(request), self._delay_s)


class PiecewiseResponse(ApiResponse):
    """A response that is sent in `PIECES` pieces, with a pause between them."""

    def __init__(self, whole: ApiResponse, pause_s: float) -> None:
        super().__init__(whole.status, b"")
        self._whole = whole
        self._pause_s = pause_s

    async def prepare(self, request: BaseRequest) -> None:
        await self._whole.prepare(request)
        await super().prepare(request)

    async def write_eof(self, data: bytes = b"") -> None:
        text = self._whole.to_bytes()
        size = -(-len(text) // PIECES)
        for start in range(0, len(text), size):
            if start:
                await asyncio.sleep(self._pause_s)  # the slowness that was ordered
            transport = self._request.transport
            if transport is None or transport.is_closing():
                raise ConnectionResetError
            transport.write(text[start : start + size])


FAULTS: Final[Mapping[str, type[ResponderFault]]] = {
    "late": Late,
    "server_error": ServerError,
    "dropped_connection": DroppedConnection,
    "lost_answer": LostAnswer,
    "malformed_json": MalformedJson,
    "changed_member": ChangedMember,
    "slow_body": SlowBody,
}


def _close_connection(request: BaseRequest) -> ApiResponse:
    """Close the connection; the response that is returned is not sent."""
    if request.transport is not None:
        request.transport.close()
    return ApiResponse(HTTPStatus.SERVICE_UNAVAILABLE, b"", close_connection=True)
