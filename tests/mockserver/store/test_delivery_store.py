"""The engine's view of the real store is never stale, and its writes concern no other delivery."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from hookproof.mockserver.delivery.store_port import (
    AttemptOutcome,
    DeliveryState,
    EndpointSettings,
    Failure,
    PendingDelivery,
    Record,
    Start,
)
from hookproof.mockserver.store.database import Database
from hookproof.mockserver.store.deliveries import UNLIMITED_S, Deliveries, DeliveryJournal
from hookproof.mockserver.store.endpoints import EndpointTable, StoredSecret
from hookproof.spec.dialect.model import Dialect
from tests.mockserver.delivery.engines import dialect
from tests.mockserver.store.file_store import add_endpoint, add_events, open_database
from tests.spec.dialect_variants import UNDECIDED

URL = "https://receiver.invalid/"
MOVE_TO_ANOTHER_URL = (
    "UPDATE endpoints"
    " SET document = CAST(json_set(document, '$.url', 'https://other.invalid/') AS BLOB)"
)


@asynccontextmanager
async def open_store(
    folder: Path, answers: Dialect | None = None
) -> AsyncIterator[tuple[Database, Deliveries]]:
    """A database, and the engine's view of it."""
    async with open_database(folder) as database:
        yield database, Deliveries(database, answers or dialect(), time.time)


def settings(deliveries: Deliveries, uid: str = "e") -> EndpointSettings:
    endpoint = deliveries.endpoint(uid)
    assert endpoint is not None
    return endpoint


def record(delivery: PendingDelivery, number: int | None, state: DeliveryState) -> Record:
    failure = Failure.ENDPOINT if number is None else None
    outcome = AttemptOutcome(
        number=number, started_at=1.0, finished_at=2.0, status=None, failure=failure, detail=""
    )
    return Record(delivery, outcome, state, 3.0 if state is DeliveryState.PENDING else None)


async def test_a_rolled_secret_counts_at_once_and_a_roll_that_was_undone_never(
    tmp_path: Path,
) -> None:
    async with open_store(tmp_path) as (database, deliveries):
        seq = add_endpoint(database, URL)
        database.commit()
        for value in ("second", "third"):
            EndpointTable(database).roll(
                seq,
                [StoredSecret(uid="s", value=value, created_at="", updated_at="")],
                updated_at="",
            )
            assert [secret.value for secret in settings(deliveries).secrets] == [value]
            if value == "second":
                database.commit()
        database.roll_back(RuntimeError("no"))
        assert [secret.value for secret in settings(deliveries).secrets] == ["second"]


async def test_settings_are_never_stale_whichever_method_changes_the_endpoint(
    tmp_path: Path,
) -> None:
    async with open_store(tmp_path) as (database, deliveries):
        add_endpoint(database, URL)
        assert settings(deliveries).receives
        assert deliveries.deactivate("e")
        assert not settings(deliveries).receives
        database.write(MOVE_TO_ANOTHER_URL)
        assert settings(deliveries).url == "https://other.invalid/"
        database.clear()
        assert deliveries.endpoint("e") is None


async def test_settings_are_parsed_once_for_as_long_as_the_endpoint_stays_as_it_is(
    tmp_path: Path,
) -> None:
    async with open_store(tmp_path) as (database, deliveries):
        add_endpoint(database, URL)
        add_endpoint(database, URL, uid="another")
        unchanged, other = settings(deliveries), settings(deliveries, "another")
        database.write(f"{MOVE_TO_ANOTHER_URL} WHERE uid = 'another'")
        assert settings(deliveries) is unchanged
        assert settings(deliveries, "another") is not other


@pytest.mark.parametrize(
    "zero", [{"rate_limit": 0}, {"rate_limit": 5, "rate_limit_duration": 0}], ids=str
)
async def test_a_rate_limit_or_a_duration_of_zero_limits_nothing(
    zero: dict[str, int], tmp_path: Path
) -> None:
    async with open_store(tmp_path) as (database, deliveries):
        add_endpoint(database, URL, **zero)
        assert settings(deliveries).rate_limit is None


