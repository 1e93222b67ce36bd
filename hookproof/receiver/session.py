"""Sessions keep the users of one receiver apart.

Each session has its own tokens, deliveries, scripts and secrets, so parallel runs can share a
receiver. The default session has every token that no other session took. A reset or a flood in one
session does not affect the others.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Protocol

from hookproof.receiver.inbox.arrival import Arrival
from hookproof.receiver.inbox.store import Inbox, InboxLimits, Observers
from hookproof.receiver.replies.challenge_replies import challenge_reply
from hookproof.receiver.replies.script import DEFAULT_REPLY, Reply, Script, Scripts
from hookproof.receiver.replies.token_server import TokenServer
from hookproof.receiver.signatures.token_secrets import SecretsByToken

DEFAULT: Final = ""


class TooManySessions(Exception):
    """All sessions that may exist are in use."""


class TokenTaken(Exception):
    """Another session has this token."""


class Abortable(Protocol):
    """A connection that waits for its answer."""

    def abort(self) -> None: ...


@dataclass(slots=True, kw_only=True, eq=False)
class Session:
    """One session.

    `in_flight` are the connections that wait for an answer; `used_at` is monotonic, in seconds, and
    so is when each of the `tokens` was issued.
    """

    name: str
    inbox: Inbox
    used_at: float
    scripts: Scripts = field(default_factory=Scripts)
    secrets: SecretsByToken = field(default_factory=SecretsByToken)
    token_servers: dict[str, TokenServer] = field(default_factory=dict)
    tokens: dict[str, float] = field(default_factory=dict)
    in_flight: set[Abortable] = field(default_factory=set)

    def set_script(self, token: str, script: Script) -> None:
        self.token_servers.pop(token, None)
        self.scripts.put(token, script)

    def serve_tokens(self, token: str, server: TokenServer) -> None:
        """Answer a token's requests as an OAuth 2 token endpoint from now on."""
        self.token_servers[token] = server

    def due_reply(self, token: str) -> Reply:
        """The reply to the token's next delivery, as far as it is known before that is read."""
        server = self.token_servers.get(token)
        if server is not None:
            return server.due_turn().reply or DEFAULT_REPLY
        return self.scripts.due_reply(token)

    def next_reply(self, arrival: Arrival, *, visit: bool) -> Reply:
        """Choose the reply to a request; a visit uses none up, unless the script is for them."""
        server = self.token_servers.get(arrival.token)
        if server is not None:
            return DEFAULT_REPLY if visit else server.reply(arrival)
        challenge = self.scripts.challenge(arrival.token)
        if challenge is not None:
            registered = self.secrets.find(arrival.token)
            secret = registered.secrets[0] if registered else None
            reply = challenge_reply([challenge], secret, arrival)
            if reply is not None:
                return reply
        return self.scripts.next_reply(arrival, visit=visit)

    def accept_all(self) -> int:
        """Answer whatever comes with success from now on, and abort the connections that wait for
        an answer; returns how many did.
        """
        self.scripts.clear()
        for server in self.token_servers.values():
            server.grant_all()
        waiting = len(self.in_flight)
        self.abort()
        return waiting

    def reset(self) -> None:
        """Forget everything, and abort the connections that wait for an answer."""
        self.scripts.clear()
        self.token_servers.clear()
        self.secrets.clear()
        self.inbox.clear()
        self.tokens.clear()
        self.abort()

    def abort(self) -> None:
        for connection in tuple(self.in_flight):
            connection.abort()


class Sessions:
    """The default session and all others.

    When there are `max_sessions`, a session that was not used for `idle_s` seconds is ended to make
    room. The `observers` follow all sessions.
    """

    def __init__(
        self,
        *,
        limits: InboxLimits,
        max_sessions: int,
        idle_s: float,
        clock: Callable[[], float],
        new_name: Callable[[], str],
        observers: Observers | None = None,
    ) -> None:
        self._limits = limits
        self._observers = observers
        self._max_sessions = max_sessions
        self._idle_s = idle_s
        self._clock = clock
        self._new_name = new_name
        self._owners: dict[str, Session] = {}
        self._sessions: dict[str, Session] = {}
        self.default = self._new_session(DEFAULT)

    def open(self) -> Session:
        """Open a session; raises TooManySessions."""
        if len(self._sessions) >= self._max_sessions:
            for session in self._idle_sessions():
                self.end(session)
        if len(self._sessions) >= self._max_sessions:
            raise TooManySessions(
                f"there are {self._max_sessions} sessions already; end one that is no longer needed"
            )
        session = self._new_session(self._new_name())
        self._sessions[session.name] = session
        return session

    def find(self, name: str) -> Session | None:
        """Return a session by its name and mark it as used; None if it does not exist."""
        session = self.default if name == DEFAULT else self._sessions.get(name)
        if session is not None:
            session.used_at = self._clock()
        return session

    def names(self) -> tuple[str, ...]:
        """The names of all sessions except the default one."""
        return tuple(self._sessions)

    def session_for(self, token: str) -> Session:
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
        session.tokens.setdefault(token, self._clock())
        session.inbox.issue(token)

    def reset(self, session: Session) -> None:
        """Empty a session, which stays open."""
        self._release_tokens(session)
        session.reset()

    def end(self, session: Session) -> None:
        """Free everything that a session has; its tokens go to the default session."""
        self._sessions.pop(session.name, None)
        self._release_tokens(session)
        session.reset()
        session.inbox.end()

    def abort_all(self) -> None:
        for session in (*self._sessions.values(), self.default):
            session.abort()

    def end_all(self) -> None:
        for session in (*self._sessions.values(), self.default):
            self.end(session)

    def _new_session(self, name: str) -> Session:
        return Session(
            name=name,
            inbox=Inbox(self._limits, self._observers),
            secrets=SecretsByToken(self._observers),
            used_at=self._clock(),
        )

    def _idle_sessions(self) -> list[Session]:
        used_before = self._clock() - self._idle_s
        return [session for session in self._sessions.values() if session.used_at < used_before]

    def _release_tokens(self, session: Session) -> None:
        for token in session.tokens:
            self._owners.pop(token, None)
