"""The whole engine: start, stop and visit, and its signatures verified by the receiver."""

import asyncio
import contextlib
import json
import os
import ssl
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from hookproof.mockserver.delivery.engine import EngineDispatch
from hookproof.mockserver.delivery.store_port import DeliveryState, SigningSecret
from hookproof.receiver.client.control_api import ReceiverClient
from hookproof.receiver.signatures.verification import Verified, verify
from hookproof.spec.dialect.reader import load_dialect
from tests.mockserver.delivery.endpoints import (
    OK,
    EndpointRequest,
    LoopbackAuthority,
    always_ok,
    answering,
    never_answers,
    reply,
    serving,
)
from tests.mockserver.delivery.engines import dialect, engine
from tests.mockserver.delivery.memory_store import MemoryStore, settings
from tests.source_tree import ROOT
from tests.spec.dialect_variants import ANSWERED


async def test_what_is_pending_at_the_start_is_delivered(authority: LoopbackAuthority) -> None:
    store = MemoryStore()
    async with serving(always_ok, authority.context()) as endpoint:
        store.endpoints["e"] = settings("e", endpoint.url)
        for _ in range(3):
            store.accept("e")
        async with engine(store, authority.file):
            await store.until_final()
        assert len(endpoint.arrived) == 3


async def test_a_stop_lets_what_is_under_way_finish(authority: LoopbackAuthority) -> None:
    store, release = MemoryStore(), asyncio.Event()

    async def answers_late(request: EndpointRequest, writer: asyncio.StreamWriter) -> None:
        # The engine stops as soon as the request arrives, so that it is waiting by then.
        asyncio.get_running_loop().call_later(0.1, release.set)
        await release.wait()
        writer.write(OK)

    async with serving(answers_late, authority.context()) as endpoint:
        store.endpoints["e"] = settings("e", endpoint.url)
        first, second = store.accept("e"), store.accept("e")
        async with engine(store, authority.file, grace_s=10):
            await endpoint.wait_for_requests(1)
        assert store.states == {first: DeliveryState.DELIVERED, second: DeliveryState.PENDING}


async def test_what_does_not_finish_in_time_is_delivered_by_the_next_engine(
    authority: LoopbackAuthority,
) -> None:
    store = MemoryStore()
    hangs = True

    async def hangs_at_first(request: EndpointRequest, writer: asyncio.StreamWriter) -> None:
        if hangs:
            await asyncio.Event().wait()
        writer.write(OK)

    async with serving(hangs_at_first, authority.context()) as endpoint:
        store.endpoints["e"] = settings("e", endpoint.url)
        delivery = store.accept("e")
        async with engine(store, authority.file):
            await endpoint.wait_for_requests(1)
        assert store.states[delivery] is DeliveryState.PENDING
        assert delivery not in store.outcomes
        hangs = False
        async with engine(store, authority.file):
            await store.until_final()


async def test_a_stop_during_a_handshake_leaves_nothing_open(authority: LoopbackAuthority) -> None:
    store = MemoryStore()
    connected = asyncio.Event()
    closed = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connected.set()
        with contextlib.suppress(ConnectionError):
            while await reader.read(1000):
                pass
        writer.transport.abort()
        closed.set()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    store.endpoints["e"] = settings("e", f"https://127.0.0.1:{port}/")
    store.accept("e")
    async with engine(store, authority.file):
        await connected.wait()
    await asyncio.wait_for(closed.wait(), 60)
    server.close()


@pytest.mark.parametrize("method", ["HEAD", "GET"])
async def test_a_visit_is_a_bare_request_and_returns_the_status(
    authority: LoopbackAuthority, method: str
) -> None:
    store = MemoryStore()
    answer = b"HTTP/1.1 404 None\r\nContent-Length: 5\r\n\r\n" + (
        b"" if method == "HEAD" else b"12345"
    )
    async with (
        serving(answering(answer), authority.context()) as endpoint,
        engine(store, authority.file) as running,
    ):
        assert await running.visit(f"{endpoint.url}/a?b=1", method) == 404
        [request] = endpoint.arrived
        assert (request.method, request.target, request.body) == (method, "/a?b=1", b"")
        assert [name for name, _ in request.headers] == ["Host"]


@pytest.mark.parametrize(
    "url", ["https://10.0.0.1/", "https://a.invalid/", "https://127.0.0.1:1/", "nonsense"]
)
async def test_a_visit_without_a_response_returns_none(
    authority: LoopbackAuthority, url: str
) -> None:
    async with engine(MemoryStore(), authority.file) as running:
        assert await running.visit(url, "HEAD") is None


async def test_a_visit_is_bounded_by_the_default_time_out(authority: LoopbackAuthority) -> None:
    answers = dialect(delivery={"default_timeout_s": 1})
    async with (
        serving(never_answers, authority.context()) as endpoint,
        engine(MemoryStore(), authority.file, answers) as running,
    ):
        assert await asyncio.wait_for(running.visit(endpoint.url, "GET"), 60) is None


