"""Sequences of operations and pairs of values, generated before anything is sent."""

import asyncio
from itertools import combinations, product

import pytest

from hookproof.conformance.generation.generators import RequestGenerators
from hookproof.conformance.generation.operation_sequence import SequenceStep
from hookproof.conformance.generation.pairwise import all_pairs

pytestmark = pytest.mark.usefixtures("nothing_kept")


def sequences(*, seed: int = 5, portal_links: int = 2) -> list[tuple[SequenceStep, ...]]:
    async def gathered() -> list[tuple[SequenceStep, ...]]:
        async with RequestGenerators() as generators:
            generated = generators.sequences(
                seed=seed, sequences=12, steps=15, portal_links=portal_links
            )
            return [steps async for steps in generated]

    return asyncio.run(gathered())


def test_the_same_seed_makes_the_same_sequences_and_another_seed_others() -> None:
    first = sequences()
    assert first == sequences()
    assert first != sequences(seed=6)
    assert 12 <= len(first) <= 24


def test_sequences_hold_every_operation_and_name_only_existing_resources() -> None:
    generated = sequences()
    assert {step.operation_id for steps in generated for step in steps} == {
        "createEndpoint",
        "getEndpoint",
        "expireEndpointSecret",
        "listPortalLinks",
        "getPortalLink",
        "updatePortalLink",
        "listSources",
        "createBroadcastEvent",
    }
    for steps in generated:
        known = {"l0", "l1", None}
        for step in steps:
            if step.operation_id == "createEndpoint":
                known.add(step.subject)
            assert step.subject in known


def test_without_portal_links_no_step_is_about_one() -> None:
    operations = {step.operation_id for steps in sequences(portal_links=0) for step in steps}
    assert operations
    assert not {operation for operation in operations if "PortalLink" in operation}


def test_a_step_survives_json() -> None:
    step = SequenceStep(operation_id="createEndpoint", subject="e0", fields={"name": 1})
    assert SequenceStep.from_json(step.to_json()) == step


@pytest.mark.parametrize(
    "values",
    [
        {"a": [1, 2], "b": [1, 2], "c": [1, 2, 3], "d": [1, 2]},
        {"a": [1], "b": [1]},
        {str(number): [*range(2 + number % 5)] for number in range(14)},
    ],
)
def test_every_two_values_of_different_fields_meet(values: dict[str, list[int]]) -> None:
    rows = all_pairs(values)
    for field, other in combinations(values, 2):
        for pair in product(values[field], values[other]):
            assert any((row[field], row[other]) == pair for row in rows)
    assert all(row.keys() == values.keys() for row in rows)
    assert rows == all_pairs(values)


def test_all_pairs_need_few_rows() -> None:
    fields = {f"field {number}": [True, False] for number in range(15)}
    assert len(all_pairs(fields)) <= 16
