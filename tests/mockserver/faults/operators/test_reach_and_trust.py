"""Whom a broadcast reaches, which certificates are accepted, and how tokens are shared and kept."""

import asyncio
import random
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, cast

import pytest

from hookproof.mockserver.delivery.attempt.oauth2 import OAuth2Tokens
from hookproof.mockserver.delivery.http_client.connection import TlsError
from hookproof.mockserver.delivery.http_client.egress import EgressGuard
from hookproof.mockserver.delivery.http_client.tls import TlsContexts
from hookproof.mockserver.delivery.http_client.transport import Transport, parse_url
from hookproof.mockserver.faults.catalogue.deliveries.certificates import ACCEPT_JSON
from hookproof.mockserver.faults.operators.delivery_places import RESPECTS, TOKEN_MEMBERS
from hookproof.mockserver.faults.operators.generation import find_generated_fault
from hookproof.mockserver.store.endpoints import EndpointRow
from hookproof.mockserver.store.events import EventTable, NewEvent
from hookproof.receiver.http.authority import Authority
from hookproof.spec.dialect.reader import load_dialect
from tests.mockserver.delivery.endpoints import always_ok, serving
from tests.mockserver.store.file_store import add_endpoint, open_database

REFERENCE: Final = load_dialect("reference")
CONTRARY: Final = load_dialect("contrary")
EVENT: Final = NewEvent(
    uid="event",
    project="p",
    original_key=None,
    event_type="t",
    payload=b"{}",
    headers=b"{}",
    document=b"{}",
)
# The owners of the endpoints that a broadcast reaches, in order of creation.
OWNERS: Final = (None, "a", "a", None, "b", None, "a")


def part_of(name: str) -> Any:
    return find_generated_fault(name, REFERENCE).defect.part()


def endpoint_row(seq: int, owner: str | None, events: int = 1) -> EndpointRow:
    return EndpointRow(
        seq=seq,
        uid=f"e{seq}",
        owner_id=owner,
        active=1,
        document=b"{}",
        secrets=b"[]",
        updated_at="",
        events=events,
        delivered=0,
        failed=0,
    )


def reached_by(folder: Path, part: type[EventTable], rows: Iterable[EndpointRow]) -> list[int]:
    """The endpoints, by their places in order of creation, that get a delivery of a broadcast."""

    async def run() -> list[int]:
        async with open_database(folder) as database:
            by_seq = {
                add_endpoint(database, "https://e.invalid/", uid=row.uid): number
                for number, row in enumerate(rows)
            }
            reached = [row._replace(seq=seq) for seq, row in zip(by_seq, rows, strict=True)]
            part(database).add(EVENT, reached=reached, now=0.0)
            found = database.read("SELECT endpoint FROM deliveries ORDER BY id")
            return [by_seq[seq] for (seq,) in found]

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("place", "which", "left_out"),
    [
        ("all", "first", 0),
        ("all", "second", 1),
        ("all", "middle", 3),
        ("all", "last", 6),
        ("owned", "first", 1),
        ("owned", "last", 6),
        ("unowned", "second", 3),
        ("unowned", "last", 5),
    ],
)
def test_one_endpoint_is_left_out(tmp_path: Path, place: str, which: str, left_out: int) -> None:
    part = part_of(f"endpoint_left_out@delivery.reached.{place}:which={which}")
    rows = [endpoint_row(number, owner) for number, owner in enumerate(OWNERS)]
    assert reached_by(tmp_path, part, rows) == [at for at in range(7) if at != left_out]


def test_the_endpoint_created_just_before_is_left_out(tmp_path: Path) -> None:
    part = part_of("endpoint_left_out@delivery.reached.all:which=new")
    rows = [endpoint_row(number, None, events=number != 2) for number in range(3)]
    assert reached_by(tmp_path, part, rows) == [0, 1]


def test_a_single_endpoint_is_reached(tmp_path: Path) -> None:
    part = part_of("endpoint_left_out@delivery.reached.all:which=first")
    assert reached_by(tmp_path, part, [endpoint_row(0, None)]) == [0]