async def test_a_name_that_changes_its_address_is_connected_to_where_it_was_checked(
    authority: LoopbackAuthority,
) -> None:
    """The first lookup returns loopback, every further one a closed address."""
    lookups: list[str] = []

    async def flips(name: str) -> Sequence[str]:
        lookups.append(name)
        return ["127.0.0.1"] if len(lookups) == 1 else ["10.0.0.1"]

    store = MemoryStore()
    answers = dialect(retry={"attempts": 1})
    async with (
        serving(
            answering(reply(200, "Connection: close")), authority.context("flips.local")
        ) as endpoint,
        engine(store, authority.file, answers, resolve=flips) as running,
    ):
        store.on_accept = running.wake
        store.endpoints["e"] = settings("e", endpoint.url.replace("127.0.0.1", "flips.local"))
        first = store.accept("e")
        await store.until_final()
        assert store.states[first] is DeliveryState.DELIVERED
        assert lookups == ["flips.local"]
        second = store.accept("e")
        await store.until_final()
        assert store.outcomes[second][0].failure == "egress"
        assert len(endpoint.arrived) == 1


async def test_an_unreadable_authority_file_raises(tmp_path: Path) -> None:
    broken = tmp_path / "broken.pem"
    broken.write_text("no certificate")

    with pytest.raises((OSError, ssl.SSLError)):
        async with engine(MemoryStore(), broken):
            pass


@asynccontextmanager
async def run_receiver() -> AsyncIterator[tuple[ReceiverClient, Path]]:
    """Run the receiver of the project as a process."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "hookproof", "receive", "--json", "--until-stdin-closes"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        ready = json.loads(await asyncio.wait_for(process.stdout.readline(), 60))
        async with ReceiverClient(ready["control"]) as client:
            yield client, Path(ready["ca"])
    finally:
        process.stdin.close()
        await asyncio.wait_for(process.wait(), 60)


@pytest.mark.parametrize("dialect_name", ANSWERED)
async def test_the_receiver_verifies_every_signature_of_a_roll(dialect_name: str) -> None:
    answers = load_dialect(dialect_name)
    rules = answers.signatures.secret
    texts = [
        f"{rules.prefix}c2VjcmV0IG9mIHRoZSBlbmRwb2ludA==",
        f"{rules.prefix}dGhlIG5ld2VyIHNlY3JldCBvZiBpdA==",
    ]
    secrets = (
        SigningSecret(value=texts[0], expires_at=4e9),
        SigningSecret(value=texts[1], expires_at=None),
    )

    store = MemoryStore()
    async with run_receiver() as (client, ca_file), engine(store, ca_file, answers) as running:
        store.on_accept = running.wake
        for advanced in (False, True):
            token = await client.new_token()
            uid = str(advanced)
            store.endpoints[uid] = settings(
                uid, token.url, secrets=secrets, advanced_signatures=advanced
            )
            store.accept(uid, '{"ü": 1.0}'.encode())
            [arrived] = await client.deliveries(token.token, 1)
            scheme = answers.signatures.scheme(advanced=advanced)
            id_header = answers.delivery.event_id_header
            outcome = verify(
                scheme,
                rules,
                texts,
                arrived.headers,
                id_header,
                arrived.body,
                arrived.arrived_at,
            )
            assert isinstance(outcome, Verified), outcome
            assert arrived.body == '{"ü": 1.0}'.encode()
        await store.until_final()


class ScriptedEngine:
    """Answers visits with a status for each method, and keeps the methods."""

    def __init__(self, statuses: Mapping[str, int | None]) -> None:
        self._statuses = statuses
        self.visited: list[str] = []

    async def visit(self, _url: str, method: str) -> int | None:
        self.visited.append(method)
        return self._statuses[method]

    async def stop(self, _grace_s: float) -> None:
        return


@pytest.mark.parametrize(
    ("statuses", "visited"),
    [
        ({"HEAD": 204}, ["HEAD"]),
        ({"HEAD": 405, "GET": 200}, ["HEAD", "GET"]),
        ({"HEAD": None, "GET": 301, "POST": 500}, ["HEAD", "GET", "POST"]),
    ],
)
async def test_further_methods_are_tried_until_one_succeeds(
    statuses: dict[str, int | None], visited: list[str]
) -> None:
    engine: Any = ScriptedEngine(statuses)

    dispatch = EngineDispatch(engine)
    dispatch.visit("https://receiver.invalid/", "HEAD", "GET", "POST")
    await asyncio.gather(*dispatch._visits)
    await dispatch.stop(0)
    assert engine.visited == visited


@pytest.mark.parametrize(
    ("statuses", "answered"),
    [({"HEAD": 405, "GET": 200}, True), ({"HEAD": 500, "GET": None}, False)],
)
def test_whether_a_url_answers_is_known_before_an_endpoint_is_created(
    statuses: dict[str, int | None], *, answered: bool
) -> None:
    engine: Any = ScriptedEngine(statuses)
    dispatch = EngineDispatch(engine)
    visit = dispatch.is_answered("https://receiver.invalid/", "HEAD", "GET")
    assert asyncio.run(visit) is answered
