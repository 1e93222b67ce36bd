"""A replay sends what arrived, byte for byte, and reports every failure in one line."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from hookproof.receiver.clock import Clock
from hookproof.receiver.dashboard.replay import (
    MOST_ANSWER_BYTES,
    SHOWN_ANSWER,
    ReplayAnswer,
    Replayer,
    request_bytes,
)
from hookproof.receiver.dashboard.replay_target import THIS_MACHINE, ReplayRefused, ReplayTarget
from hookproof.receiver.http.authority import Authority
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from tests.receiver.dashboard.delivery_fixtures import make_delivery

Behaviour = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


def replay_to(
    sent: ReceivedDelivery,
    behaviour: Behaviour,
    *,
    url: str = "http://127.0.0.1:{port}/elsewhere?a=b",
    authority: Authority | None = None,
    timeout_s: float = 30.0,
) -> ReplayAnswer:
    """Replay to a server with this behaviour."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await behaviour(reader, writer)
        except ConnectionError:
            pass
        finally:
            writer.close()

    async def run() -> ReplayAnswer:
        tls = authority.server_context("somewhere.example") if authority else None
        server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
        async with server:
            port = server.sockets[0].getsockname()[1]
            replayer = Replayer(allowance=THIS_MACHINE, clock=Clock(), timeout_s=timeout_s)
            return await replayer.replay(sent, url.format(port=port))

    return asyncio.run(run())


def answering(*pieces: bytes) -> Behaviour:
    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        for piece in pieces:
            writer.write(piece)
            await writer.drain()

    return behave


def test_the_same_method_headers_and_body_arrive_in_the_same_order_and_case() -> None:
    seen = b""
    body = bytes(range(256)) * 2000

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal seen
        head = await reader.readuntil(b"\r\n\r\n")
        seen = head + await reader.readexactly(len(body))
        writer.write(OK)

    headers = (
        ("hOST", "hooks.example:8443"),
        ("X-Second", "b"),
        ("x-first", "a"),
        ("X-Second", "caf\xe9"),
        ("Transfer-Encoding", "chunked"),
        ("Expect", "100-continue"),
    )
    answer = replay_to(
        make_delivery(method="PATCH", headers=headers, body=body),
        behave,
        url="http://127.0.0.1:{port}/b?c=d",
    )
    head, _, sent = seen.partition(b"\r\n\r\n")
    host = answer.address.replace(" port ", ":").encode()
    assert head.split(b"\r\n") == [
        b"PATCH /b?c=d HTTP/1.1",
        b"hOST: " + host,
        b"X-Second: b",
        b"x-first: a",
        b"X-Second: caf\xe9",
        b"Content-Length: 512000",
        b"Connection: close",
    ]
    assert sent == body


def test_a_request_without_a_body_gets_none() -> None:
    sent = make_delivery(method="GET", headers=(("Host", "x"),), body=b"")
    assert request_bytes(sent, ReplayTarget.parse("http://127.0.0.1/a")) == (
        b"GET /a HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    )


def test_the_answer_is_reported() -> None:
    answer = replay_to(
        make_delivery(),
        answering(b"HTTP/1.1 418 Teapot\r\nX-A: b\r\nContent-Length: 5\r\n\r\nshort and stout"),
    )
    assert (answer.status, answer.headers, answer.body) == (
        418,
        (("X-A", "b"), ("Content-Length", "5")),
        b"short",
    )
    assert answer.took_ms >= 0


def test_interim_answers_are_skipped() -> None:
    interim = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
    answer = replay_to(
        make_delivery(), answering(interim, b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok")
    )
    assert (answer.status, answer.headers, answer.body) == (201, (("Content-Length", "2"),), b"ok")


def test_a_redirect_is_reported_and_not_followed() -> None:
    redirect = b"HTTP/1.1 302 Found\r\nLocation: http://10.0.0.1/\r\nContent-Length: 0\r\n\r\n"
    assert replay_to(make_delivery(), answering(redirect)).status == 302


def test_the_answer_to_head_has_no_body_to_wait_for() -> None:
    answer = replay_to(
        make_delivery(method="HEAD", body=b""),
        answering(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"),
    )
    assert (answer.status, answer.body) == (200, b"")


def test_an_endless_answer_is_shown_from_its_beginning() -> None:
    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b"x" * 65536)
            await writer.drain()

    assert replay_to(make_delivery(), behave).body == b"x" * SHOWN_ANSWER


def test_endless_headers_are_abandoned() -> None:
    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n{}")
        writer.write(b"HTTP/1.1 200 OK\r\n")
        for _ in range(2 * MOST_ANSWER_BYTES // 65536):
            writer.write(b"X: " + b"y" * 65533 + b"\r\n")
            await writer.drain()

    with pytest.raises(ReplayRefused, match="did not answer in HTTP"):
        replay_to(make_delivery(), behave)


@pytest.mark.parametrize("answer", [b"", b"SSH-2.0-x\r\n", b"HTTP/1.1 20", b"\x00" * 100])
def test_what_is_not_http_is_reported(answer: bytes) -> None:
    with pytest.raises(ReplayRefused, match=r"127\.0\.0\.1:\d+ did not answer in HTTP"):
        replay_to(make_delivery(), answering(answer))


def test_an_answer_that_does_not_come_is_abandoned() -> None:
    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    with pytest.raises(ReplayRefused, match=r"did not answer within 0\.05 s"):
        replay_to(make_delivery(), behave, timeout_s=0.05)


def test_a_port_where_nobody_listens_is_reported() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        with pytest.raises(ReplayRefused, match=r"cannot be reached: \w+"):
            replay_to(make_delivery(), answering(OK), url=f"http://127.0.0.1:{port}/")


def test_a_server_on_this_machine_may_have_any_certificate(tmp_path: Path) -> None:
    authority = Authority(tmp_path, ["somewhere.example"])
    answer = replay_to(
        make_delivery(), answering(OK), url="https://127.0.0.1:{port}/", authority=authority
    )
    assert answer.status == 200


def test_a_connect_and_a_broken_header_are_refused() -> None:
    target = ReplayTarget.parse("http://127.0.0.1/")
    with pytest.raises(ReplayRefused, match="CONNECT"):
        request_bytes(make_delivery(method="CONNECT"), target)
    for broken in ("a\r\nX: y", "a\nb", "a\0b"):
        with pytest.raises(ReplayRefused, match="line break"):
            request_bytes(make_delivery(headers=(("X", broken),)), target)
