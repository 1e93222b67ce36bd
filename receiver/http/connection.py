"""One connection of a sender: its requests are handled one after the other, in the order in which
they came.

A request that can be answered at once is, in the very call in which its last byte was read; any
other is answered by a task, and what comes meanwhile waits. The time of arrival is taken before
anything else is done with what was read.
"""

import asyncio
import hashlib
import logging
import socket
from collections.abc import Coroutine
from http import HTTPStatus
from typing import Any, Final, Protocol, cast

from hookproof.receiver.clock import Clock
from hookproof.receiver.http.authority import asked_server_name
from hookproof.receiver.http.reply_bytes import interim, refusing
from hookproof.receiver.http.request import Malformed, Refusal, Request, RequestReader
from hookproof.receiver.inbox.arrival import Sender
from hookproof.receiver.inbox.delivery import TlsFacts

LOG: Final = logging.getLogger(__name__)
MOST_WAITING: Final = 32
# Of requests that wait for their turn, before no more is read.
MOST_WAITING_BYTES: Final = 2**20
# How long a sender has to read why its body is not taken, while it still sends that.
LINGER_S: Final = 1.0

# What sends an answer, and says whether the connection stays; a sender that leaves cancels it.
Playing = Coroutine[Any, Any, bool]


class Handler(Protocol):
    """What becomes of requests."""

    def begins(self, connection: "Connection", request: Request) -> bool:
        """A request came whose body is still to come; whether it shall be read, or the request
        handled without.
        """
        ...

    def received(self, connection: "Connection", request: Request) -> Playing | None:
        """A request came whole; what answers it, None if it is answered already and the connection
        stays.
        """
        ...

    def refused(self, connection: "Connection", request: Request) -> None:
        """A request is not taken, since its body is too long, malformed or too late."""
        ...

    def left(self, connection: "Connection", request: Request) -> None:
        """The sender left, or was cut, before its body ended."""
        ...