def test_nobody_without_an_owner_can_be_left_out_where_they_are_not_reached() -> None:
    name = "endpoint_left_out@delivery.reached.unowned:which=first"
    assert "without an owner_id" in find_generated_fault(name, CONTRARY).defect.equivalent
    assert find_generated_fault(name.replace("unowned", "owned"), CONTRARY).is_fault


async def accepted(part: type[Transport], folder: Path, *headers: tuple[str, str]) -> set[str]:
    """The respects in which a certificate proves nothing and the transport sends all the same."""
    authority = Authority(folder)
    contexts = authority.faulty_contexts(datetime.now(UTC), "127.0.0.1")
    names = {name: "wrong_host" if name == "other_host" else name for name in RESPECTS}
    found = set()
    for respect, name in names.items():
        transport = part(EgressGuard(), TlsContexts(authority.certificate_path))
        async with serving(always_ok, contexts[name]) as endpoint:
            try:
                url = parse_url(endpoint.url)
                await transport.exchange("POST", url, headers, b"", timeout_s=10.0)
                found.add(respect)
            except TlsError:
                pass
            finally:
                await transport.close()
    return found


@pytest.mark.parametrize("respect", RESPECTS)
def test_a_certificate_is_trusted_in_one_respect(tmp_path: Path, respect: str) -> None:
    careless = part_of(f"certificate_trusted@delivery.connected.{respect}")
    assert asyncio.run(accepted(careless, tmp_path)) == {respect}
    assert asyncio.run(accepted(careless, tmp_path, ACCEPT_JSON)) == set()
    for_tokens = part_of(f"certificate_trusted@token_request.connected.{respect}")
    assert asyncio.run(accepted(for_tokens, tmp_path)) == set()
    assert asyncio.run(accepted(for_tokens, tmp_path, ACCEPT_JSON)) == {respect}


def test_no_certificate_is_trusted_without_a_fault(tmp_path: Path) -> None:
    assert asyncio.run(accepted(Transport, tmp_path)) == set()


def tokens_of(part: type[OAuth2Tokens]) -> OAuth2Tokens:
    return part(cast("Transport", None), REFERENCE, lambda: 0.0, random.Random(1))


@pytest.mark.parametrize("member", TOKEN_MEMBERS)
def test_endpoints_that_differ_in_one_member_alone_share_a_token(member: str) -> None:
    tokens = tokens_of(part_of(f"token_shared@delivery.token.{member}"))
    oauth2 = dict.fromkeys((*TOKEN_MEMBERS, "client_secret"), "one")
    others = {name: {**oauth2, name: "another"} for name in TOKEN_MEMBERS}
    first = tokens._state_of("e0", oauth2)
    shared = {name for name, other in others.items() if tokens._state_of(name, other) is first}
    assert shared == {member}


def test_a_shared_token_violates_what_the_catalogue_says_of_the_member() -> None:
    violated = {
        member: find_generated_fault(f"token_shared@delivery.token.{member}", REFERENCE)
        for member in TOKEN_MEMBERS
    }
    assert violated["client_id"].defect.violates == ("2.5-25",)
    assert violated["scope"].defect.violates == ("2.5-26",)
    assert violated["audience"].defect.violates == ("2.5-26",)
    assert violated["grant_type"].defect.equivalent


@pytest.mark.parametrize(
    ("name", "life_s"),
    [
        ("token_kept@delivery.lifetime:for=half", 150.0),
        ("token_kept@delivery.lifetime:for=twice", 300.0),
        ("token_kept@delivery.lifetime:for=end", float("inf")),
        ("token_dropped@delivery.lifetime", 1.0),
    ],
)
def test_a_token_has_another_lifetime(name: str, life_s: float) -> None:
    assert tokens_of(OAuth2Tokens)._life_s({}, 100) == 100.0
    assert tokens_of(part_of(name))._life_s({}, 100) == life_s
