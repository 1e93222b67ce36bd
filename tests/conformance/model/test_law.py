"""A law yields what it compares; its check judges, with the requirement and words of the law."""

from typing import Any

import pytest

from hookproof.conformance.checks import all_checks
from hookproof.conformance.model import check_registry
from hookproof.conformance.model.check_registry import CheckContext
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement, not_applicable
from hookproof.conformance.model.law import Compared, Seen, law
from hookproof.conformance.model.verdict import Verdict
from tests.conformance.canned_evidence import context, exchange

OF_LISTS = {"listPortalLinks": "4.4-4", "listSources": "4.7-4"}
PAGE = exchange("page", "listSources", data={})


@pytest.fixture(autouse=True)
def empty_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    all_checks()  # what is imported later would be missing in other tests
    monkeypatch.setattr(check_registry, "_checks", {})


def judged(*compared: Compared | Judgement, **options: Any) -> list[Judgement]:
    def compare(_page: Exchange, _context: CheckContext) -> Seen:
        """Whether it is so."""
        yield from compared

    return list(law("2.2-9", OF_LISTS, **options)(compare)(PAGE, context()))


@pytest.mark.parametrize(
    ("expected", "actual", "holds", "verdict"),
    [
        (["a"], ["a"], None, Verdict.PASS),
        (["a"], ["b"], None, Verdict.FAIL),
        (True, 1, None, Verdict.FAIL),
        ("none", [], True, Verdict.PASS),
        ("none", "none", False, Verdict.FAIL),
    ],
)
def test_what_is_compared_has_to_be_equal_unless_the_law_says_whether_it_holds(
    expected: object, actual: object, holds: bool | None, verdict: Verdict
) -> None:
    said = judged(Compared(expected, actual, [PAGE], holds), wrong="It is not so")
    assert [(each.requirement, each.verdict) for each in said] == [
        ("2.2-9", verdict),
        ("4.7-4", verdict),
    ]
    assert {each.message for each in said} == {"" if verdict is Verdict.PASS else "It is not so"}
    assert {each.exchanges for each in said} == {(PAGE,)}


def test_a_law_of_several_requirements_names_the_one_that_is_meant_and_what_is_wrong() -> None:
    compared = Compared("a", "b", [PAGE], of=OF_LISTS, wrong="Another page", state="lost")
    (said,) = judged(compared, wrong="It is not so")
    assert (said.requirement, said.message, said.state) == ("4.7-4", "Another page", "lost")


def test_a_judgement_is_given_as_it_is() -> None:
    said = not_applicable("2.2-9", "There are no lists.")
    assert judged(said) == [said]


def test_what_cannot_be_read_is_not_judged() -> None:
    compared = Compared("a", "b", [PAGE])
    assert judged(compared, observed=Exchange, read=lambda _page: None) == []


def test_a_check_has_the_name_the_words_and_the_evidence_of_its_law() -> None:
    judged()
    registered = check_registry._checks["compare"]
    assert registered.requirements == ("2.2-9", "4.4-4", "4.7-4")
    assert registered.evidence == (Exchange,)
    assert registered.judge.__doc__ == "Whether it is so."
