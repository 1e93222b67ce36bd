"""A connection handles requests in order and reads no more than it has room for."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from hookproof.receiver.clock import Clock
from hookproof.receiver.http.connection import MOST_WAITING, MOST_WAITING_BYTES, SenderConnection
from hookproof.receiver.http.request import ReceivedRequest

PLAIN = b"POST /plain HTTP/1.1\r\nContent-Length: 0\r\n\r\n"
SLOW = b"POST /slow HTTP/1.1\r\nContent-Length: 0\r\n\r\n"
HALF = b"POST /half HTTP/1.1\r\nContent-Length: 2\r\n\r\n1"


class RecordingTransport(asyncio.Transport):
    """What a connection writes, and whether it reads."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 40000), "socket": self})
        self.sent: list[bytes] = []
        self.is_reading = True
        self.closed = False
        self._written = asyncio.Event()

    def setsockopt(self, *_: object) -> None:
        pass

    def write(self, data: Any) -> None:
        self.sent.append(bytes(data))
        self._written.set()

    async def wait_for_writes(self, number: int) -> None:
        """Return when this many writes were made."""
        async with asyncio.timeout(30):
            while len(self.sent) < number:
                self._written.clear()
                await self._written.wait()

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    def pause_reading(self) -> None:
        assert self.is_reading
        self.is_reading = False

    def resume_reading(self) -> None:
        assert not self.is_reading
        self.is_reading = True


class Answers:
    """Answers a plain request at once, and a slow one when `ready` is set; records the calls."""

    def __init__(self) -> None:
        self.ready = asyncio.Event()
        self.notes: list[str] = []

    def begins(self, connection: SenderConnection, request: ReceivedRequest) -> bool:
        self.notes.append(f"begins {request.token}")
        return request.token != "unread"

    def received(self, connection: SenderConnection, request: ReceivedRequest) -> Any:
        self.notes.append(f"received {request.token}")
        if request.token == "plain":
            connection.send(b"plain")
            return None
        return self._slowly(connection)

    async def _slowly(self, connection: SenderConnection) -> bool:
        try:
            await self.ready.wait()
            await connection.send_all(b"slow")
        except asyncio.CancelledError:
            self.notes.append("cancelled")
            raise
        return True

    def refused(self, connection: SenderConnection, request: ReceivedRequest) -> None:
        self.notes.append(f"refused {request.token}")

    def left(self, connection: SenderConnection, request: ReceivedRequest) -> None:
        self.notes.append(f"left {request.token}")


def notes_of(
    work: Callable[[SenderConnection, RecordingTransport, Answers], Awaitable[None]],
    *,
    body_within_s: float = 60.0,
) -> list[str]:
    """The handler's notes of the work on a connection, including its end."""

    async def run() -> list[str]:
        transport, answers = RecordingTransport(), Answers()
        open_connections: set[SenderConnection] = set()
        connection = SenderConnection(answers, Clock(), body_within_s, open_connections)
        connection.connection_made(transport)
        assert open_connections == {connection}
        await work(connection, transport, answers)
        connection.connection_lost(None)
        await asyncio.wait_for(connection.ended, 30)
        assert not open_connections
        return answers.notes

    return asyncio.run(run())


def test_a_plain_request_is_answered_within_the_call_that_read_it() -> None:
    async def work(
        connection: SenderConnection, transport: RecordingTransport, answers: Answers
    ) -> None:
        connection.data_received(PLAIN[:-1])
        assert transport.sent == []
        connection.data_received(PLAIN[-1:] + PLAIN)
        assert transport.sent == [b"plain", b"plain"]

    notes_of(work)


def test_requests_behind_a_slow_answer_wait_and_keep_their_order() -> None:
    async def work(
        connection: SenderConnection, transport: RecordingTransport, answers: Answers
    ) -> None:
        connection.data_received(PLAIN + SLOW + PLAIN)
        connection.data_received(SLOW + HALF)
        assert transport.sent == [b"plain"]
        answers.ready.set()
        await transport.wait_for_writes(4)
        assert transport.sent == [b"plain", b"slow", b"plain", b"slow"]

    notes = notes_of(work)
    assert notes[:4] == ["received plain", "received slow", "received plain", "received slow"]
    # The sender may leave before the last answer ends, after which the incomplete request begins.
    assert notes[4:] in (["left half"], ["begins half", "left half"])


