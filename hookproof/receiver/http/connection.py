"""One connection of a sender: its requests are handled in the order in which they came.

A request that can be answered at once is answered in the call that read its last byte; any other is
answered by a task, and later requests wait. The time of arrival is taken before anything else is
done with the data.
"""

import asyncio
import hashlib
import logging
import socket
import ssl
import time
import weakref
from collections.abc import Coroutine
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final, Protocol, cast

from hookproof.receiver.clock import Clock
from hookproof.receiver.http.authority import requested_server_name
from hookproof.receiver.http.reply_bytes import interim_answer, refusal_answer
from hookproof.receiver.http.request import (
    MOST_BODY_BYTES,
    MalformedRequest,
    ReceivedRequest,
    RequestReader,
    RequestRefused,
)
from hookproof.receiver.inbox.arrival import Sender
from hookproof.receiver.inbox.delivery import TlsFacts

MOST_BYTES: Final = 64 * 2**20


class Holder(Protocol):
    """A connection that holds bytes of requests that are not handled yet."""

    def make_room(self) -> None:
        """Refuse what is under way, and hold nothing any more."""
        ...


class BodyBudget:
    """The bytes under way of one receiver; beyond its limit the largest holder is refused.

    Each connection is bounded by limits of its own; this bounds all of them together. So a sender
    of small bodies is served while others hold many large ones. A single body may have
    `most_body_bytes`.
    """

    def __init__(
        self, most_bytes: int = MOST_BYTES, most_body_bytes: int = MOST_BODY_BYTES
    ) -> None:
        self._most_bytes = most_bytes
        self.most_body_bytes = most_body_bytes
        self._held: dict[Holder, int] = {}
        self._total = 0
        self.refused = 0

    def hold(self, holder: Holder, count: int) -> None:
        """Note how many bytes a connection holds now."""
        self._total += count - self._held.pop(holder, 0)
        if count:
            self._held[holder] = count
        while self._total > self._most_bytes:
            largest = max(self._held, key=self._held.__getitem__)
            self.refused += 1
            if self.refused.bit_count() == 1:  # the first, the second, the fourth, ...
                LOG.warning(
                    "requests under way hold more than %d MiB: the largest are refused, %d so far",
                    self._most_bytes // 2**20,
                    self.refused,
                )
            largest.make_room()


@dataclass(slots=True, kw_only=True)
class Handshakes:
    """How many handshakes senders began with a listener, and how many of them they completed.

    A sender that does not trust the authority begins them and completes none. It leaves before a
    request, so no other part of the receiver sees it. So does one that is so slow that its own
    time-out is over before it has sent anything.

    `first_at` is when the first one began, `unused_at` when the last connection ended on which no
    request was sent, both by time.monotonic; 0 if there was none.
    """

    begun: int = 0
    completed: int = 0
    first_at: float = 0.0
    unused_at: float = 0.0
    _unfinished: "weakref.WeakKeyDictionary[ssl.SSLObject, weakref.finalize[..., Any]]" = field(
        default_factory=weakref.WeakKeyDictionary
    )

    def count_beginnings(self, context: ssl.SSLContext) -> None:
        """Count the handshakes that begin in this context, beside what its callback does."""
        notify = context.sni_callback

        def begin(connection: ssl.SSLObject, name: str, used: ssl.SSLContext) -> int | None:
            self.begun += 1
            self.first_at = self.first_at or time.monotonic()
            self._unfinished[connection] = weakref.finalize(connection, self.note_unused)
            return None if notify is None else notify(connection, name, used)

        context.sni_callback = begin

    def complete(self, connection: ssl.SSLObject) -> None:
        """Count a handshake as completed."""
        self.completed += 1
        if unfinished := self._unfinished.pop(connection, None):
            unfinished.detach()

    def note_unused(self) -> None:
        """A connection has ended on which no request was sent."""
        self.unused_at = time.monotonic()


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultyListener:
    """A listener whose TLS is wrong: its base URL, and the handshakes with it."""

    url: str
    handshakes: Handshakes


LOG: Final = logging.getLogger(__name__)
# Limits of the requests that wait for their turn; beyond them no more is read.
MOST_WAITING: Final = 32
MOST_WAITING_BYTES: Final = 2**20
# How long a sender that still sends a refused body has to read why it was refused.
LINGER_S: Final = 1.0

# Sends an answer and returns whether the connection stays open; cancelled if the sender leaves.
PendingReply = Coroutine[Any, Any, bool]


