"""All bodies under way share a budget: beyond it the largest are refused, and the rest goes on."""

import asyncio
import contextlib
import json
import re
import signal
import time
from pathlib import Path

import pytest

from hookproof.receiver.clock import Clock
from hookproof.receiver.http.connection import BodyBudget, SenderConnection
from tests.receiver.http.test_sender_connection import Answers, RecordingTransport
from tests.receiver.receiver_process import ReceiverProcess, receiver

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
