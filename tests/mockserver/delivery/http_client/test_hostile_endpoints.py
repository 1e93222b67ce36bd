"""Endpoints that misbehave: each attempt ends in time and harms no other endpoint."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

import pytest
import trustme

from hookproof.mockserver.delivery.http_client.http1 import BODY_LIMIT
from hookproof.mockserver.delivery.store_port import AttemptOutcome, DeliveryState, Failure
from tests.mockserver.delivery.endpoints import (
    EndpointRequest,
    LoopbackAuthority,
    always_ok,
    never_answers,
    serving,
)
from tests.mockserver.delivery.engines import PROMPT, dialect, engine
from tests.mockserver.delivery.http_client.misbehaviours import (
    Misbehaviour,
    a_body_until_it_closes,
    a_header_name_beyond_ascii,
    a_second_answer_behind_the_first,
    an_upgrade,
    asks_for_a_pause_of_a_million_years,
    closes_without_an_answer,
    endless_body,
    endless_chunks,
    endless_header,
    endless_interim_answers,
    gzip_bomb,
    header_values_beyond_ascii,
    leads_to_a_private_address,
    not_http,
    one_body_byte_at_a_time,
    one_byte_at_a_time,
    resets_mid_response,
    status_410,
)
from tests.mockserver.delivery.memory_store import MemoryStore, settings

TIMEOUT_S = 1.0  # for responses that end in no other way
ONCE = dialect(retry={**PROMPT, "attempts": 1})


def outcomes_beside_a_healthy_endpoint(
    authority: LoopbackAuthority, misbehaviour: Misbehaviour, **limits: float
) -> list[AttemptOutcome]:
    """Deliver to a bad and a healthy endpoint; return the outcomes at the bad one.

    Asserts that the healthy one gets everything.
    """

    async def run() -> list[AttemptOutcome]:
        store = MemoryStore()
        async with (
            serving(misbehaviour, authority.context()) as bad,
            serving(always_ok, authority.context()) as good,
            engine(store, authority.file, ONCE) as running,
        ):
            store.on_accept = running.wake
            store.endpoints["bad"] = settings("bad", bad.url, **limits)
            store.endpoints["good"] = settings("good", good.url)
            failing = [store.accept("bad") for _ in range(3)]
            healthy = [store.accept("good") for _ in range(20)]
            await store.until_final()
            assert {store.states[delivery] for delivery in healthy} == {DeliveryState.DELIVERED}
            assert bad.arrived
            return [store.outcomes[delivery][0] for delivery in failing]

    return asyncio.run(run())


@pytest.mark.parametrize(
    "misbehaviour", [never_answers, one_byte_at_a_time, one_body_byte_at_a_time]
)
def test_a_response_that_is_not_complete_in_time_is_a_timeout(
    authority: LoopbackAuthority, misbehaviour: Misbehaviour
) -> None:
    for outcome in outcomes_beside_a_healthy_endpoint(
        authority, misbehaviour, http_timeout_s=TIMEOUT_S
    ):
        assert (outcome.failure, outcome.status) == (Failure.TIMEOUT, None)
        assert outcome.detail


@pytest.mark.parametrize(
    ("misbehaviour", "failure"),
    [
        (resets_mid_response, Failure.CONNECTION),
        (closes_without_an_answer, Failure.CONNECTION),
        (endless_interim_answers, Failure.PROTOCOL),
        (endless_header, Failure.PROTOCOL),
        (not_http, Failure.PROTOCOL),
        (a_header_name_beyond_ascii, Failure.PROTOCOL),
    ],
)
def test_an_unusable_response_is_a_failure_with_its_reason(
    authority: LoopbackAuthority, misbehaviour: Misbehaviour, failure: Failure
) -> None:
    for outcome in outcomes_beside_a_healthy_endpoint(authority, misbehaviour):
        assert (outcome.failure, outcome.status) == (failure, None)
        assert outcome.detail


@pytest.mark.parametrize(
    ("misbehaviour", "status"),
    [
        (endless_body, 200),
        (endless_chunks, 200),
        (gzip_bomb, 200),
        (header_values_beyond_ascii, 200),
        (a_body_until_it_closes, 200),
        (a_second_answer_behind_the_first, 200),
        (an_upgrade, 101),
        (status_410, 410),
        (asks_for_a_pause_of_a_million_years, 429),
        (leads_to_a_private_address, 302),
    ],
)
def test_an_unusual_response_counts_by_its_status(
    authority: LoopbackAuthority, misbehaviour: Misbehaviour, status: int
) -> None:
    for outcome in outcomes_beside_a_healthy_endpoint(authority, misbehaviour):
        assert (outcome.status, outcome.failure) == (status, None)


def test_of_a_huge_body_little_more_than_the_limit_is_read(authority: LoopbackAuthority) -> None:
    sent = 0

    async def huge(request: EndpointRequest, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n")
        while True:
            writer.write(b"x" * 65536)
            await writer.drain()
            sent += 65536

    outcomes_beside_a_healthy_endpoint(authority, huge)
    # Three attempts, each with up to 16 MiB in the buffers of the sockets.
    assert sent < 3 * (BODY_LIMIT + 16 * 2**20)


@asynccontextmanager
async def silent_listener(*, accepts: bool) -> AsyncIterator[str]:
    """Open a socket that accepts connections, or leaves that to the kernel, and never answers."""
    writers: list[asyncio.StreamWriter] = []

    async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)

    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    server = await asyncio.start_server(hold, sock=listener) if accepts else None
    try:
        yield f"https://127.0.0.1:{port}/"
    finally:
        if server is not None:
            server.close()
        for writer in writers:
            writer.transport.abort()
            await asyncio.gather(writer.wait_closed(), return_exceptions=True)
        listener.close()


@pytest.mark.parametrize("accepts", [True, False])
async def test_a_half_open_connection_ends_with_the_time_out(
    authority: LoopbackAuthority, accepts: bool
) -> None:
    store = MemoryStore()
    async with (
        silent_listener(accepts=accepts) as url,
        engine(store, authority.file, ONCE) as running,
    ):
        store.on_accept = running.wake
        store.endpoints["e"] = settings("e", url, http_timeout_s=TIMEOUT_S)
        delivery = store.accept("e")
        await store.until_final()
        assert store.outcomes[delivery][0].failure is Failure.TIMEOUT


async def test_a_peer_that_closes_before_it_reads_is_a_failed_connection(
    authority: LoopbackAuthority,
) -> None:
    class ClosesAtOnce(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            cast("asyncio.Transport", transport).abort()

    store = MemoryStore()
    server = await asyncio.get_running_loop().create_server(
        ClosesAtOnce, "127.0.0.1", 0, ssl=authority.context()
    )
    async with server, engine(store, authority.file, ONCE) as running:
        store.on_accept = running.wake
        port = server.sockets[0].getsockname()[1]
        store.endpoints["e"] = settings("e", f"https://127.0.0.1:{port}/")
        deliveries = [store.accept("e") for _ in range(3)]
        await store.until_final()
        failures = {store.outcomes[delivery][0].failure for delivery in deliveries}
        assert failures == {Failure.CONNECTION}


async def test_a_peer_that_stops_reading_a_large_body_ends_with_the_time_out(
    authority: LoopbackAuthority,
) -> None:
    store = MemoryStore()
    stopped = asyncio.Event()

    class NeverReads(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            self.transport = cast("asyncio.Transport", transport)
            self.transport.pause_reading()

        def connection_lost(self, exc: Exception | None) -> None:
            stopped.set()

    protocols: list[NeverReads] = []

    def accept() -> NeverReads:
        protocols.append(NeverReads())
        return protocols[-1]

    server = await asyncio.get_running_loop().create_server(
        accept, "127.0.0.1", 0, ssl=authority.context()
    )
    url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    async with engine(store, authority.file, ONCE) as running:
        store.on_accept = running.wake
        store.endpoints["e"] = settings("e", url, http_timeout_s=TIMEOUT_S)
        delivery = store.accept("e", b'"' + b"x" * 20_000_000 + b'"')
        await store.until_final()
        assert store.outcomes[delivery][0].failure is Failure.TIMEOUT
    server.close()
    for protocol in protocols:
        protocol.transport.abort()
    await asyncio.wait_for(stopped.wait(), 60)


def expired(authority: LoopbackAuthority) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.ca.issue_cert(
        "127.0.0.1", not_after=datetime.now(UTC) - timedelta(days=1)
    ).configure_cert(context)
    return context


def for_another_host(authority: LoopbackAuthority) -> ssl.SSLContext:
    return authority.context("elsewhere.local")


def self_signed(authority: LoopbackAuthority) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    return context


@pytest.mark.parametrize("certificate", [expired, for_another_host, self_signed])
async def test_an_untrusted_certificate_ends_each_attempt_before_anything_is_sent(
    authority: LoopbackAuthority, certificate: Callable[[LoopbackAuthority], ssl.SSLContext]
) -> None:
    store = MemoryStore()
    async with (
        serving(always_ok, certificate(authority)) as endpoint,
        engine(store, authority.file, dialect(retry={**PROMPT, "attempts": 2})) as running,
    ):
        store.on_accept = running.wake
        store.endpoints["e"] = settings("e", endpoint.url)
        delivery = store.accept("e")
        await store.until_final()
        assert [outcome.failure for outcome in store.outcomes[delivery]] == [Failure.TLS] * 2
        assert endpoint.arrived == []


@pytest.mark.parametrize(
    ("url", "failure"),
    [
        ("https://10.0.0.1/", Failure.EGRESS),
        ("https://169.254.169.254/latest", Failure.EGRESS),
        ("https://[::ffff:10.0.0.1]/", Failure.EGRESS),
        ("https://somewhere.invalid/", Failure.EGRESS),
        ("https://127.0.0.1:1/", Failure.CONNECTION),
        ("ftp://127.0.0.1/", Failure.CONFIGURATION),
        ("https:///", Failure.CONFIGURATION),
        ("https://127.0.0.1:99999/", Failure.CONFIGURATION),
        ("https://[::1/", Failure.CONFIGURATION),
        ("https://a\u0000b/", Failure.CONFIGURATION),
        ("https://user@127.0.0.1/", Failure.CONFIGURATION),
        ("https://127.0.0.1@localhost/", Failure.CONFIGURATION),
        ("https://127.0.0.1:0/", Failure.CONFIGURATION),
        ("https://2130706433/", Failure.CONFIGURATION),
        ("https://0x7f.1/", Failure.CONFIGURATION),
        ("", Failure.CONFIGURATION),
    ],
)
async def test_a_url_that_leads_nowhere_is_a_failure_with_its_reason(
    tmp_path: Path, url: str, failure: Failure
) -> None:
    store = MemoryStore()
    async with engine(store, LoopbackAuthority(tmp_path).file, ONCE) as running:
        store.on_accept = running.wake
        store.endpoints["e"] = settings("e", url)
        delivery = store.accept("e")
        await store.until_final()
        assert store.outcomes[delivery][0].failure is failure
