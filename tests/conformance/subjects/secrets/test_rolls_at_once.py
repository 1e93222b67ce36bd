"""Two rolls of an endpoint at the same time: both show, unless the service refuses one of them, or
shows no two secrets anyway.
"""

from dataclasses import replace
from typing import Any

import pytest

from hookproof.conformance.grading.doubt import accuses_of
from hookproof.conformance.model.judgement import Judgement
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.subjects.secrets.evidence import AT_ONCE, RollsAtOnce
from hookproof.conformance.subjects.secrets.laws import AT_THE_SAME_TIME
from tests.conformance.canned_evidence import checks_bound_to, context, judgements, observation
from tests.conformance.checks.api.example import refusal
from tests.conformance.subjects.secrets.examples import KEPT, LOST, rolled, rolls


def judged(evidence: RollsAtOnce, dialect: str = "reference") -> list[Judgement]:
    return list(judgements("4.3-13", evidence, context(dialect)))


@pytest.mark.parametrize("dialect", ["reference", "contrary"])
def test_two_rolls_at_the_same_time_both_show(dialect: str) -> None:
    """By value, and under a dialect that masks it by the number of identifiers."""
    assert [each.verdict for each in judged(rolls(KEPT), dialect)] == [Verdict.PASS]
    (lost,) = judged(rolls(LOST), dialect)
    assert (lost.verdict, lost.message) == (Verdict.FAIL, AT_THE_SAME_TIME)
    assert lost.actual == "one of the two is lost in 1 of 1 pairs of rolls"
    assert [each.operation_id for each in lost.exchanges] == [
        "getEndpoint",
        "expireEndpointSecret",
        "expireEndpointSecret",
        "getEndpoint",
    ]


def test_it_is_said_of_how_many_pairs_one_roll_is_lost() -> None:
    also = ("ef", ["old", "a", "b", "d", "e", "f"])
    (lost,) = judged(rolls(LOST, also, ("gh", [*also[1], "g", "h"])))
    assert "one of the two is lost in 1 of 3 pairs of rolls; a race" in lost.actual
    evidence = rolls(LOST, also)
    assert not accuses_of({"4.3-13"}, [evidence], checks_bound_to(["4.3-13"], evidence), context())


@pytest.mark.parametrize("changed", [{"status": 409}, {"status": 429}, {"status": None}])
def test_a_service_may_refuse_the_second_roll(changed: dict[str, Any]) -> None:
    second = refusal(409, "expireEndpointSecret", role=AT_ONCE)
    exchanges = [replace(second, **changed) if each == rolled("c") else each for each in LOST_ONCE]
    assert judged(observation(RollsAtOnce, *exchanges)) == []


LOST_ONCE = rolls(LOST).exchanges


def test_what_shows_only_the_newest_secret_shows_nothing_of_both() -> None:
    assert judged(rolls(("cd", ["d"]), in_turn=["b"])) == []


def test_what_keeps_no_older_secret_either_may_have_expired_or_have_no_room() -> None:
    assert judged(rolls(("cd", ["d"]))) == []
    assert judged(rolls(("cd", []))) == []


def test_a_copy_that_is_behind_loses_nothing() -> None:
    assert [each.verdict for each in judged(rolls(LOST, later=KEPT[1]))] == [Verdict.PASS]
    assert [each.verdict for each in judged(rolls(LOST, later=LOST[1]))] == [Verdict.FAIL]
