"""Sessions: each has tokens, deliveries, scripts and secrets of its own, so that runs side by side
share a receiver.

The default session has every token that no other session took. What one session does, a reset or a
flood among it, changes nothing for the others.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Protocol

from hookproof.receiver.inbox.arrival import Arrival
from hookproof.receiver.inbox.observer import Audience
from hookproof.receiver.inbox.store import Inbox, Room
from hookproof.receiver.replies.script import DEFAULT_REPLY, Reply, Script, Scripts
from hookproof.receiver.replies.token_server import TokenServer
from hookproof.receiver.signatures.token_secrets import Keyrings

DEFAULT: Final = ""


class NoRoom(Exception):
    """There are as many sessions as there may be, and all of them are in use; the message says so."""


class TokenTaken(Exception):
    """Another session has this token; the message names it."""


class Cuttable(Protocol):
    """A connection that waits for its answer."""

    def abort(self) -> None:
        """Cut it at once."""


@dataclass(slots=True, kw_only=True, eq=False)
class Session:
    """One session; `in_flight` are the connections that wait for an answer, `used_at` is monotonic,
    in seconds.
    """

    name: str
    inbox: Inbox
    used_at: float
    scripts: Scripts = field(default_factory=Scripts)
    keyrings: Keyrings = field(default_factory=Keyrings)
    token_servers: dict[str, TokenServer] = field(default_factory=dict)
    tokens: set[str] = field(default_factory=set)
    in_flight: set[Cuttable] = field(default_factory=set)

    def play(self, token: str, script: Script) -> None:
        """Answer a token's requests by a script from now on."""
        self.token_servers.pop(token, None)
        self.scripts.put(token, script)

    def serve_tokens(self, token: str, server: TokenServer) -> None:
        """Answer a token's requests as a token endpoint from now on."""
        self.token_servers[token] = server

    def due_reply(self, token: str) -> Reply:
        """The reply to the token's next delivery, as far as it is known before that is read."""
        server = self.token_servers.get(token)
        if server is not None:
            return server.due_turn().reply or DEFAULT_REPLY
        return self.scripts.due_reply(token)

    def next_reply(self, arrival: Arrival, *, visit: bool) -> Reply:
        """What a request is answered with; a visit uses up no reply."""
        if visit:
            return DEFAULT_REPLY
        server = self.token_servers.get(arrival.token)
        return server.reply(arrival) if server else self.scripts.next_reply(arrival.token)

    def reset(self) -> None:
        """Forget all that it has, and cut the connections that wait for an answer."""
        self.scripts.clear()
        self.token_servers.clear()
        self.keyrings.clear()
        self.inbox.clear()
        self.tokens.clear()
        self.abort()

    def abort(self) -> None:
        """Cut every connection that still waits for its answer."""
        for connection in tuple(self.in_flight):
            connection.abort()


class Sessions:
    """The default session and all others.

    One that nobody has asked anything for `idle_s` seconds is ended when its place is needed. The
    `audience` follows them all.
    """

    def __init__(
        self,
        *,
        room: Room,
        most: int,
        idle_s: float,
        clock: Callable[[], float],
        new_name: Callable[[], str],
        audience: Audience | None = None,
    ) -> None:
        self._room = room
        self._audience = audience
        self._most = most
        self._idle_s = idle_s
        self._clock = clock
        self._new_name = new_name
        self._owners: dict[str, Session] = {}
        self._sessions: dict[str, Session] = {}
        self.default = self._made(DEFAULT)

    def open(self) -> Session:
        """A new session; raises NoRoom."""
        if len(self._sessions) >= self._most:
            for session in self._idle():
                self.end(session)
        if len(self._sessions) >= self._most:
            raise NoRoom(
                f"there are {self._most} sessions already; end one that is no longer needed"
            )
        session = self._made(self._new_name())
        self._sessions[session.name] = session
        return session

    def named(self, name: str) -> Session | None:
        """A session by its name, which is in use now; None if there is none, or none any more."""
        session = self.default if name == DEFAULT else self._sessions.get(name)
        if session is not None:
            session.used_at = self._clock()
        return session

    def names(self) -> tuple[str, ...]:
        """The names of all sessions but the default one."""
        return tuple(self._sessions)

    def of_token(self, token: str) -> Session:
        """The session that a token's requests belong to."""
        return self._owners.get(token, self.default)

    def issue(self, session: Session, token: str) -> None:
        """Give a token to a session; raises TokenTaken."""
        owner = self._owners.get(token)
        if owner not in (None, session) or (
            session is not self.default and token in self.default.tokens
        ):
            raise TokenTaken(f"the token {token!r} belongs to another session")
        if session is not self.default:
            self._owners[token] = session
        session.tokens.add(token)
        session.inbox.issue(token)

    def reset(self, session: Session) -> None:
        """Empty a session, which goes on."""
        self._disown(session)
        session.reset()

    def end(self, session: Session) -> None:
        """Free all that a session has; its tokens are the default session's from now on."""
        self._sessions.pop(session.name, None)
        self._disown(session)
        session.reset()
        session.inbox.end()

    def abort_all(self) -> None:
        """Cut every connection that still waits for its answer."""
        for session in (*self._sessions.values(), self.default):
            session.abort()

    def end_all(self) -> None:
        """End every session, the default one too."""
        for session in (*self._sessions.values(), self.default):
            self.end(session)

    def _made(self, name: str) -> Session:
        return Session(
            name=name,
            inbox=Inbox(self._room, self._audience),
            keyrings=Keyrings(self._audience),
            used_at=self._clock(),
        )

    def _idle(self) -> list[Session]:
        latest = self._clock() - self._idle_s
        return [session for session in self._sessions.values() if session.used_at < latest]

    def _disown(self, session: Session) -> None:
        for token in session.tokens:
            self._owners.pop(token, None)
