"""JSON at the control API: requests are parsed into typed values, answers and errors written."""

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import TypeVar

import msgspec
import orjson
from aiohttp import web

T = TypeVar("T")


async def read_body(request: web.Request, shape: type[T]) -> T:
    """Parse a request's body; raises msgspec's errors, which `errors_as_json` answers."""
    return msgspec.json.decode(await request.read(), type=shape)


def read_query(request: web.Request, shape: type[T]) -> T:
    """Parse a request's query; raises as `read_body` does, also for a repeated parameter."""
    if len(request.query) != len(set(request.query)):
        raise msgspec.ValidationError("a parameter occurs twice")
    return msgspec.convert(dict(request.query), shape, strict=False)


def json_response(value: object, status: HTTPStatus = HTTPStatus.OK) -> web.Response:
    return web.Response(status=status, body=orjson.dumps(value), content_type="application/json")


@web.middleware
async def errors_as_json(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Answer every error as `{"error": "..."}`."""
    try:
        return await handler(request)
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        return json_response({"error": str(error)}, HTTPStatus.BAD_REQUEST)
    except web.HTTPException as error:
        return json_response({"error": error.text or error.reason}, HTTPStatus(error.status))
