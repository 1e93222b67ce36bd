"""What happens to each request: it is kept as sent, verified, and answered: by a script, or by the
server that it is forwarded to.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from hookproof.receiver.clock import Clock
from hookproof.receiver.http.connection import PendingReply, SenderConnection
from hookproof.receiver.http.reply_bytes import RelayedAnswer, default_answer, relayed_answer
from hookproof.receiver.http.reply_sender import ReplySender
from hookproof.receiver.http.request import ReceivedRequest
from hookproof.receiver.inbox.arrival import Arrival
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.receiver.replies.script import DEFAULT_REPLY, Reply
from hookproof.receiver.session import Session, Sessions

LOG: Final = logging.getLogger(__name__)
# A service may try a URL with these methods before it delivers there; scripts are for deliveries.
VISITS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
# Sends a delivery to another server; its answer, or one that says why there is none.
Forward = Callable[[ReceivedDelivery], Awaitable[RelayedAnswer]]
# The status that was sent, and whether the connection stays open; None if it was cut.
Sent = tuple[int, bool | None]


class RequestHandler:
    """Handles the requests of one or more servers, with or without TLS.

    What no script answers, `forward` answers, visits included; or else it is answered with success,
    or as one of the `challenges` asks. `only` is whether a delivery is forwarded.
    """

    def __init__(
        self,
        *,
        sessions: Sessions,
        clock: Clock,
        forward: Forward | None = None,
        only: Callable[[ReceivedDelivery], bool] | None = None,
        challenges: Callable[[Arrival], Reply | None] | None = None,
    ) -> None:
        self._sessions = sessions
        self._clock = clock
        self._forward = forward
        self._only = only
        self._challenges = challenges
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
        delivery = arrival.delivery() if self._forward else None
        session.inbox.record(arrival)
        session.secrets.judge(arrival)
        reply = session.next_reply(arrival, visit=request.method in VISITS)
        is_forwarded = delivery is not None and (self._only is None or self._only(delivery))
        if reply is DEFAULT_REPLY and self._challenges and not is_forwarded:
            reply = self._challenges(arrival) or DEFAULT_REPLY
        if reply is DEFAULT_REPLY and self._forward and delivery and is_forwarded:
            sending = _relay(self._forward, delivery, request, connection)
            session.in_flight.add(connection)
            return self._answer(sending, connection, arrival, session)
        if reply is DEFAULT_REPLY and request.is_plain:
            connection.send(default_answer(int(arrival.arrived_at)))
            session.inbox.complete(arrival, status=reply.status, at=self._clock.monotonic())
            return None
        session.in_flight.add(connection)
        return self._answer(
            self._send_reply(reply, request, connection), connection, arrival, session
        )

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
        self, reply: Reply, request: ReceivedRequest, connection: SenderConnection
    ) -> Sent:
        return reply.status, await self._reply_sender.send(reply, request, connection)

    async def _answer(
        self,
        sending: Awaitable[Sent],
        connection: SenderConnection,
        arrival: Arrival,
        session: Session,
    ) -> bool:
        """Note how the answer ended; returns whether the connection stays open."""
        try:
            status, keep_open = await sending
        except (ConnectionError, asyncio.CancelledError):
            session.inbox.close(arrival, at=self._clock.monotonic())
            raise
        finally:
            session.in_flight.discard(connection)
        if keep_open is None:
            session.inbox.close(arrival, at=self._clock.monotonic())
            return False
        session.inbox.complete(arrival, status=status, at=self._clock.monotonic())
        return keep_open


async def _relay(
    forward: Forward,
    delivery: ReceivedDelivery,
    request: ReceivedRequest,
    connection: SenderConnection,
) -> Sent:
    answer = await forward(delivery)
    keep_alive, http_1_0 = request.keep_alive, request.http_1_0
    content = relayed_answer(
        answer, keep_alive=keep_alive, http_1_0=http_1_0, head_only=request.method == "HEAD"
    )
    await connection.send_all(content)
    return answer.status, keep_alive and not http_1_0


def _leaves_unread(session: Session, request: ReceivedRequest) -> bool:
    return session.due_reply(request.token).cuts_before_reading and request.method not in VISITS
