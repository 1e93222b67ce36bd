"""Which broadcasts are duplicates of each other."""

import asyncio
from types import SimpleNamespace
from typing import Any, Final

import pytest

from hookproof.mockserver.faults.operators.kinds.deliveries import duplicates
from hookproof.spec.dialect.reader import load_dialect
from tests.mockserver.faults.operators.delivery_scenario import generated
from tests.mockserver.running_server import Server, run_server

REFERENCE: Final = load_dialect("reference")
AT_KEYS: Final = "createBroadcastEvent.compared.idempotency_key"
KEY: Final = "A key-of 32 characters, and more."
# Broadcasts after that of KEY: the key, the event_type, the project; only the first is a duplicate.
BROADCASTS: Final = {
    "same": (KEY, "t", "one"),
    "trimmed": (f" {KEY} ", "t", "one"),
    "any_case": (KEY.upper(), "t", "one"),
    "start": (f"{KEY[:32]} but another end", "t", "one"),
    "letters": (KEY.replace("-", "+"), "t", "one"),
    "type": (KEY, "u", "one"),
    "project": (KEY, "t", "two"),
}
CLEAN: Final = {"same", "type"}


async def post(server: Server, key: str, event_type: str, project: str) -> Any:
    response = await server.call(
        "createBroadcastEvent",
        body={"event_type": event_type, "data": {}, "idempotency_key": key},
        project=project,
        key=f"key-{project}",
    )
    assert response.data["idempotency_key"] == key
    return response.data["is_duplicate_event"]


def duplicates_of_a_key(name: str) -> set[str]:
    """Which of the broadcasts a server takes for duplicates; each is sent to a new one."""

    async def run() -> set[str]:
        found = set()
        for word, broadcast in BROADCASTS.items():
            async with run_server(faults=generated(name, REFERENCE)) as server:
                assert await post(server, KEY, "t", "one") is False
                if await post(server, *broadcast):
                    found.add(word)
        return found

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("name", "further"),
    [
        ("", set()),
        *((f"key_compared_loosely@{AT_KEYS}:how={how}", {how}) for how in ("trimmed", "any_case")),
        (f"key_compared_loosely@{AT_KEYS}:how=start", {"start"}),
        (f"key_compared_loosely@{AT_KEYS}:how=letters", {"letters", "trimmed"}),
        (f"key_of_another_project@{AT_KEYS}", {"project"}),
        (f"key_kept_for_seconds@{AT_KEYS}:seconds=60", set()),
    ],
)
def test_keys_that_are_alike_make_duplicates(name: str, further: set[str]) -> None:
    assert duplicates_of_a_key(name) == CLEAN | further


def test_a_key_counts_for_one_type_alone() -> None:
    assert duplicates_of_a_key(f"key_compared_by_type@{AT_KEYS}") == {"same"}


def test_a_key_is_forgotten_after_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter((0.0, 4.0, 4.9, 5.0, 9.0, 10.0))
    monkeypatch.setattr(duplicates, "time", SimpleNamespace(monotonic=lambda: next(times)))

    async def run() -> list[bool]:
        name = f"key_kept_for_seconds@{AT_KEYS}:seconds=5"
        async with run_server(faults=generated(name, REFERENCE)) as server:
            return [await post(server, KEY, "t", "one") for _ in range(6)]

    assert asyncio.run(run()) == [False, True, True, False, True, False]
