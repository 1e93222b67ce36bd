"""What happens to each request: it is kept as sent, verified, and answered by a script."""

import asyncio
import logging
from typing import Final

from hookproof.receiver.clock import Clock
from hookproof.receiver.http.connection import PendingReply, SenderConnection
from hookproof.receiver.http.reply_bytes import default_answer
from hookproof.receiver.http.reply_sender import ReplySender
from hookproof.receiver.http.request import ReceivedRequest
from hookproof.receiver.inbox.arrival import Arrival
from hookproof.receiver.replies.script import DEFAULT_REPLY, Reply
from hookproof.receiver.session import Session, Sessions

LOG: Final = logging.getLogger(__name__)
# A service may try a URL with these methods before it delivers there; scripts are for deliveries.
VISITS: Final = frozenset({"GET", "HEAD", "OPTIONS"})


class RequestHandler:
    """Handles the requests of one or more servers, with or without TLS."""

    def __init__(self, *, sessions: Sessions, clock: Clock) -> None:
        self._sessions = sessions
        self._clock = clock
        self._reply_sender = ReplySender(clock)
        self._sessions_by_connection: dict[SenderConnection, Session] = {}

    def begins(self, connection: SenderConnection, request: ReceivedRequest) -> bool:
        """Wait for the body, unless the script leaves it unread."""
        session = self._sessions.session_for(request.token)
        if _leaves_unread(session, request):
            return False
        self._sessions_by_connection[connection] = session
        session.in_flight.add(connection)
        return True

    def received(
        self, connection: SenderConnection, request: ReceivedRequest
    ) -> PendingReply | None:
        """Keep and verify a request; send the default answer at once."""
        session = self._session(connection, request)
        if _leaves_unread(session, request):
            request.body = b""
        arrival = request.arrival(connection.sender)
        request.body = b""  # the inbox keeps it, in memory or on disk
        session.inbox.record(arrival)
        session.secrets.judge(arrival)
        reply = session.next_reply(arrival, visit=request.method in VISITS)
        if reply is DEFAULT_REPLY and request.is_plain:
            connection.send(default_answer(int(arrival.arrived_at)))
            session.inbox.complete(arrival, status=reply.status, at=self._clock.monotonic())
            return None
        session.in_flight.add(connection)
        return self._send_reply(reply, connection, request, arrival, session)

    def refused(self, connection: SenderConnection, request: ReceivedRequest) -> None:
        """Count a request whose body was refused."""
        self._session(connection, request).inbox.drop(request.token, request.arrived)

    def left(self, connection: SenderConnection, request: ReceivedRequest) -> None:
        """Log a request that ended before its body; it is not a delivery."""
        self._session(connection, request)
        LOG.warning("a request to %r ended before its body did", request.token)

    def _session(self, connection: SenderConnection, request: ReceivedRequest) -> Session:
        """The session that the request belonged to when its head came."""
        session = self._sessions_by_connection.pop(connection, None)
        if session is None:
            return self._sessions.session_for(request.token)
        session.in_flight.discard(connection)
        return session

    async def _send_reply(
        self,
        reply: Reply,
        connection: SenderConnection,
        request: ReceivedRequest,
        arrival: Arrival,
        session: Session,
    ) -> bool:
        try:
            keep_open = await self._reply_sender.send(reply, request, connection)
        except (ConnectionError, asyncio.CancelledError):
            session.inbox.close(arrival, at=self._clock.monotonic())
            raise
        finally:
            session.in_flight.discard(connection)
        if keep_open is None:
            session.inbox.close(arrival, at=self._clock.monotonic())
            return False
        session.inbox.complete(arrival, status=reply.status, at=self._clock.monotonic())
        return keep_open


def _leaves_unread(session: Session, request: ReceivedRequest) -> bool:
    return session.due_reply(request.token).cuts_before_reading and request.method not in VISITS
