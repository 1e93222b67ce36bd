"""A service that takes one roll of a secret and no second one refuses neither a body nor a key."""

import pytest

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.mistakes import ORDINARY
from hookproof.conformance.subjects.keys.evidence import KeyKind
from hookproof.conformance.subjects.questions.evidence import RollWithoutBody
from tests.conformance.canned_evidence import exchange, observation, verdict
from tests.conformance.checks.api.example import accepted, refusal
from tests.conformance.subjects.keys.examples import call_with

ROLL = "expireEndpointSecret"


def answer(role: str, *, is_taken: bool) -> Exchange:
    return exchange(role, ROLL, data={}) if is_taken else refusal(400, ROLL, role=role)


@pytest.mark.parametrize(
    ("tried", "ordinary", "expected"),
    [
        (False, False, None),
        (False, True, Verdict.FAIL),
        (True, False, None),
        (True, True, Verdict.PASS),
    ],
)
def test_a_roll_without_body_is_judged_beside_one_that_is_taken(
    tried: bool, ordinary: bool, expected: Verdict | None
) -> None:
    evidence = observation(
        RollWithoutBody,
        answer("tried", is_taken=tried),
        answer(ORDINARY, is_taken=ordinary),
        operation_id=ROLL,
    )

    assert verdict("4.3-21", evidence) is expected


@pytest.mark.parametrize(
    ("operation_id", "dialect", "status", "expected"),
    [
        (ROLL, "contrary", 422, None),
        (ROLL, "contrary", 403, Verdict.FAIL),
        ("updatePortalLink", "contrary", 422, None),
        ("updatePortalLink", "contrary", 403, Verdict.FAIL),
        ("getEndpoint", "contrary", 422, Verdict.FAIL),
        (ROLL, "reference", 400, Verdict.FAIL),
    ],
)
def test_the_refusal_of_a_second_roll_or_of_an_update_is_none_of_a_key(
    operation_id: str, dialect: str, status: int, expected: Verdict | None
) -> None:
    evidence = call_with(
        KeyKind.FOREIGN,
        refusal(status, operation_id, role="refused"),
        accepted(operation_id, "authorized"),
        operation_id=operation_id,
    )

    assert verdict("5-12", evidence, dialect) is expected
