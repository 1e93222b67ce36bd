"""The largest accepted value is found with few accepted requests."""

import asyncio

import pytest

from hookproof.conformance.learning.probes.bounds import largest_accepted
from hookproof.conformance.model.evidence import Exchange
from tests.conformance.canned_evidence import exchange

VALUES = [86400, 3600, 600, 120, 60]


def searched(largest: int) -> tuple[int | None, list[int]]:
    accepted: list[int] = []

    async def tried(value: int) -> Exchange:
        if value <= largest:
            accepted.append(value)
        return exchange(status=201 if value <= largest else 422)

    found = asyncio.run(largest_accepted(VALUES, tried))
    return (None if found is None else found[0]), accepted


def test_a_usual_bound_costs_one_accepted_request() -> None:
    assert searched(3600) == (3600, [3600])


@pytest.mark.parametrize("largest", [61, 100, 119, 599, 86399])
def test_another_bound_is_found_exactly(largest: int) -> None:
    assert searched(largest)[0] == largest


@pytest.mark.parametrize("largest", [100_000, 59])
def test_a_bound_beyond_what_is_tried_is_not_guessed(largest: int) -> None:
    assert searched(largest)[0] is None
