"""Waiting for a server that is being started."""

import asyncio
import ssl
import threading
import time

import pytest
import trustme

from hookproof.target.connection import DIRECT, ApiConnection
from hookproof.target.first_answer import wait_for_answer
from tests.conformance.scripted_target import closed_port, response, stand_in

PATIENCE_S = 60.0


def waited_s(url: str, timeout_s: float, connection: ApiConnection = DIRECT) -> float:
    started = time.monotonic()
    asyncio.run(wait_for_answer(url, connection, timeout_s))
    return time.monotonic() - started


@pytest.mark.parametrize("status", [200, 302, 401, 404, 500])
def test_any_answer_of_the_server_ends_the_wait(status: int) -> None:
    with stand_in(lambda _head: response(status)) as url:
        assert waited_s(url, PATIENCE_S) < PATIENCE_S / 2


def test_what_a_proxy_answers_for_a_server_that_is_not_there_does_not_end_it() -> None:
    answers = iter([None, response(502), response(503), response(504)])
    requests: list[bytes] = []

    def starting(head: bytes) -> bytes | None:
        requests.append(head)
        return next(answers, response(401))

    with stand_in(starting) as url:
        assert waited_s(url, PATIENCE_S) < PATIENCE_S / 2
    assert len(requests) == 5


def test_a_request_has_the_headers_of_the_target_file_and_no_key() -> None:
    heads: list[bytes] = []

    def noting(head: bytes) -> bytes:
        heads.append(head)
        return response(200)

    with stand_in(noting) as url:
        waited_s(url, PATIENCE_S, ApiConnection(headers=(("X-Tenant", "blue"),)))
    assert b"X-Tenant: blue" in heads[0]
    assert b"Authorization" not in heads[0]


def test_the_wait_for_a_closed_port_ends_with_its_time() -> None:
    with closed_port() as url:
        assert 0.3 <= waited_s(url, 0.3) < PATIENCE_S / 2


def test_the_wait_for_a_silent_server_ends_with_its_time() -> None:
    over = threading.Event()

    def silent(_head: bytes) -> None:
        over.wait(PATIENCE_S)

    with stand_in(silent) as url:
        assert 0.3 <= waited_s(url, 0.3) < PATIENCE_S / 2
        over.set()


async def test_a_certificate_that_is_not_trusted_ends_it() -> None:
    """The call that follows says what is wrong with it."""
    server_tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(server_tls)

    server = await asyncio.start_server(_close, "127.0.0.1", 0, ssl=server_tls)
    async with server:
        port = server.sockets[0].getsockname()[1]
        started = time.monotonic()
        await wait_for_answer(f"https://127.0.0.1:{port}", DIRECT, PATIENCE_S)
        result = time.monotonic() - started
    assert result < PATIENCE_S / 2


def _close(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.close()
