"""Data of a broadcast that is nested deeply is taken or refused as the dialect says."""

import pytest

from hookproof.conformance.checks.api.requests.bounds import (
    data_is_nested_as_deeply_as_the_dialect_allows,
)
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.requests.mistakes import NestedData
from tests.conformance.canned_evidence import exchange, observation
from tests.conformance.checks.api.test_answers_of_other_dialects import judged_under


@pytest.mark.parametrize(
    ("answer", "levels", "status", "expected"),
    [
        (80, 80, 201, Verdict.PASS),
        (80, 80, 400, Verdict.FAIL),
        (80, 81, 422, Verdict.PASS),
        (80, 81, 201, Verdict.FAIL),
        (None, 128, 201, Verdict.PASS),
        (None, 128, 400, Verdict.FAIL),
    ],
)
def test_data_is_as_deep_as_the_dialect_allows(
    answer: int | None, levels: int, status: int, expected: Verdict
) -> None:
    tried = exchange("tried", "createBroadcastEvent", status=status, data={"uid": "e1"})
    evidence = observation(NestedData, tried, operation_id="createBroadcastEvent", levels=levels)
    answers = {"requests.nesting_maximum": answer}
    verdicts = judged_under(answers, data_is_nested_as_deeply_as_the_dialect_allows, evidence)
    assert [each for each in verdicts if each is not Verdict.NOT_APPLICABLE] == [expected]


def test_data_proves_nothing_where_the_dialect_does_not_say_how_deep_it_may_be() -> None:
    tried = exchange("tried", "createBroadcastEvent", status=400, body={})
    evidence = observation(NestedData, tried, operation_id="createBroadcastEvent", levels=128)
    answers = {"requests.nesting_maximum": {"undecided": "nobody asked"}}
    check = data_is_nested_as_deeply_as_the_dialect_allows
    assert judged_under(answers, check, evidence) == []
