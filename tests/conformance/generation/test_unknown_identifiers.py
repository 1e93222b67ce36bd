"""Identifiers that no resource has keep the form of a known one."""

from random import Random
from uuid import UUID

import pytest

from hookproof.conformance.generation.unknown_identifiers import unknown_identifier


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ("pl_000200", "pl_999999"),
        ("200", "999999999"),
        ("endpoint-12", "endpoint-999999999"),
        ("1234567890123456789", "9223372036854775807"),
        ("ep_3fa85f64", "ep_9ff99f99"),
    ],
)
def test_where_resources_are_counted_it_is_beyond_the_largest(known: str, expected: str) -> None:
    assert unknown_identifier(known, Random(1)) == expected


def test_what_was_seen_is_not_made() -> None:
    assert unknown_identifier("pl_000200", Random(1), {"pl_999999"}) == "pl_999998"


def test_a_uuid_stays_one_of_its_version() -> None:
    known = UUID("a297ad02-22eb-4036-b524-5283d1d2e79d")
    made = UUID(unknown_identifier(str(known), Random(1)))
    assert made != known
    assert (made.version, made.variant) == (known.version, known.variant)


def test_a_ulid_stays_one_of_its_time() -> None:
    known = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
    made = unknown_identifier(known, Random(1))
    assert len(made) == len(known)
    assert made[:14] == known[:14]
    assert not set(made) & set("ILOU")
