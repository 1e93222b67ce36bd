"""A connection handles requests in order, and all of them hold no more than their budget."""

import asyncio
import contextlib
import json
import re
import signal
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from hookproof.receiver.clock import Clock
from hookproof.receiver.http.connection import (
    MOST_WAITING,
    MOST_WAITING_BYTES,
    BodyBudget,
    SenderConnection,
)
from hookproof.receiver.http.request import ReceivedRequest
from tests.receiver.receiver_process import ReceiverProcess, receiver

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


MIB = 2**20
CONNECTIONS = 300
# What each connection sends of a body that is longer still: 600 MiB in all.
SENT = 2 * MIB
HEAD = b"POST /unfinished HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (15 * MIB)
# A receiver that holds nothing has about 65 MiB; the budget and the buffers of sockets come to it.
MOST_MEMORY = 250 * MIB
MOST_LEFT = 140 * MIB
STOPS_WITHIN_S = 8.0


def memory(process: ReceiverProcess, figure: str) -> int:
    """The memory of a process in bytes: VmRSS has it now, VmHWM had it at most."""
    status = Path(f"/proc/{process.process.pid}/status").read_text("ascii")
    found = re.search(rf"{figure}:\s+(\d+)", status)
    assert found
    return int(found[1]) * 1024


class BudgetedSender:
    """A connection whose transport records; all bodies are of one budget."""

    def __init__(self, answers: Answers, budget: BodyBudget) -> None:
        self.transport = RecordingTransport()
        self.connection = SenderConnection(answers, Clock(), 60.0, set(), None, budget)
        self.connection.connection_made(self.transport)

    def begin(self, token: str, length: int) -> None:
        head = f"POST /{token} HTTP/1.1\r\nContent-Length: {length}\r\n\r\n"
        self.connection.data_received(head.encode())

    def send(self, length: int) -> None:
        self.connection.data_received(b"x" * length)

    @property
    def is_refused(self) -> bool:
        return any(b" 503 " in sent and b"Retry-After: 1" in sent for sent in self.transport.sent)


async def test_the_largest_body_is_refused_and_a_small_one_goes_on() -> None:
    answers, budget = Answers(), BodyBudget(1000)
    large, small, other = (BudgetedSender(answers, budget) for _ in range(3))
    for sender, token in ((large, "large"), (small, "plain"), (other, "other")):
        sender.begin(token, 5000)
    large.send(900)
    small.send(90)
    assert not large.is_refused
    other.send(20)
    assert large.is_refused
    assert not small.is_refused
    assert "refused large" in answers.notes
    large.send(5000)  # what still comes is not kept
    small.send(890)
    assert [small.is_refused, other.is_refused] == [False, False]
    small.send(100)
    assert [small.is_refused, other.is_refused] == [True, False]


@pytest.mark.parametrize("ends", ["whole", "left"])
async def test_what_a_body_took_is_given_back(ends: str) -> None:
    answers, budget = Answers(), BodyBudget(1000)
    for _ in range(5):
        sender = BudgetedSender(answers, budget)
        sender.begin("plain", 900)
        sender.send(899)
        if ends == "whole":
            sender.send(1)
            assert sender.transport.sent == [b"plain"]
        else:
            sender.connection.connection_lost(None)
    assert budget.refused == 0


async def test_requests_that_wait_behind_an_answer_count_as_well() -> None:
    answers, budget = Answers(), BodyBudget(1000)
    sender = BudgetedSender(answers, budget)
    sender.begin("slow", 0)
    sender.begin("plain", 600)
    sender.send(600)
    sender.begin("half", 600)
    sender.send(500)
    assert answers.notes == ["received slow", "refused plain"]
    answers.ready.set()
    await sender.transport.wait_for_writes(2)
    assert sender.is_refused
    assert answers.notes == ["received slow", "refused plain", "refused half"]


async def test_a_head_has_to_arrive_in_time_as_a_body_has() -> None:
    transport = RecordingTransport()
    connection = SenderConnection(Answers(), Clock(), 0.01, set())
    connection.connection_made(transport)
    connection.data_received(b"POST /plain HTTP/1.1\r\nX-Half: ")
    await transport.wait_for_writes(1)
    assert b"the head did not arrive completely" in transport.sent[0]
    assert transport.closed


async def _send_unfinished(port: int) -> asyncio.StreamWriter:
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    with contextlib.suppress(ConnectionError):
        writer.write(HEAD)
        for _ in range(SENT // 2**16):
            writer.write(b"x" * 2**16)
            await writer.drain()
    return writer


def test_hundreds_of_unfinished_bodies_take_little_and_what_they_took_is_given_back() -> None:
    with receiver("--http", forked=False) as running:
        port = int(running.url.rpartition(":")[2])

        async def flood() -> None:
            writers = await asyncio.gather(*(_send_unfinished(port) for _ in range(CONNECTIONS)))
            answer = await asyncio.to_thread(running.post, "/t", b"a delivery among them")
            assert answer.startswith(b"HTTP/1.1 200 ")
            for writer in writers:
                writer.transport.abort()

        asyncio.run(flood())
        assert memory(running, "VmHWM") < MOST_MEMORY
        _, text = running.call_over_http("GET", "/tokens/unfinished")
        assert json.loads(text)["dropped"] > CONNECTIONS // 2
        assert memory(running, "VmRSS") < MOST_LEFT


def test_large_deliveries_are_in_a_file_and_the_receiver_ends_soon() -> None:
    """360 MiB of deliveries: 64 MiB of them are in memory."""
    with receiver("--http", forked=False) as running:
        body = b"x" * (15 * MIB)
        for _ in range(24):
            assert running.post("/t", body).startswith(b"HTTP/1.1 200 ")
        assert memory(running, "VmHWM") < MOST_MEMORY
        began = time.monotonic()
        running.process.send_signal(signal.SIGTERM)
        running.process.wait(60)
        assert time.monotonic() - began < STOPS_WITHIN_S
