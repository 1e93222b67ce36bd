"""The control API of one session: tokens, scripts, secrets, token servers, deliveries and rates.

The same paths serve the default session and, below `/sessions/NAME`, every other one, so that the
address of a session is to a client what the address of a receiver is.
"""

from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Final

import msgspec
from aiohttp import web

from hookproof.receiver.control.json_exchange import body_of, json_answer, query_of
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.receiver.inbox.delivery_filter import Sieve
from hookproof.receiver.replies.script import Script
from hookproof.receiver.replies.token_server import TokenServer
from hookproof.receiver.replies.token_server_settings import TokenServerSettings
from hookproof.receiver.session import DEFAULT, Session, Sessions, TokenTaken
from hookproof.receiver.signatures.token_secrets import Keyring, verdict_json

LARGEST_PAGE: Final = 1000
TokenName = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9._~-]{1,128}\Z")]


class DeliveryQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which deliveries to answer with, and when.

    At most `limit` of those after sequence `after`, once `count` of them arrived or `timeout`
    seconds have passed; only those of a `method`, and with a `header` (`Name`, or `Name: value`).
    """

    count: Annotated[int, msgspec.Meta(ge=0)] = 0
    timeout: Annotated[float, msgspec.Meta(ge=0, le=3600)] = 0.0
    after: Annotated[int, msgspec.Meta(ge=0)] = 0
    limit: Annotated[int, msgspec.Meta(ge=1, le=LARGEST_PAGE)] = LARGEST_PAGE
    method: str | None = None
    header: str | None = None


class RateQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The length of the window, in seconds."""

    window: Annotated[float, msgspec.Meta(gt=0, le=10**6)] = 1.0


class TokenRequestBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The token that is wanted; None: any."""

    token: TokenName | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionApi:
    """What the routes of a session work on; `url` is the listener's public base URL."""

    sessions: Sessions
    url: str
    new_token: Callable[[], str]

    def routes(self) -> list[web.RouteDef]:
        """The routes of the default session and of all others."""
        paths = [
            ("POST", "/reset", self.reset),
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
        """Forget the session's tokens, scripts and deliveries, and cut the connections that wait
        for an answer.
        """
        self.sessions.reset(self._session(request))
        return web.Response(status=HTTPStatus.NO_CONTENT)

    async def issue_token(self, request: web.Request) -> web.Response:
        """A token that no one else has."""
        wanted = (
            await body_of(request, TokenRequestBody) if request.body_exists else TokenRequestBody()
        )
        token = wanted.token or self.new_token()
        try:
            self.sessions.issue(self._session(request), token)
        except TokenTaken as taken:
            raise web.HTTPConflict(text=str(taken)) from None
        return json_answer({"token": token, "url": self._url(token)}, HTTPStatus.CREATED)

    async def tokens(self, request: web.Request) -> web.Response:
        """All tokens that were issued, or of which something is kept, each as in `token`."""
        session = self._session(request)
        return json_answer(
            {"tokens": [self._summary(session, token) for token in session.inbox.tokens()]}
        )

    async def token(self, request: web.Request) -> web.Response:
        """How many requests a token had, how many of them were dropped, and how many verified."""
        session = self._session(request)
        return json_answer(self._summary(session, self._token(request, session)))

    async def put_script(self, request: web.Request) -> web.Response:
        """Set what a token's requests are answered with from now on."""
        session = self._session(request)
        session.play(self._token(request, session), await body_of(request, Script))
        return web.Response(status=HTTPStatus.NO_CONTENT)

    async def put_secrets(self, request: web.Request) -> web.Response:
        """Set the secrets that a token's deliveries are signed with from now on."""
        session = self._session(request)
        session.keyrings.put(self._token(request, session), await body_of(request, Keyring))
        return web.Response(status=HTTPStatus.NO_CONTENT)

    async def put_token_server(self, request: web.Request) -> web.Response:
        """Make a token's URL a token endpoint, in place of the one that it may be, and of its
        script.
        """
        session = self._session(request)
        token = self._token(request, session)
        settings = await body_of(request, TokenServerSettings)
        session.serve_tokens(
            token, TokenServer(settings, url=self._url(token), new_token=self.new_token)
        )
        return web.Response(status=HTTPStatus.NO_CONTENT)

    async def token_server(self, request: web.Request) -> web.Response:
        """What a token endpoint was asked, and what it made of it."""
        session = self._session(request)
        server = session.token_servers.get(self._token(request, session))
        if server is None:
            raise web.HTTPNotFound(text="this token is no token endpoint")
        return json_answer(server.to_json())

    async def deliveries(self, request: web.Request) -> web.Response:
        """A token's deliveries, waited for as the query says."""
        session = self._session(request)
        query = query_of(request, DeliveryQuery)
        found = await session.inbox.wait(
            self._token(request, session),
            after=query.after,
            count=query.count,
            timeout_s=query.timeout,
            limit=query.limit,
            sieve=_sieve(query),
        )
        shown = [_shown(delivery, session) for delivery in found.deliveries]
        return json_answer(
            {
                "deliveries": shown,
                "complete": found.complete,
                "dropped": found.dropped,
                "more": found.more,
            }
        )

    async def rate(self, request: web.Request) -> web.Response:
        """How many of a token's requests came within any window of time, at most."""
        session = self._session(request)
        found = await session.inbox.rate(
            self._token(request, session), query_of(request, RateQuery).window
        )
        return json_answer(found.to_json())

    def _session(self, request: web.Request) -> Session:
        name = request.match_info.get("session", DEFAULT)
        session = self.sessions.named(name)
        if session is None:
            raise web.HTTPNotFound(text=f"there is no session {name!r}; it may have ended")
        return session

    def _token(self, request: web.Request, session: Session) -> str:
        """The token of the path; what another session has is not found in this one."""
        token = request.match_info["token"]
        if self.sessions.of_token(token) is not session:
            raise web.HTTPNotFound(text=f"the token {token!r} does not belong to this session")
        return token

    def _url(self, token: str) -> str:
        return f"{self.url}/{token}"

    def _summary(self, session: Session, token: str) -> dict[str, object]:
        arrived, dropped = session.inbox.counts(token)
        keyring, tally = session.keyrings.of(token), session.keyrings.tally(token)
        return {
            "token": token,
            "url": self._url(token),
            "arrived": arrived,
            "dropped": dropped,
            "dialect": keyring.dialect if keyring else None,
            "scheme": keyring.scheme if keyring else None,
            "verified": tally.verified if tally else None,
            "unverified": dict(tally.unverified) if tally else None,
        }


def _sieve(query: DeliveryQuery) -> Sieve:
    try:
        return Sieve.parse(query.method, query.header)
    except ValueError as error:
        raise web.HTTPBadRequest(text=str(error)) from None


def _shown(delivery: ReceivedDelivery, session: Session) -> dict[str, object]:
    """A delivery, and what the token's secrets say of it, if there are any."""
    verdict = session.keyrings.verdict(delivery)
    return delivery.to_json() | {"verdict": verdict_json(verdict) if verdict else None}