class ConnectionHandler(Protocol):
    """Decides what happens to requests."""

    def begins(self, connection: "SenderConnection", request: ReceivedRequest) -> bool:
        """A request's head came, its body has not.

        Returns whether to read the body; otherwise the request is handled without it.
        """
        ...

    def received(
        self, connection: "SenderConnection", request: ReceivedRequest
    ) -> PendingReply | None:
        """A complete request came; returns the coroutine that answers it.

        Returns None if it has been answered already and the connection stays open.
        """
        ...

    def refused(self, connection: "SenderConnection", request: ReceivedRequest) -> None:
        """A request is refused: its body is too long, malformed or late."""
        ...

    def left(self, connection: "SenderConnection", request: ReceivedRequest) -> None:
        """The sender disconnected, or was aborted, before the body ended."""
        ...


class SenderConnection(asyncio.Protocol):
    """One connection: the sender, the waiting requests, and the answer in progress.

    A head, and then a body, must each arrive within `body_within_s` seconds. What is under way
    counts in `budget`. `open_connections` is the set of all open connections. `ended` is done once
    this one is not among them and no answer is in progress.
    `handshakes` counts this connection if it is one with TLS.
    """

    __slots__ = (
        "_awaited",
        "_body_within_s",
        "_budget",
        "_clock",
        "_closing",
        "_handler",
        "_handshakes",
        "_is_holding",
        "_is_used",
        "_lost",
        "_open_connections",
        "_read_paused",
        "_reader",
        "_refusal",
        "_task",
        "_timer",
        "_writable",
        "_write_paused",
        "ended",
        "sender",
        "transport",
    )

    def __init__(
        self,
        handler: ConnectionHandler,
        clock: Clock,
        body_within_s: float,
        open_connections: "set[SenderConnection]",
        handshakes: Handshakes | None = None,
        budget: BodyBudget | None = None,
    ) -> None:
        self._handler = handler
        self._budget = budget or BodyBudget()
        self._handshakes = handshakes
        self._clock = clock
        self._body_within_s = body_within_s
        self._open_connections = open_connections
        self._reader = RequestReader(self._budget.most_body_bytes)
        self._awaited: ReceivedRequest | None = None
        self._refusal: RequestRefused | None = None
        self._task: asyncio.Task[bool] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._write_paused = self._read_paused = self._closing = self._lost = False
        self._is_used = self._is_holding = False
        self._writable: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Note who sends; with TLS the handshake is done by now."""
        self.transport = cast("asyncio.Transport", transport)
        if self._handshakes is not None:
            self._handshakes.complete(self.transport.get_extra_info("ssl_object"))
        self.sender = _sender(self.transport)
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self.ended = asyncio.get_running_loop().create_future()
        self._open_connections.add(self)

    def data_received(self, data: bytes) -> None:
        """Take the time first: every request whose head ends in this data arrived now."""
        now = self._clock.now()
        self._is_used = True
        if self._closing or self._refusal is not None:
            return
        try:
            self._reader.feed(data, now)
        except RequestRefused as refusal:
            self._refusal = refusal
        self._handle_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """The sender disconnected, or was aborted."""
        if self._handshakes is not None and not self._is_used:
            self._handshakes.note_unused()
        if self._reader.partial is not None and self._refusal is None:
            self._handler.left(self, self._reader.partial)
        self._closing = self._lost = True
        self._release()
        self._set_timer(None)
        if self._task is None:
            self._end()
        else:  # later, since a task that is cancelled before its first step does nothing at all
            asyncio.get_running_loop().call_soon(self._task.cancel)

    def pause_writing(self) -> None:
        """The sender does not read its answers, so stop reading from it: memory stays bounded."""
        self._write_paused = True
        self._update_reading()

    def resume_writing(self) -> None:
        self._write_paused = False
        if self._writable is not None and not self._writable.done():
            self._writable.set_result(None)
        self._update_reading()

    def send(self, data: bytes) -> None:
        """Send bytes; raises ConnectionResetError if the sender has disconnected."""
        if self.transport.is_closing():
            raise ConnectionResetError("the sender has disconnected")
        self.transport.write(data)

    async def send_all(self, data: bytes) -> None:
        """Send bytes and wait until the buffer has room.

        Cancelled when the sender disconnects.
        """
        self.send(data)
        while self._write_paused:
            self._writable = asyncio.get_running_loop().create_future()
            await self._writable

    def close(self) -> None:
        """Close the connection once everything has been sent."""
        self._closing = True
        self._release()
        self._set_timer(None)
        self.transport.close()

    def abort(self) -> None:
        self.transport.abort()

    def make_room(self) -> None:
        """Refuse what is under way: all requests of all connections hold too much."""
        for request in self._reader.whole:
            self._handler.refused(self, request)
        self._refusal = RequestRefused(
            HTTPStatus.SERVICE_UNAVAILABLE, "too many bytes are under way; try again later"
        )
        self._release()
        self._handle_waiting()

    def _release(self) -> None:
        """Give back the memory of what is not handled, and take nothing more."""
        self._reader.end()
        self._note_held()

    def _note_held(self) -> None:
        held = self._reader.held_bytes
        if held or self._is_holding:
            self._is_holding = bool(held)
            self._budget.hold(self, held)

    def _handle_waiting(self) -> None:
        """Handle waiting requests, up to one whose answer takes time."""
        waiting = self._reader.whole
        while waiting and self._task is None and not self.transport.is_closing():
            self._handle(waiting.popleft())
        if self._task is None and not self._closing:
            if self._refusal is not None:
                self._refuse(self._refusal)
            elif self._reader.partial is not None:
                self._wait_for_body(self._reader.partial)
            elif self._reader.in_head and self._timer is None:
                self._limit_time("the head")
        self._note_held()
        if waiting or self._read_paused or self._write_paused:
            self._update_reading()

    def _handle(self, request: ReceivedRequest) -> None:
        if self._timer is not None:
            self._set_timer(None)
        reply = self._handler.received(self, request)
        if reply is not None:
            self._task = asyncio.get_running_loop().create_task(reply)
            self._task.add_done_callback(self._reply_done)

    def _reply_done(self, task: "asyncio.Task[bool]") -> None:
        self._task = None
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, ConnectionError):
            LOG.error("a reply could not be sent", exc_info=error)
        if self._lost:
            self._end()
        elif not task.cancelled() and error is None and task.result() and not self._closing:
            self._handle_waiting()
        else:
            self.close()

    def _end(self) -> None:
        self._open_connections.discard(self)
        self.ended.set_result(None)

    def _wait_for_body(self, partial: ReceivedRequest) -> None:
        """Wait for a body; send 100 (Continue) if the sender asks for it."""
        if partial is self._awaited:
            return
        self._awaited = partial
        if not self._handler.begins(self, partial):
            self._closing, self._reader.partial = True, None
            self._handle(partial)
            return
        self._limit_time("the body")
        if partial.expects_continue:
            self.transport.write(interim_answer(HTTPStatus.CONTINUE))

    def _limit_time(self, part: str) -> None:
        loop = asyncio.get_running_loop()
        self._set_timer(loop.call_later(self._body_within_s, self._refuse_late, part))

    def _refuse_late(self, part: str) -> None:
        reason = f"{part} did not arrive completely within {self._body_within_s:g} s"
        self._refusal = RequestRefused(HTTPStatus.BAD_REQUEST, reason)
        self._refuse(self._refusal)

    def _refuse(self, refusal: RequestRefused) -> None:
        """Say why a request is refused, and close the connection.

        If the sender still sends its body, the connection closes a little later, so that it can
        read why.
        """
        if isinstance(refusal, MalformedRequest):
            LOG.warning("a request from port %d is refused: %s", self.sender.peer_port, refusal)
        self._closing = True
        self._release()
        self.transport.write(refusal_answer(refusal.status, str(refusal), self._clock.wall()))
        partial = self._reader.partial
        if partial is None:
            self.close()
            return
        self._handler.refused(self, partial)
        self._set_timer(asyncio.get_running_loop().call_later(LINGER_S, self.close))

    def _set_timer(self, timer: asyncio.TimerHandle | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = timer

    def _update_reading(self) -> None:
        """Pause reading while too much waits, or while the sender does not read its answers."""
        waiting = self._reader.whole
        too_many = (
            len(waiting) >= MOST_WAITING
            or sum(len(request.body) for request in waiting) > MOST_WAITING_BYTES
        )
        pause = too_many or (self._write_paused and self._task is None)
        if pause != self._read_paused and not self.transport.is_closing():
            self._read_paused = pause
            if pause:
                self.transport.pause_reading()
            else:
                self.transport.resume_reading()


def _sender(transport: asyncio.Transport) -> Sender:
    tls = transport.get_extra_info("ssl_object")
    _, port, *_ = transport.get_extra_info("peername") or ("", 0)  # a sender may have left by now
    if tls is None:
        return Sender(port)
    certificate = tls.getpeercert(binary_form=True)
    return Sender(
        port,
        hashlib.sha256(certificate).hexdigest() if certificate else None,
        TlsFacts(
            version=tls.version(), cipher=tls.cipher()[0], server_name=requested_server_name(tls)
        ),
    )
