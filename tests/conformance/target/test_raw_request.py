"""Unfinished requests record what was sent and what came back, and always end."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import cast

import pytest

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.target import raw_request
from hookproof.conformance.target.definition import Project
from hookproof.conformance.target.raw_request import is_waiting, unfinished_request

Peer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
PIECE = b"x" * 65_536
REFUSAL = b"HTTP/1.1 413 Too Large\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"


def send_unfinished(
    peer: Peer, *, pieces: int, piece: bytes = PIECE, promised: int = 100, timeout_s: float = 5.0
) -> tuple[Exchange, int]:
    return asyncio.run(
        send_to(peer, pieces=pieces, piece=piece, promised=promised, timeout_s=timeout_s)
    )


async def send_to(
    peer: Peer, *, pieces: int, piece: bytes = PIECE, promised: int, timeout_s: float
) -> tuple[Exchange, int]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await peer(reader, writer)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        return await unfinished_request(
            f"http://127.0.0.1:{port}",
            role="unfinished",
            operation_id="createEndpoint",
            project=Project(id="p1", api_key="key"),
            method="POST",
            target="/endpoints",
            headers=[("Authorization", "Bearer key")],
            promised=promised,
            pieces=_pieces(pieces, piece),
            timeout_s=timeout_s,
        )


async def _pieces(count: int, piece: bytes) -> AsyncIterator[bytes]:
    for _ in range(count):
        yield piece
        await asyncio.sleep(0)  # lets one turn of the loop pass, in which the peer can answer


def test_an_answer_before_the_end_is_recorded_and_stops_the_sending() -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(REFUSAL)
        await reader.read(-1)

    exchange, sent = send_unfinished(refuse, pieces=1000, promised=1000 * len(PIECE))
    assert (exchange.status, exchange.json) == (413, {})
    assert sent < 1000 * len(PIECE)


def test_an_answer_that_takes_its_time_comes_before_the_end() -> None:
    all_but_the_last = 99 * len(PIECE)

    async def refuse_late(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(all_but_the_last)
        writer.write(REFUSAL)
        await reader.read(-1)

    exchange, sent = send_unfinished(refuse_late, pieces=100, promised=100 * len(PIECE))
    assert (exchange.status, sent) == (413, all_but_the_last)


@pytest.mark.parametrize(("kept_back_s", "timeout_s"), [(0.05, 5.0), (3.0, 2.0)])
def test_a_target_that_waits_for_the_end_gets_it(
    monkeypatch: pytest.MonkeyPatch, kept_back_s: float, timeout_s: float
) -> None:
    monkeypatch.setattr(raw_request, "LAST_PIECE_AFTER_S", kept_back_s)

    async def read_all(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(100 * len(PIECE))
        writer.write(REFUSAL)
        await writer.drain()

    exchange, sent = send_unfinished(
        read_all, pieces=100, promised=100 * len(PIECE), timeout_s=timeout_s
    )
    assert (exchange.status, sent) == (413, 100 * len(PIECE))


def test_the_head_promises_more_than_is_sent() -> None:
    heads: list[bytes] = []

    async def read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(REFUSAL)
        await writer.drain()

    exchange, sent = send_unfinished(read, pieces=0)
    assert heads[0].startswith(b"POST /endpoints HTTP/1.1\r\n")
    assert b"Content-Length: 100\r\n" in heads[0]
    assert (exchange.status, exchange.json, sent) == (413, {}, 0)
    assert exchange.request_headers[-1] == ("Content-Length", "100")


def test_a_short_body_is_kept_and_a_long_one_is_not() -> None:
    async def read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(len(PIECE))
        writer.write(REFUSAL)
        await writer.drain()

    async def read_half(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"{")
        writer.write(REFUSAL)
        await writer.drain()

    assert send_unfinished(read, pieces=1, promised=2 * len(PIECE))[0].request_body is None
    assert send_unfinished(read_half, pieces=1, piece=b"{")[0].request_body == b"{"


def test_a_target_that_never_answers_leaves_a_problem() -> None:
    async def wait(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(-1)

    exchange, _ = send_unfinished(wait, pieces=1, timeout_s=0.2)
    assert (exchange.status, exchange.problem) == (None, "TimeoutError")
    assert is_waiting(exchange)


def test_a_target_that_reads_no_more_leaves_a_problem() -> None:
    async def send_through() -> tuple[Exchange, int]:
        ended = asyncio.Event()

        async def stop_reading(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            cast("asyncio.Transport", writer.transport).pause_reading()
            await ended.wait()
            writer.close()

        try:
            async with asyncio.timeout(30):
                return await send_to(stop_reading, pieces=1000, promised=70_000_000, timeout_s=0.2)
        finally:
            ended.set()

    exchange, sent = asyncio.run(send_through())
    assert is_waiting(exchange)
    assert 0 < sent < 1000 * len(PIECE)


def test_what_was_sent_is_counted_although_the_connection_is_reset() -> None:
    async def reset(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(len(PIECE))
        writer.transport.abort()

    exchange, sent = send_unfinished(reset, pieces=2000, promised=2000 * len(PIECE))
    assert exchange.status is None
    assert not is_waiting(exchange)
    assert len(PIECE) <= sent < 2000 * len(PIECE)


def test_a_target_that_closes_the_connection_leaves_a_problem() -> None:
    async def close_unanswered(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")

    exchange, _ = send_unfinished(close_unanswered, pieces=0)
    assert exchange.status is None
    assert exchange.problem is not None


def test_an_answer_that_is_not_http_leaves_a_problem() -> None:
    async def answer_garbage(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"hello\r\n\r\n")
        await writer.drain()

    exchange, _ = send_unfinished(answer_garbage, pieces=0)
    assert (exchange.status, exchange.problem) == (None, "BadStatusLine: hello")
