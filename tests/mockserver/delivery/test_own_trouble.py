"""What this machine lacks is no failure of an endpoint: deliveries wait, and no attempt counts."""

import asyncio
import errno
import socket
from collections.abc import Sequence
from pathlib import Path

import pytest

from hookproof.mockserver.delivery.http_client.egress import NameResolver
from hookproof.mockserver.delivery.own_trouble import OwnTrouble, is_own_trouble
from hookproof.mockserver.delivery.store_port import DeliveryState, Failure
from tests.mockserver.delivery.endpoints import LoopbackAuthority, always_ok, serving
from tests.mockserver.delivery.engines import PROMPT, dialect, engine, engine_on
from tests.mockserver.delivery.memory_store import MemoryStore, settings
from tests.mockserver.delivery.scenario import running
from tests.mockserver.polling import poll_until
from tests.mockserver.store.file_store import (
    add_endpoint,
    add_events,
    open_database,
    wait_until_drained,
)

TROUBLES = [
    OSError(errno.EMFILE, "Too many open files"),
    OSError(errno.ENFILE, "Too many open files in system"),
    OSError(errno.ENOMEM, "Cannot allocate memory"),
    OSError(errno.ENOSPC, "No space left on device"),
    socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution"),
    MemoryError(),
]
NOT_OURS = [
    OSError(errno.ECONNREFUSED, "Connection refused"),
    OSError(errno.ENETUNREACH, "Network is unreachable"),
    socket.gaierror(socket.EAI_NONAME, "Name or service not known"),
]
# Two attempts would be used up at once.
TWO_ATTEMPTS = dialect(retry={**PROMPT, "attempts": 2})


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OWN_TROUBLE_PAUSE_S", "STORE_PAUSE_S"):
        monkeypatch.setattr(f"hookproof.mockserver.delivery.scheduling.dispatcher.{name}", 0.02)


class TroubledResolver:
    """Raises an error five times, then finds this machine."""

    def __init__(self, error: Exception) -> None:
        self.error = error
        self.left = 5

    async def __call__(self, _name: str) -> Sequence[str]:
        if self.left:
            self.left -= 1
            raise self.error
        return ["127.0.0.1"]


@pytest.mark.parametrize("error", TROUBLES, ids=repr)
@pytest.mark.parametrize(
    "limits", [{}, {"rate_limit": 1, "rate_window_s": 30}], ids=["", "limited"]
)
async def test_a_delivery_waits_for_this_machine_without_an_attempt_that_counts(
    authority: LoopbackAuthority,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
    limits: dict[str, float],
) -> None:
    resolve = TroubledResolver(error)

    async with running(authority, answers=TWO_ATTEMPTS, resolve=resolve) as (store, endpoint):
        port = endpoint.url.rpartition(":")[2]
        store.endpoints["e"] = settings("e", f"https://localhost:{port}/e", **limits)
        number = store.accept("e")
        await store.until_final(timeout_s=20)
        assert store.states[number] is DeliveryState.DELIVERED
        [outcome] = store.outcomes[number]
        assert (outcome.number, outcome.status) == (1, 200)
        assert resolve.left == 0
    told = [record for record in caplog.records if "no attempt counts" in record.message]
    assert len(told) == 1


@pytest.mark.parametrize("error", NOT_OURS, ids=repr)
async def test_what_only_an_endpoint_lacks_uses_up_its_attempts(
    authority: LoopbackAuthority, error: Exception
) -> None:
    async with running(authority, answers=TWO_ATTEMPTS, resolve=TroubledResolver(error)) as (
        store,
        _,
    ):
        store.endpoints["e"] = settings("e", "https://localhost:1/e")
        number = store.accept("e")
        await store.until_final()
        assert store.states[number] is DeliveryState.EXHAUSTED
        assert [each.failure for each in store.outcomes[number]] == [Failure.CONNECTION] * 2


async def test_a_paused_queue_sends_nothing_when_further_events_arrive(
    authority: LoopbackAuthority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "hookproof.mockserver.delivery.scheduling.dispatcher.OWN_TROUBLE_PAUSE_S", 60.0
    )
    resolve = TroubledResolver(TROUBLES[0])

    async with running(authority, resolve=resolve) as (store, endpoint):
        store.endpoints["e"] = settings("e", "https://localhost:1/e")
        store.endpoints["other"] = settings("other", f"{endpoint.url}/other")
        for _ in range(20):
            store.accept("e")
            await store.until_final(store.accept("other"))
        assert resolve.left == 4


async def test_a_look_up_without_a_thread_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_thread: object) -> None:
        raise RuntimeError("can't start new thread")

    resolver = NameResolver()
    monkeypatch.setattr("threading.Thread.start", refuse)
    async with asyncio.timeout(10):
        for _ in range(20):  # more than look-ups run at once
            with pytest.raises(OSError, match="thread") as caught:
                await resolver.addresses("hooks.example.org")
    assert is_own_trouble(caught.value)


async def test_a_visit_is_no_answer_of_the_endpoint_either(authority: LoopbackAuthority) -> None:
    resolve = TroubledResolver(TROUBLES[0])
    async with engine(MemoryStore(), authority.file, resolve=resolve) as running:
        with pytest.raises(OwnTrouble):
            await running.visit("https://localhost:1/", "GET")


async def test_with_a_full_disk_everything_is_sent_once(
    authority: LoopbackAuthority, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Results that cannot be stored are kept, and nothing more is sent until they can."""
    count = 600

    answers = dialect(retry=PROMPT)
    async with (
        serving(always_ok, authority.context()) as endpoint,
        open_database(tmp_path) as database,
    ):
        add_endpoint(database, endpoint.url)
        add_events(database, count)
        (pages,) = database.read("PRAGMA page_count").fetchone()
        database.read(f"PRAGMA max_page_count = {pages}")
        running = engine_on(database, answers, authority.file)
        await running.start()

        async def is_logged_often() -> bool:
            return len(caplog.records) > 5

        await poll_until(is_logged_often)
        sent = len(endpoint.arrived)
        assert sent < count
        database.read(f"PRAGMA max_page_count = {pages + 1000}")
        await wait_until_drained(database)
        await running.stop(5.0)
        assert len(endpoint.arrived) == count
        states = database.read("SELECT DISTINCT state, attempts FROM deliveries").fetchall()
        assert states == [("delivered", 1)]
