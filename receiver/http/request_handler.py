"""What is done with each request: it is kept, raw, judged, and then answered as its token's script
says.
"""

import asyncio
import logging
from typing import Final

from hookproof.receiver.clock import Clock
from hookproof.receiver.http.connection import Connection, Playing
from hookproof.receiver.http.reply_bytes import default_head
from hookproof.receiver.http.reply_sender import Player
from hookproof.receiver.http.request import Request
from hookproof.receiver.inbox.arrival import Arrival
from hookproof.receiver.replies.script import DEFAULT_REPLY, Reply
from hookproof.receiver.session import Session, Sessions

LOG: Final = logging.getLogger(__name__)
# By these a service may try a URL before it delivers there; a script is for deliveries.
VISITS: Final = frozenset({"GET", "HEAD", "OPTIONS"})


class Listener:
    """Handles the requests of one or more servers, whether they speak TLS or not."""

    def __init__(self, *, sessions: Sessions, clock: Clock) -> None:
        self._sessions = sessions
        self._clock = clock
        self._player = Player(clock)
        self._begun: dict[Connection, Session] = {}

    def begins(self, connection: Connection, request: Request) -> bool:
        """Wait for a body, unless the script leaves it unread."""
        session = self._sessions.of_token(request.token)
        if _leaves_unread(session, request):
            return False
        self._begun[connection] = session
        session.in_flight.add(connection)
        return True

    def received(self, connection: Connection, request: Request) -> Playing | None:
        """Keep a request and judge it; what nearly every one is answered with is sent at once."""
        session = self._session(connection, request)
        if _leaves_unread(session, request):
            request.body = b""
        arrival = request.arrival(connection.sender)
        session.inbox.record(arrival)
        session.keyrings.judge(arrival)
        reply = session.next_reply(arrival, visit=request.method in VISITS)
        if reply is DEFAULT_REPLY and request.plain:
            connection.send(default_head(int(arrival.arrived_at)))
            session.inbox.complete(arrival, status=reply.status, at=self._clock.monotonic())
            return None
        session.in_flight.add(connection)
        return self._play(reply, connection, request, arrival, session)

    def refused(self, connection: Connection, request: Request) -> None:
        """Count a request whose body is not taken."""
        self._session(connection, request).inbox.drop(request.token, request.arrived)

    def left(self, connection: Connection, request: Request) -> None:
        """Tell that a body did not end; its request is no delivery."""
        self._session(connection, request)
        LOG.warning("a request to %r ended before its body did", request.token)

    def _session(self, connection: Connection, request: Request) -> Session:
        """The session that a request belonged to when its head came."""
        begun = self._begun.pop(connection, None)
        if begun is None:
            return self._sessions.of_token(request.token)
        begun.in_flight.discard(connection)
        return begun

    async def _play(
        self,
        reply: Reply,
        connection: Connection,
        request: Request,
        arrival: Arrival,
        session: Session,
    ) -> bool:
        try:
            stays = await self._player.play(reply, request, connection)
        except (ConnectionError, asyncio.CancelledError):
            session.inbox.close(arrival, at=self._clock.monotonic())
            raise
        finally:
            session.in_flight.discard(connection)
        if stays is None:
            session.inbox.close(arrival, at=self._clock.monotonic())
            return False
        session.inbox.complete(arrival, status=reply.status, at=self._clock.monotonic())
        return stays


def _leaves_unread(session: Session, request: Request) -> bool:
    return session.due_reply(request.token).cuts_before_reading and request.method not in VISITS