@pytest.mark.parametrize(
    ("meaning", "timeout_s"),
    [("default", 30), ("unlimited", UNLIMITED_S), ("immediate", 0), (UNDECIDED, 0)],
    ids=["default", "unlimited", "immediate", "undecided"],
)
async def test_a_timeout_of_zero_means_what_the_dialect_says(
    meaning: Any, timeout_s: float, tmp_path: Path
) -> None:
    async with open_store(tmp_path, dialect(delivery={"zero_http_timeout": meaning})) as (
        database,
        deliveries,
    ):
        add_endpoint(database, URL, http_timeout=0)
        assert settings(deliveries).http_timeout_s == timeout_s


async def test_an_attempt_that_outlives_a_reset_meets_no_delivery_that_was_accepted_after_it(
    tmp_path: Path,
) -> None:
    async with open_store(tmp_path) as (database, deliveries):
        add_endpoint(database, URL)
        add_events(database, 1)
        [under_way] = deliveries.pending("e", 2)
        database.clear()
        add_endpoint(database, URL)
        add_events(database, 1)
        deliveries.record([record(under_way, 1, DeliveryState.DELIVERED)])
        [waiting] = deliveries.pending("e", 2)
        assert waiting.attempts == 0
        assert DeliveryJournal(database).entries({})[0]["attempts"] == []


async def test_the_journal_shows_attempts_in_their_order_and_the_end_of_a_delivery_without_one(
    tmp_path: Path,
) -> None:
    async with open_store(tmp_path) as (database, deliveries):
        add_endpoint(database, URL)
        add_events(database, 2)
        for number in (1, 2):
            deliveries.record(
                [
                    record(delivery, number, DeliveryState.PENDING)
                    for delivery in deliveries.pending("e", 3)
                ]
            )
        deliveries.record(
            [
                record(delivery, None, DeliveryState.DISCARDED)
                for delivery in deliveries.pending("e", 3)
            ]
        )
        numbers = [
            [attempt["number"] for attempt in entry["attempts"]]
            for entry in DeliveryJournal(database).entries({})
        ]
        assert numbers == [[1, 2, None], [1, 2, None]]


async def test_starts_outlive_the_process_and_are_those_of_their_endpoint(tmp_path: Path) -> None:
    async with open_store(tmp_path) as (database, deliveries):
        for uid in ("e", "another"):
            add_endpoint(database, URL, uid=uid)
        add_events(database, 2)
        assert not deliveries.holds_starts()
        first, second = deliveries.pending("e", 3)
        [other, _] = deliveries.pending("another", 3)
        deliveries.record_starts(
            [Start(second, 12.5, 99.0), Start(first, 11.5, 99.0), Start(other, 12.5, 99.0)]
        )
        deliveries.record_starts([Start(first, 10.5, 99.0), Start(first, 12.5, 99.0)])
    async with open_store(tmp_path) as (_, deliveries):
        assert deliveries.holds_starts()
        assert deliveries.recent_starts("e", 11.0) == [11.5, 12.5, 12.5]
        assert deliveries.recent_starts("another", 11.0) == [12.5]


async def test_starts_that_count_no_more_are_deleted_now_and_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hookproof.mockserver.store.deliveries._FEW_STARTS", 10)

    async with open_store(tmp_path) as (database, deliveries):
        add_endpoint(database, URL)
        add_events(database, 1)
        [delivery] = deliveries.pending("e", 2)
        now = time.time()
        for number in range(11):
            counts_until = now + 3600 if number < 3 else now - 1
            deliveries.record_starts([Start(delivery, now + number, counts_until)])
        assert deliveries.recent_starts("e", 0) == [now, now + 1, now + 2]
