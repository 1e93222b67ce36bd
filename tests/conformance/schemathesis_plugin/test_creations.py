"""Endpoints that are created in place of generated ones."""

from itertools import islice

import pytest

from hookproof.conformance.schemathesis_plugin.creations import (
    LONG,
    LONG_FIELDS,
    REFUSED_URLS,
    TOGETHER,
    Creations,
    random_bodies,
    telling_bodies,
)
from hookproof.spec.contract.service_contract import contract_for
from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.answers import with_answer
from hookproof.spec.dialect.reader import load_dialect, shipped_dialects

# Until each of them has had its turn.
ALL_TURNS = 5 * len(LONG_FIELDS)


@pytest.mark.parametrize("dialect", shipped_dialects())
def test_every_body_is_a_valid_request_but_for_a_plain_url(dialect: str) -> None:
    loaded = load_dialect(dialect)
    contract = contract_for(loaded)
    bodies = [*islice(telling_bodies(random_bodies(loaded)), ALL_TURNS)]
    plain = [each for each in bodies if each["url"] in REFUSED_URLS]
    assert {each["url"] for each in plain} >= {*REFUSED_URLS[1:]}
    short = [
        each
        for each in bodies
        if each not in plain and not any(LONG in f"{value}" for value in each.values())
    ]
    problems = [contract.request_problems("createEndpoint", each) for each in short]
    assert not any(problems)
    for names in TOGETHER:
        assert any({*names} <= each.keys() for each in short)
    long = {name for each in bodies for name, value in each.items() if LONG in f"{value}"}
    assert long == {*LONG_FIELDS}
    owners = [each["owner_id"] for each in short if "owner_id" in each]
    assert max(map(owners.count, owners)) > 1


@pytest.mark.parametrize("receives", [True, False])
def test_no_endpoint_that_gets_broadcasts_leads_to_the_machine_of_the_service(
    receives: bool,
) -> None:
    rule = Answer(allowed=(receives,))
    dialect = with_answer(load_dialect("reference"), ("delivery", "disabled_receives"), rule)
    bodies = [*islice(telling_bodies(random_bodies(dialect)), ALL_TURNS)]
    assert (REFUSED_URLS[0] in {each["url"] for each in bodies}) is not receives


def test_every_second_endpoint_stays_as_it_was_generated() -> None:
    creations = Creations(load_dialect("reference"))
    assert [creations.body() is None for _ in range(6)] == [True, False] * 3
