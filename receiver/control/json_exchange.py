"""JSON at the control API: bodies and queries read into typed values, answers and refusals written."""

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import TypeVar

import msgspec
import orjson
from aiohttp import web

T = TypeVar("T")


async def body_of(request: web.Request, shape: type[T]) -> T:
    """The body of a request; raises msgspec's errors, which `told_in_json` answers."""
    return msgspec.json.decode(await request.read(), type=shape)


def query_of(request: web.Request, shape: type[T]) -> T:
    """The query of a request; raises as `body_of` does, for a parameter that stands twice too."""
    if len(request.query) != len(set(request.query)):
        raise msgspec.ValidationError("a parameter stands twice")
    return msgspec.convert(dict(request.query), shape, strict=False)


def json_answer(value: object, status: HTTPStatus = HTTPStatus.OK) -> web.Response:
    """An answer with a JSON body."""
    return web.Response(status=status, body=orjson.dumps(value), content_type="application/json")


@web.middleware
async def told_in_json(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Tell every refusal as `{"error": "..."}`."""
    try:
        return await handler(request)
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        return json_answer({"error": str(error)}, HTTPStatus.BAD_REQUEST)
    except web.HTTPException as error:
        return json_answer({"error": error.text or error.reason}, HTTPStatus(error.status))
