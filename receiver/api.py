"""The control API: tokens, scripts, deliveries and client certificates, as JSON on a listener of its own."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Final, TypeVar

import msgspec
import orjson
from aiohttp import web

from receiver.authority import Authority
from receiver.inbox import Inbox
from receiver.listener import Listener
from receiver.script import Script, Scripts

T = TypeVar("T")

MOST_SCRIPT_BYTES: Final = 32 * 2**20


class DeliveryQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which deliveries to answer with, and when.

    At most `limit` of those after sequence `after`, once `count` of them arrived or `timeout` seconds have passed.
    """

    count: Annotated[int, msgspec.Meta(ge=0)] = 0
    timeout: Annotated[float, msgspec.Meta(ge=0, le=3600)] = 0.0
    after: Annotated[int, msgspec.Meta(ge=0)] = 0
    limit: Annotated[int, msgspec.Meta(ge=1)] | None = None


class CertificateRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The common name of a client certificate."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=64)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlApi:
    """What the control API works on; `url` is the listener's public base URL, `authority` None without TLS."""

    inbox: Inbox
    scripts: Scripts
    listener: Listener
    authority: Authority | None
    url: str
    new_token: Callable[[], str]

    def application(self) -> web.Application:
        """The API's aiohttp application."""
        app = web.Application(client_max_size=MOST_SCRIPT_BYTES, middlewares=[told_in_json])
        app.add_routes(
            [
                web.get("/health", self.health),
                web.post("/reset", self.reset),
                web.post("/tokens", self.issue_token),
                web.put("/tokens/{token}/script", self.put_script),
                web.get("/tokens/{token}/deliveries", self.deliveries),
                web.post("/client-certificates", self.issue_client_certificate),
            ]
        )
        return app

    async def health(self, request: web.Request) -> web.Response:
        """That the receiver is up."""
        return _json({"status": "ok"})

    async def reset(self, request: web.Request) -> web.Response:
        """Forget tokens, scripts and deliveries, and cut the connections that wait for an answer."""
        self.scripts.clear()
        self.inbox.clear()
        self.listener.abort()
        return web.Response(status=HTTPStatus.NO_CONTENT)

    async def issue_token(self, request: web.Request) -> web.Response:
        """A token that no one else has."""
        token = self.new_token()
        self.inbox.issue(token)
        return _json({"token": token, "url": f"{self.url}/{token}"}, HTTPStatus.CREATED)

    async def put_script(self, request: web.Request) -> web.Response:
        """Set what a token's requests are answered with from now on."""
        self.scripts.put(request.match_info["token"], await _body(request, Script))
        return web.Response(status=HTTPStatus.NO_CONTENT)

    async def deliveries(self, request: web.Request) -> web.Response:
        """A token's deliveries, waited for as the query says."""
        query = msgspec.convert(dict(request.query), DeliveryQuery, strict=False)
        found = await self.inbox.wait(
            request.match_info["token"], after=query.after, count=query.count, timeout_s=query.timeout
        )
        shown = [delivery.to_json() for delivery in found.deliveries[: query.limit]]
        return _json({"deliveries": shown, "complete": found.complete, "dropped": found.dropped})

    async def issue_client_certificate(self, request: web.Request) -> web.Response:
        """A client certificate of the listener's authority."""
        wanted = await _body(request, CertificateRequest)
        if self.authority is None:
            raise web.HTTPConflict(text="the receiver listens without TLS, so it has no authority to issue from")
        certificate, key = self.authority.client_certificate(wanted.name)
        return _json({"client_cert": certificate, "client_key": key}, HTTPStatus.CREATED)


@web.middleware
async def told_in_json(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Tell every refusal as `{"error": "..."}`."""
    try:
        return await handler(request)
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        return _json({"error": str(error)}, HTTPStatus.BAD_REQUEST)
    except web.HTTPException as error:
        return _json({"error": error.text or error.reason}, HTTPStatus(error.status))


async def _body(request: web.Request, shape: type[T]) -> T:
    return msgspec.json.decode(await request.read(), type=shape)


def _json(value: object, status: HTTPStatus = HTTPStatus.OK) -> web.Response:
    return web.Response(status=status, body=orjson.dumps(value), content_type="application/json")
