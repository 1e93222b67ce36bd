"""Data of a broadcast that is nested deeply is taken or refused as the dialect says."""

from typing import Any

import pytest

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.mistakes import ORDINARY
from hookproof.conformance.subjects.questions.evidence import NestedData
from tests.conformance.canned_evidence import exchange, observation
from tests.conformance.checks.api.test_answers_of_other_dialects import judged_under


def broadcast(role: str, status: int) -> Exchange:
    return exchange(role, "createBroadcastEvent", status=status, data={"uid": "e1"})


SHALLOW = broadcast(ORDINARY, 201)


def verdicts(answer: Any, levels: int, *exchanges: Exchange) -> list[Verdict]:
    evidence = observation(
        NestedData, *exchanges, operation_id="createBroadcastEvent", levels=levels
    )
    answers = {"requests.nesting_maximum": answer}
    found = judged_under(answers, "8-29 8-30", evidence)
    return [each for each in found if each is not Verdict.NOT_APPLICABLE]


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
    assert verdicts(answer, levels, broadcast("tried", status), SHALLOW) == [expected]


@pytest.mark.parametrize("levels", [80, 81])
@pytest.mark.parametrize("shallow", [[], [broadcast(ORDINARY, 400)]])
def test_who_refuses_shallow_data_too_shows_nothing_of_the_depth(
    levels: int, shallow: list[Exchange]
) -> None:
    assert verdicts(80, levels, broadcast("tried", 400), *shallow) == []


def test_data_proves_nothing_where_the_dialect_does_not_say_how_deep_it_may_be() -> None:
    assert verdicts({"undecided": "nobody asked"}, 128, broadcast("tried", 400), SHALLOW) == []
