"""What requests prove that are judged beside ordinary ones, and what hidden headers prove."""

import pytest

from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.mistakes import ORDINARY
from hookproof.conformance.subjects.questions.evidence import Bound, NullField
from tests.conformance.canned_evidence import all_verdicts, exchange, verdict
from tests.conformance.checks.api.example import accepted, event, refusal, request_tried
from tests.conformance.checks.api.test_answers_that_prove_nothing import answers


@pytest.mark.parametrize("dialect", ["reference", "contrary"])
def test_null_proves_nothing_where_the_request_is_not_taken_without_the_field(dialect: str) -> None:
    denied = refusal(400, role=ORDINARY)
    for tried in (refusal(400), accepted(role="tried")):
        for ordinary in ([], [denied], *([answer] for answer in answers(ORDINARY))):
            evidence = request_tried(NullField, tried, *ordinary, alone=True)
            assert verdict("4.9-9", evidence, dialect) is None


def test_an_answer_to_null_that_is_neither_a_success_nor_a_refusal_proves_nothing() -> None:
    for tried in answers("tried"):
        evidence = request_tried(NullField, tried, accepted(role=ORDINARY))
        assert verdict("4.9-9", evidence) is None


@pytest.mark.parametrize("status", [201, 400])
def test_a_request_at_the_edge_proves_nothing_where_an_ordinary_one_is_refused(status: int) -> None:
    tried = exchange("tried", "createBroadcastEvent", status=status, data={})
    for beside in ([], [refusal(400, role=ORDINARY)]):
        evidence = request_tried(Bound.SIZE, tried, *beside, alone=True)
        assert verdict("8-15", evidence) is None


@pytest.mark.parametrize(
    ("echo", "values", "headers", "expected"),
    [
        ("none", "text", None, Verdict.NOT_APPLICABLE),
        ("none", "text", {}, Verdict.NOT_APPLICABLE),
        ("none", "text", {"X-Shop": ["example"]}, Verdict.FAIL),
        ("sent", "text", {}, None),
        ("sent", {"one_of": ["text", "list"]}, {"X-Shop": ["example"]}, None),
        ("sent", {"undecided": "not known"}, {"X-Shop": ["example"]}, None),
    ],
)
def test_headers_of_an_event_are_judged_where_it_shows_some_and_the_dialect_says_how(
    echo: str, values: object, headers: object, expected: Verdict | None
) -> None:
    dialect = {
        "representation.event_headers": echo,
        "representation.event_header_values": values,
        "representation.no_value": {"one_of": ["null", "empty", "absent"]},
    }
    shown = event(headers=headers)
    found = all_verdicts(shown, dialect)
    assert found.get("2.8-18") is expected
