"""The control API of one session: tokens, scripts, secrets, token servers, deliveries and rates.

The default session and, below `/sessions/NAME`, every other session have the same paths, so a
client can use a session's URL like a receiver's.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Final

import msgspec
from aiohttp import web

from hookproof.process.lateness import LatenessMeter
from hookproof.receiver.control.json_exchange import (
    json_list_response,
    json_response,
    read_body,
    read_query,
)
from hookproof.receiver.inbox.arrival import DeliveryFilter
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.receiver.replies.script import Script, TokenName
from hookproof.receiver.replies.token_server import TokenServer
from hookproof.receiver.replies.token_server_settings import TokenServerSettings
from hookproof.receiver.session import DEFAULT, Session, Sessions, TokenTaken
from hookproof.receiver.signatures.token_secrets import TokenSecrets, verdict_json

LARGEST_PAGE: Final = 1000
# Of one page of deliveries; the last one of it may exceed this by its own size.
MOST_PAGE_BYTES: Final = 8 * 2**20


class DeliveryQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which deliveries to return, and when.

    At most `limit` of those after sequence `after`, once `count` of them arrived or `timeout`
    seconds have passed; optionally only those with a `method` or a `header` (`Name`, or `Name:
    value`).
    """

    count: Annotated[int, msgspec.Meta(ge=0)] = 0
    timeout: Annotated[float, msgspec.Meta(ge=0, le=3600)] = 0.0
    after: Annotated[int, msgspec.Meta(ge=0)] = 0
    limit: Annotated[int, msgspec.Meta(ge=1, le=LARGEST_PAGE)] = LARGEST_PAGE
    method: str | None = None
    header: str | None = None


class TokenQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which tokens to return: at most `limit`, without the first `after` ones."""

    after: Annotated[int, msgspec.Meta(ge=0)] = 0
    limit: Annotated[int, msgspec.Meta(ge=1, le=LARGEST_PAGE)] = LARGEST_PAGE


class RateQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The length of the window, in seconds."""

    window: Annotated[float, msgspec.Meta(gt=0, le=10**6)] = 1.0


class TokenRequestBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The token that is wanted; None: a new one."""

    token: TokenName | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionApi:
    """The routes of the sessions; `url` is the listener's public base URL, `lateness` that of the
    loop that takes the times of arrival.
    """

    sessions: Sessions
    url: str
    new_token: Callable[[], str]
    lateness: LatenessMeter

    def routes(self) -> list[web.RouteDef]:
        """The routes of the default session and of all others."""
        paths = [
            ("POST", "/reset", self.reset),
            ("POST", "/accept", self.accept_all),
            ("GET", "/arrivals", self.arrivals),
            ("POST", "/tokens", self.issue_token),
            ("GET", "/tokens", self.tokens),
            ("GET", "/tokens/{token}", self.token),
            ("PUT", "/tokens/{token}/script", self.put_script),
            ("PUT", "/tokens/{token}/secrets", self.put_secrets),
            ("PUT", "/tokens/{token}/token-server", self.put_token_server),
            ("GET", "/tokens/{token}/token-server", self.token_server),
            ("GET", "/tokens/{token}/deliveries", self.deliveries),
            ("GET", "/tokens/{token}/rate", self.rate),
        ]
        prefixes = ("", "/sessions/{session}")
        return [
            web.route(method, prefix + path, handler)
            for prefix in prefixes
            for method, path, handler in paths
        ]

    async def reset(self, request: web.Request) -> web.Response:
        """Forget the session's tokens, scripts and deliveries; abort connections in progress."""
        self.sessions.reset(self._session(request))
        return web.Response(status=HTTPStatus.NO_CONTENT)

    async def accept_all(self, request: web.Request) -> web.Response:
        """Answer whatever comes with success from now on; how many connections were aborted."""
        return json_response({"aborted": self._session(request).accept_all()})

    async def arrivals(self, request: web.Request) -> web.Response:
        """How many seconds ago the last request of any token came; null if none did."""
        latest_at = self._session(request).inbox.latest_at
        return json_response(
            {"last_s_ago": None if latest_at is None else time.monotonic() - latest_at}
        )

    async def issue_token(self, request: web.Request) -> web.Response:
        token_request = (
            await read_body(request, TokenRequestBody)
            if request.body_exists
            else TokenRequestBody()
        )
        token = token_request.token or self.new_token()
        try:
            self.sessions.issue(self._session(request), token)
        except TokenTaken as taken:
            raise web.HTTPConflict(text=str(taken)) from None
        return json_response({"token": token, "url": self._url(token)}, HTTPStatus.CREATED)

    async def tokens(self, request: web.Request) -> web.Response:
        """A page of the tokens that were issued or that have deliveries, each as in `token`."""
        session, query = self._session(request), read_query(request, TokenQuery)
        tokens, end = session.inbox.tokens(), query.after + query.limit
        page = [self._summary(session, token) for token in tokens[query.after : end]]
        return json_response({"tokens": page, "more": end < len(tokens)})

    async def token(self, request: web.Request) -> web.Response:
        """A token's counts: requests, dropped ones, verified and unverified ones."""
        session = self._session(request)
        return json_response(self._summary(session, self._token(request, session)))

    async def put_script(self, request: web.Request) -> web.Response:
        session = self._session(request)
        session.set_script(self._token(request, session), await read_body(request, Script))
        return web.Response(status=HTTPStatus.NO_CONTENT)

    async def put_secrets(self, request: web.Request) -> web.Response:
        """Set the secrets that verify a token's deliveries."""
        session = self._session(request)
        session.secrets.put(self._token(request, session), await read_body(request, TokenSecrets))
        return web.Response(status=HTTPStatus.NO_CONTENT)

    async def put_token_server(self, request: web.Request) -> web.Response:
        """Make a token an OAuth 2 token endpoint, in place of its script."""
        session = self._session(request)
        token = self._token(request, session)
        settings = await read_body(request, TokenServerSettings)
        session.serve_tokens(
            token, TokenServer(settings, url=self._url(token), new_token=self.new_token)
        )
        return web.Response(status=HTTPStatus.NO_CONTENT)

    async def token_server(self, request: web.Request) -> web.Response:
        """The requests to a token endpoint, and their results."""
        session = self._session(request)
        server = session.token_servers.get(self._token(request, session))
        if server is None:
            raise web.HTTPNotFound(text="this token is not a token endpoint")
        return json_response(server.to_json())

    async def deliveries(self, request: web.Request) -> web.StreamResponse:
        """A token's deliveries; waits as the query says.

        `late_s` is by how much our own timers were late at most since the token was issued.
        """
        session = self._session(request)
        token = self._token(request, session)
        query = read_query(request, DeliveryQuery)
        result = await session.inbox.wait(
            token,
            after=query.after,
            count=query.count,
            timeout_s=query.timeout,
            limit=query.limit,
            most_bytes=MOST_PAGE_BYTES,
            delivery_filter=_read_filter(query),
        )
        deliveries = (_delivery_json(delivery, session) for delivery in result.deliveries)
        others = {
            "complete": result.complete,
            "dropped": result.dropped,
            "more": result.more,
            "late_s": self.lateness.worst_since(session.tokens.get(token, 0.0)),
        }
        return await json_list_response(request, "deliveries", deliveries, others)

    async def rate(self, request: web.Request) -> web.Response:
        """The token's highest number of requests within any window of time."""
        session = self._session(request)
        result = await session.inbox.rate(
            self._token(request, session), read_query(request, RateQuery).window
        )
        return json_response(result.to_json())

    def _session(self, request: web.Request) -> Session:
        name = request.match_info.get("session", DEFAULT)
        session = self.sessions.find(name)
        if session is None:
            raise web.HTTPNotFound(text=f"there is no session {name!r}; it may have ended")
        return session

    def _token(self, request: web.Request, session: Session) -> str:
        """The token of the path; a token of another session is not found in this one."""
        token = request.match_info["token"]
        if self.sessions.session_for(token) is not session:
            raise web.HTTPNotFound(text=f"the token {token!r} does not belong to this session")
        return token

    def _url(self, token: str) -> str:
        return f"{self.url}/{token}"

    def _summary(self, session: Session, token: str) -> dict[str, object]:
        arrived, dropped = session.inbox.counts(token)
        token_secrets, tally = session.secrets.find(token), session.secrets.tally(token)
        return {
            "token": token,
            "url": self._url(token),
            "arrived": arrived,
            "dropped": dropped,
            "dialect": token_secrets.dialect if token_secrets else None,
            "scheme": token_secrets.scheme if token_secrets else None,
            "verified": tally.verified if tally else None,
            "unverified": dict(tally.unverified) if tally else None,
        }


def _read_filter(query: DeliveryQuery) -> DeliveryFilter:
    try:
        return DeliveryFilter.parse(query.method, query.header)
    except ValueError as error:
        raise web.HTTPBadRequest(text=str(error)) from None


def _delivery_json(delivery: ReceivedDelivery, session: Session) -> dict[str, object]:
    """A delivery with the verdict by the token's current secrets, if it has any."""
    verdict = session.secrets.verdict(delivery)
    return delivery.to_json() | {"verdict": verdict_json(verdict) if verdict else None}
