"""Sequences and pairs: what is made up before anything is sent."""

import asyncio
from itertools import combinations, product

import pytest

from hookproof.conformance.generation.generated_requests import generated_sequences
from hookproof.conformance.generation.operation_sequence import SequenceStep
from hookproof.conformance.generation.pairwise import all_pairs


def sequences(*, seed: int = 5, portal_links: int = 2) -> list[tuple[SequenceStep, ...]]:
    async def gathered() -> list[tuple[SequenceStep, ...]]:
        made = generated_sequences(seed=seed, sequences=12, steps=15, portal_links=portal_links)
        return [steps async for steps in made]

    return asyncio.run(gathered())


def test_the_same_seed_makes_the_same_sequences_and_another_seed_others() -> None:
    first = sequences()
    assert first == sequences()
    assert first != sequences(seed=6)
    assert 12 <= len(first) <= 24


def test_sequences_hold_every_operation_and_name_only_what_is_there() -> None:
    made = sequences()
    assert {step.operation_id for steps in made for step in steps} == {
        "createEndpoint",
        "getEndpoint",
        "expireEndpointSecret",
        "listPortalLinks",
        "getPortalLink",
        "updatePortalLink",
        "listSources",
        "createBroadcastEvent",
    }
    for steps in made:
        known = {"l0", "l1", None}
        for step in steps:
            known |= {step.subject} if step.operation_id == "createEndpoint" else set()
            assert step.subject in known


def test_without_portal_links_no_step_is_about_one() -> None:
    about = {step.operation_id for steps in sequences(portal_links=0) for step in steps}
    assert not {one for one in about if "PortalLink" in one}


def test_a_step_survives_its_way_through_json() -> None:
    step = SequenceStep(operation_id="createEndpoint", subject="e0", fields={"name": 1})
    assert SequenceStep.from_json(step.to_json()) == step


@pytest.mark.parametrize(
    "values", [{"a": [1, 2], "b": [1, 2], "c": [1, 2, 3], "d": [1, 2]}, {"a": [1], "b": [1]}]
)
def test_every_two_values_of_different_fields_meet(values: dict[str, list[int]]) -> None:
    rows = all_pairs(values)
    for one, other in combinations(values, 2):
        for pair in product(values[one], values[other]):
            assert any((row[one], row[other]) == pair for row in rows)
    assert all(row.keys() == values.keys() for row in rows)
    assert rows == all_pairs(values)


def test_pairs_take_few_rows() -> None:
    fields = {f"field {number}": [True, False] for number in range(15)}
    assert len(all_pairs(fields)) <= 16
