"""JSON at the control API: requests are parsed into typed values, answers and errors written."""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from http import HTTPStatus
from typing import Final, TypeVar

import msgspec
import orjson
from aiohttp import web

T = TypeVar("T")

JSON: Final = "application/json"
# In bytes.
PIECE_BYTES: Final = 2**20


async def read_body(request: web.Request, shape: type[T]) -> T:
    """Parse a request's body; raises msgspec's errors, which `errors_as_json` answers."""
    return msgspec.json.decode(await request.read(), type=shape)


def read_query(request: web.Request, shape: type[T]) -> T:
    """Parse a request's query; raises as `read_body` does, also for a repeated parameter."""
    if len(request.query) != len(set(request.query)):
        raise msgspec.ValidationError("a parameter occurs twice")
    return msgspec.convert(dict(request.query), shape, strict=False)


def json_response(value: object, status: HTTPStatus = HTTPStatus.OK) -> web.Response:
    return web.Response(status=status, body=orjson.dumps(value), content_type=JSON)


async def json_list_response(
    request: web.Request, name: str, items: Iterable[object], others: Mapping[str, object]
) -> web.StreamResponse:
    """An object with a list and other members; a long one is sent piece by piece.

    So that of many large items no more than one is held as JSON.
    """
    pieces = _list_pieces(name, items, others)
    first = next(pieces)
    second = next(pieces, None)
    if second is None:
        return web.Response(body=first, content_type=JSON)
    response = web.StreamResponse(headers={"Content-Type": JSON})
    await response.prepare(request)
    for piece in (first, second):
        await response.write(piece)
    for piece in pieces:
        await response.write(piece)
    await response.write_eof()
    return response


def _list_pieces(
    name: str, items: Iterable[object], others: Mapping[str, object]
) -> Iterator[bytes]:
    """The JSON of such an object in pieces of about PIECE_BYTES."""
    pending = bytearray(b"{" + orjson.dumps(name) + b":[")
    for number, item in enumerate(items):
        pending += b"," if number else b""
        pending += orjson.dumps(item)
        if len(pending) >= PIECE_BYTES:
            yield bytes(pending)
            pending.clear()
    yield bytes(pending + b"]," + orjson.dumps(others)[1:])


def refusal(status: HTTPStatus, reason: str) -> web.Response:
    return json_response({"error": reason}, status)


@web.middleware
async def errors_as_json(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Answer every error as `{"error": "..."}`."""
    try:
        return await handler(request)
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        return refusal(HTTPStatus.BAD_REQUEST, str(error))
    except web.HTTPException as error:
        return refusal(HTTPStatus(error.status), error.text or error.reason)