@pytest.mark.parametrize(
    "behind",
    [
        PLAIN * MOST_WAITING,
        b"POST /plain HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % (2**21) + b"x" * 2**21,
    ],
    ids=["many", "large"],
)
def test_no_more_is_read_while_too_much_waits(behind: bytes) -> None:
    async def work(
        connection: SenderConnection, transport: RecordingTransport, answers: Answers
    ) -> None:
        connection.data_received(SLOW + PLAIN)
        assert transport.is_reading
        connection.data_received(behind)
        assert not transport.is_reading
        answers.ready.set()
        await transport.wait_for_writes(3)
        assert transport.is_reading

    assert MOST_WAITING_BYTES < 2**21
    notes_of(work)


def test_no_more_is_read_while_the_sender_does_not_read_its_answers() -> None:
    async def work(
        connection: SenderConnection, transport: RecordingTransport, answers: Answers
    ) -> None:
        connection.pause_writing()
        assert not transport.is_reading
        connection.resume_writing()
        assert transport.is_reading

    notes_of(work)


def test_an_answer_waits_until_the_sender_reads() -> None:
    async def work(
        connection: SenderConnection, transport: RecordingTransport, answers: Answers
    ) -> None:
        answers.ready.set()
        connection.data_received(SLOW + PLAIN)
        connection.pause_writing()
        await transport.wait_for_writes(1)
        for _ in range(5):  # turns of the loop in which an answer that did not wait would be sent
            await asyncio.sleep(0)
        assert transport.sent == [b"slow"]
        connection.resume_writing()
        await transport.wait_for_writes(2)

    notes_of(work)


def test_a_sender_that_leaves_at_once_cancels_an_answer_that_has_begun() -> None:
    async def work(
        connection: SenderConnection, transport: RecordingTransport, answers: Answers
    ) -> None:
        connection.data_received(SLOW + PLAIN)

    assert notes_of(work) == ["received slow", "cancelled"]


def test_what_is_not_http_is_reported_after_the_answers_before_it() -> None:
    async def work(
        connection: SenderConnection, transport: RecordingTransport, answers: Answers
    ) -> None:
        connection.data_received(SLOW + b"nonsense\r\n\r\n")
        connection.data_received(PLAIN)
        assert transport.sent == []
        answers.ready.set()
        await transport.wait_for_writes(2)
        assert transport.sent[0] == b"slow"
        assert transport.sent[1].startswith(b"HTTP/1.1 400 Bad Request\r\n")
        assert transport.closed

    assert notes_of(work) == ["received slow"]


def test_a_body_that_comes_too_late_is_refused() -> None:
    async def work(
        connection: SenderConnection, transport: RecordingTransport, answers: Answers
    ) -> None:
        connection.data_received(HALF)
        await transport.wait_for_writes(1)
        assert b"did not arrive completely" in transport.sent[0]
        connection.data_received(b"2" + PLAIN)
        assert len(transport.sent) == 1

    assert notes_of(work, body_within_s=0) == ["begins half", "refused half"]


def test_a_malformed_chunk_is_refused_at_once() -> None:
    async def work(
        connection: SenderConnection, transport: RecordingTransport, answers: Answers
    ) -> None:
        connection.data_received(b"POST /half HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n")
        connection.data_received(b"zz\r\n")
        assert transport.sent[0].startswith(b"HTTP/1.1 400 ")
        assert not transport.closed, "the sender may still be sending, and has to read why first"

    assert notes_of(work) == ["begins half", "refused half"]


def test_a_body_that_stays_unread_is_not_waited_for() -> None:
    async def work(
        connection: SenderConnection, transport: RecordingTransport, answers: Answers
    ) -> None:
        connection.data_received(HALF.replace(b"half", b"unread"))
        assert answers.notes == ["begins unread", "received unread"]
        connection.data_received(b"2" + PLAIN)
        assert transport.sent == []

    assert notes_of(work) == ["begins unread", "received unread", "cancelled"]
