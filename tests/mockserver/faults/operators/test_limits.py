"""What a rate limit counts, and which numbers it takes for the limit and its duration."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace

from hookproof.mockserver.delivery.scheduling.endpoint_queue import EndpointQueue
from hookproof.mockserver.delivery.store_port import (
    EndpointSettings,
    PendingDelivery,
    SigningSecret,
)
from hookproof.mockserver.faults.operators.generation import find_generated_fault
from hookproof.mockserver.store.database import Database
from hookproof.mockserver.store.deliveries import Deliveries
from hookproof.spec.dialect.reader import load_dialect
from tests.mockserver.delivery.memory_store import settings
from tests.mockserver.store.file_store import add_endpoint, open_database

REFERENCE: Final = load_dialect("reference")
URL: Final = "https://e.invalid/"
LIMITED: Final = settings("e", URL, rate_limit=1, rate_window_s=60.0, project="p")
ROLLED: Final = replace(
    LIMITED, secrets=(*LIMITED.secrets, SigningSecret(value="new", expires_at=None))
)
NEIGHBOUR: Final = replace(LIMITED, uid="n")


def part_of(name: str) -> Any:
    return find_generated_fault(name, REFERENCE).defect.part()


def pending(event_type: str) -> PendingDelivery:
    return PendingDelivery(
        id=1,
        event_uid="event",
        event_type=event_type,
        endpoint_uid="e",
        body=b"{}",
        custom_headers={},
        attempts=0,
        due_at=0.0,
    )


def start(
    queue: EndpointQueue, store: Deliveries, endpoint: EndpointSettings, event_type: str = "a"
) -> bool:
    """Start an attempt; return whether the limit would hold it back."""
    queue.buffer = [pending(event_type)]
    limiter = queue.update_limiter(endpoint, store, lambda: 0.0, 0.0, -1e9)
    assert limiter is not None
    is_held_back = limiter.wait_s(0.0) > 0
    limiter.start((1, 0))
    return is_held_back


# Two attempts, the second of which a limit of one holds back unless it is counted otherwise.
Starts = Callable[[type[EndpointQueue], Deliveries, Database], list[bool]]


def after_another_type(
    part: type[EndpointQueue], store: Deliveries, _database: Database
) -> list[bool]:
    queue = part("e")
    return [start(queue, store, LIMITED), start(queue, store, LIMITED, "b")]


def after_a_roll(part: type[EndpointQueue], store: Deliveries, _database: Database) -> list[bool]:
    queue = part("e")
    return [start(queue, store, LIMITED), start(queue, store, ROLLED)]


def after_a_creation(
    part: type[EndpointQueue], store: Deliveries, database: Database
) -> list[bool]:
    queue = part("e")
    first = start(queue, store, LIMITED)
    add_endpoint(database, URL, uid=part.__name__)
    return [first, start(queue, store, LIMITED)]


def at_a_neighbour(part: type[EndpointQueue], store: Deliveries, _database: Database) -> list[bool]:
    return [start(part("e"), store, LIMITED), start(part("n"), store, NEIGHBOUR)]


@pytest.mark.parametrize(
    ("name", "starts", "is_held_back"),
    [
        ("limit_per_event_type@delivery.limited", after_another_type, False),
        ("limit_reset@delivery.limited:by=roll", after_a_roll, False),
        ("limit_reset@delivery.limited:by=creation", after_a_creation, False),
        ("limit_shared@delivery.limited", at_a_neighbour, True),
    ],
)
def test_a_limit_counts_too_little_or_too_much(
    tmp_path: Path, name: str, starts: Starts, is_held_back: bool
) -> None:
    async def run() -> list[list[bool]]:
        async with open_database(tmp_path) as database:
            store = Deliveries(database, REFERENCE, lambda: 0.0)
            return [starts(part, store, database) for part in (EndpointQueue, part_of(name))]

    right, wrong = asyncio.run(run())
    assert right == [False, not is_held_back]
    assert wrong == [False, is_held_back]


@pytest.mark.parametrize(
    "name",
    [
        "limit_per_event_type@delivery.limited",
        "limit_reset@delivery.limited:by=roll",
        "limit_shared@delivery.limited",
    ],
)
def test_what_has_nothing_else_in_common_is_counted_as_ever(tmp_path: Path, name: str) -> None:
    async def run() -> tuple[list[bool], bool]:
        async with open_database(tmp_path) as database:
            store = Deliveries(database, REFERENCE, lambda: 0.0)
            part = part_of(name)
            queue, stranger = part("e"), replace(LIMITED, uid="s", project="another")
            own = [start(queue, store, LIMITED) for _ in range(2)]
            return own, start(part("s"), store, stranger)

    assert asyncio.run(run()) == ([False, True], False)


def test_a_limit_and_its_duration_are_swapped(tmp_path: Path) -> None:
    async def run() -> tuple[int | None, float]:
        async with open_database(tmp_path) as database:
            add_endpoint(database, URL, rate_limit=3, rate_limit_duration=7)
            part = part_of("limit_swapped@delivery.limited")
            found = part(database, REFERENCE, lambda: 0.0).endpoint("e")
            return found.rate_limit, found.rate_window_s

    assert asyncio.run(run()) == (7, 3.0)