class Connection(asyncio.Protocol):
    """One connection: who sends, what waits for its turn, and what is being answered.

    A body has `body_within_s` seconds to come. `open_ones` are all connections that there are;
    `ended` is done when this one is none of them any more, and nothing is played to it.
    """

    __slots__ = (
        "_awaited",
        "_body_within_s",
        "_choked",
        "_clock",
        "_handler",
        "_held",
        "_lost",
        "_open_ones",
        "_over",
        "_reader",
        "_refusal",
        "_task",
        "_timer",
        "_unchoked",
        "ended",
        "sender",
        "transport",
    )

    def __init__(
        self, handler: Handler, clock: Clock, body_within_s: float, open_ones: "set[Connection]"
    ) -> None:
        self._handler = handler
        self._clock = clock
        self._body_within_s = body_within_s
        self._open_ones = open_ones
        self._reader = RequestReader()
        self._awaited: Request | None = None
        self._refusal: Refusal | None = None
        self._task: asyncio.Task[bool] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._choked = self._held = self._over = self._lost = False
        self._unchoked: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Note who sends; with TLS the handshake is over by now."""
        self.transport = cast("asyncio.Transport", transport)
        self.sender = _sender(self.transport)
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self.ended = asyncio.get_running_loop().create_future()
        self._open_ones.add(self)

    def data_received(self, data: bytes) -> None:
        """Note the time before anything else; every request whose head ends in this data came now."""
        now = self._clock.now()
        if self._over or self._refusal is not None:
            return
        try:
            self._reader.feed(data, now)
        except Refusal as refusal:
            self._refusal = refusal
        self._go_on()

    def connection_lost(self, exc: Exception | None) -> None:
        """The sender has gone, or was cut."""
        if self._reader.partial is not None and self._refusal is None:
            self._handler.left(self, self._reader.partial)
        self._over = self._lost = True
        self._reader.whole.clear()
        self._set_timer(None)
        if self._task is None:
            self._end()
        else:  # later, since a task that is cancelled before its first step does nothing at all
            asyncio.get_running_loop().call_soon(self._task.cancel)

    def pause_writing(self) -> None:
        """The sender does not read; nor is it read from, so that what it is owed stays bounded."""
        self._choked = True
        self._hold_or_read()

    def resume_writing(self) -> None:
        """The sender reads again."""
        self._choked = False
        if self._unchoked is not None and not self._unchoked.done():
            self._unchoked.set_result(None)
        self._hold_or_read()

    def send(self, data: bytes) -> None:
        """Send bytes; raises ConnectionResetError when the sender has gone."""
        if self.transport.is_closing():
            raise ConnectionResetError("the sender left first")
        self.transport.write(data)

    async def send_all(self, data: bytes) -> None:
        """Send bytes, and wait until there is room for more; cancelled when the sender goes."""
        self.send(data)
        while self._choked:
            self._unchoked = asyncio.get_running_loop().create_future()
            await self._unchoked

    def close(self) -> None:
        """End the connection in order, once all that was sent has left."""
        self._over = True
        self._reader.whole.clear()
        self._set_timer(None)
        self.transport.close()

    def abort(self) -> None:
        """Cut the connection at once."""
        self.transport.abort()

    def _go_on(self) -> None:
        """Handle what waits, up to a request whose answer takes time."""
        waiting = self._reader.whole
        while waiting and self._task is None and not self.transport.is_closing():
            self._handle(waiting.popleft())
        if self._task is None and not self._over:
            if self._refusal is not None:
                self._refuse(self._refusal)
            elif self._reader.partial is not None:
                self._await_body(self._reader.partial)
        if waiting or self._held or self._choked:
            self._hold_or_read()

    def _handle(self, request: Request) -> None:
        if self._timer is not None:
            self._set_timer(None)
        playing = self._handler.received(self, request)
        if playing is not None:
            self._task = asyncio.get_running_loop().create_task(playing)
            self._task.add_done_callback(self._played)

    def _played(self, task: "asyncio.Task[bool]") -> None:
        self._task = None
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, ConnectionError):
            LOG.error("an answer could not be played", exc_info=error)
        if self._lost:
            self._end()
        elif not task.cancelled() and error is None and task.result() and not self._over:
            self._go_on()
        else:
            self.close()

    def _end(self) -> None:
        self._open_ones.discard(self)
        self.ended.set_result(None)

    def _await_body(self, partial: Request) -> None:
        """Let a body come, which a sender that asks first is told to send."""
        if partial is self._awaited:
            return
        self._awaited = partial
        if not self._handler.begins(self, partial):
            self._over, self._reader.partial = True, None
            self._handle(partial)
            return
        self._set_timer(asyncio.get_running_loop().call_later(self._body_within_s, self._late))
        if partial.expects_continue:
            self.transport.write(interim(HTTPStatus.CONTINUE))

    def _late(self) -> None:
        told = f"the body did not come whole within {self._body_within_s:g} s"
        self._refusal = Refusal(HTTPStatus.BAD_REQUEST, told)
        self._refuse(self._refusal)

    def _refuse(self, refusal: Refusal) -> None:
        """Say why a request is not taken, and end the connection, after a while if the sender still
        sends its body.
        """
        if isinstance(refusal, Malformed):
            LOG.warning("a request from port %d is not taken: %s", self.sender.peer_port, refusal)
        self._over = True
        self.transport.write(refusing(refusal.status, str(refusal), self._clock.wall()))
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

    def _hold_or_read(self) -> None:
        """Read no more while too much waits, or while answers are made faster than they are taken."""
        waiting = self._reader.whole
        too_many = (
            len(waiting) >= MOST_WAITING
            or sum(len(one.body) for one in waiting) > MOST_WAITING_BYTES
        )
        hold = too_many or (self._choked and self._task is None)
        if hold != self._held and not self.transport.is_closing():
            self._held = hold
            if hold:
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
        TlsFacts(version=tls.version(), cipher=tls.cipher()[0], server_name=asked_server_name(tls)),
    )
