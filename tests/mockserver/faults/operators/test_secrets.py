"""Which secrets sign after so many rolls, and until when."""

import asyncio
import json
import sqlite3
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace

from hookproof.mockserver.delivery.attempt.signing import Signer
from hookproof.mockserver.delivery.store_port import EndpointSettings, SigningSecret
from hookproof.mockserver.faults.operators.generation import find_generated_fault
from hookproof.mockserver.store.endpoints import EndpointTable, StoredSecret
from hookproof.spec.dialect.reader import load_dialect
from tests.mockserver.delivery.memory_store import settings
from tests.mockserver.faults.operators.delivery_scenario import generated
from tests.mockserver.running_server import run_server
from tests.mockserver.store.file_store import add_endpoint, open_database

REFERENCE: Final = load_dialect("reference")
CONTRARY: Final = load_dialect("contrary")
NOON: Final = 1_772_582_400.0
EXPIRED: Final = NOON - 1


def part_of(name: str) -> Any:
    return find_generated_fault(name, REFERENCE).defect.part()


def rolled(times: int, *, ends: float = NOON + 60) -> EndpointSettings:
    """An endpoint with the advanced format that was rolled so many times."""
    old = [SigningSecret(value=f"secret {number}", expires_at=ends) for number in range(times)]
    newest = SigningSecret(value="newest", expires_at=None)
    endpoint = settings("e", "https://e.invalid/", advanced_signatures=True)
    return replace(endpoint, secrets=(*old, newest))


def valid(name: str, endpoint: EndpointSettings) -> list[str]:
    signer: Signer = part_of(name)(REFERENCE)
    return list(signer.valid_secrets(endpoint, NOON))


@pytest.mark.parametrize(
    ("endpoint", "signing"),
    [
        (rolled(2), ["secret 0", "secret 1"]),
        (rolled(2, ends=EXPIRED), ["secret 1"]),
        (rolled(1), ["secret 0", "newest"]),
        (rolled(3), ["secret 0", "secret 1", "secret 2", "newest"]),
        (replace(rolled(2), advanced_signatures=False), ["secret 0", "secret 1", "newest"]),
    ],
)
def test_the_newest_secret_is_unused_after_two_rolls(
    endpoint: EndpointSettings, signing: list[str]
) -> None:
    assert valid("newest_secret_unused@delivery.signing.advanced.roll_2", endpoint) == signing


@pytest.mark.parametrize(
    ("endpoint", "signing"),
    [
        (rolled(2), ["secret 0", "secret 1", "secret 1"]),
        (rolled(2, ends=EXPIRED), ["newest"]),
        (rolled(1), ["secret 0", "newest"]),
    ],
)
def test_an_old_secret_signs_as_the_newest_after_two_rolls(
    endpoint: EndpointSettings, signing: list[str]
) -> None:
    assert valid("old_secret_as_new@delivery.signing.advanced.roll_2", endpoint) == signing


@pytest.mark.parametrize(("which", "value"), [("next", "d"), ("previous", "b"), ("first", "a")])
def test_another_endpoints_secret_signs_after_a_roll(
    tmp_path: Path, which: str, value: str
) -> None:
    def stored(*values: str) -> list[StoredSecret]:
        return [
            StoredSecret(uid=value, value=value, created_at="", updated_at="") for value in values
        ]

    async def signing(roll: int) -> list[str]:
        async with open_database(tmp_path) as database:
            for uid in "abcd":
                seq = add_endpoint(database, "https://e.invalid/", uid=f"{roll}{uid}")
                secrets = stored("old", "c") if uid == "c" else stored(uid)
                EndpointTable(database).roll(seq, secrets, updated_at="")
            name = f"secret_of_another@delivery.signing.simple.roll_{roll}:which={which}"
            found = part_of(name)(database, REFERENCE, lambda: NOON).endpoint(f"{roll}c")
            return [secret.value for secret in found.secrets]

    assert asyncio.run(signing(2)) == ["old", "c"]
    tmp_path.joinpath("hookproof.db").unlink()
    assert asyncio.run(signing(1)) == [value]


def ends_after(name: str, folder: Path, rolls: int, *, advanced: bool = True) -> list[float]:
    """How long after noon each old secret ends, after rolls with 100, 200, ... seconds."""
    path = folder / "server.db"

    async def run() -> None:
        async with run_server(
            faults=generated(name, REFERENCE), path=str(path), clock=lambda: NOON
        ) as server:
            endpoint = await server.create_endpoint(advanced_signatures=advanced)
            for number in range(rolls):
                body = {"expiration": 100 * (number + 1)}
                await server.call("expireEndpointSecret", target=endpoint["uid"], body=body)

    asyncio.run(run())
    database = sqlite3.connect(path)
    (stored,) = database.execute("SELECT secrets FROM endpoints").fetchone()
    database.close()
    path.unlink()
    return [round(secret["ends"] - NOON) for secret in json.loads(stored)[:-1]]


@pytest.mark.parametrize(
    ("name", "ends"),
    [
        ("", [100, 200]),
        ("expiry_early@delivery.signing.advanced.roll_2:by=half", [100, 100]),
        ("expiry_early@delivery.signing.advanced.roll_1:by=tenth", [90, 200]),
        ("expiry_late@delivery.signing.advanced.roll_2:by=tenth", [100, 220]),
        ("expiry_late@delivery.signing.advanced.roll_1:by=half", [150, 200]),
        ("expiry_reset@delivery.signing.advanced.roll_2:to=now", [0, 200]),
        ("expiry_reset@delivery.signing.advanced.roll_2:to=latest", [200, 200]),
        ("expiry_in_another_unit@expireEndpointSecret.taken.expiration:factor=sixtieth", [1, 3]),
        (
            "expiry_in_another_unit@expireEndpointSecret.taken.expiration:factor=thousandfold",
            [100_000, 200_000],
        ),
    ],
)
def test_an_old_secret_ends_at_another_time(tmp_path: Path, name: str, ends: list[float]) -> None:
    assert ends_after(name, tmp_path, 2) == ends
    if ".signing." in name:
        assert ends_after(name, tmp_path, 2, advanced=False) == [100, 200]


@pytest.mark.parametrize(
    ("name", "where", "elsewhere"),
    [
        ("expiry_late@delivery.signing.simple.roll_1:by=half", REFERENCE, CONTRARY),
        ("expiry_reset@delivery.signing.simple.roll_2:to=now", REFERENCE, CONTRARY),
        ("old_secret_as_new@delivery.signing.simple.roll_1", CONTRARY, REFERENCE),
    ],
)
def test_what_the_format_does_not_show_is_equivalent(name: str, where: Any, elsewhere: Any) -> None:
    assert "signs with the" in find_generated_fault(name, where).defect.equivalent
    assert find_generated_fault(name, elsewhere).is_fault
