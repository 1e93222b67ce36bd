"""Two rolls of an endpoint at the same time: both show, unless the service refuses one of them, or
shows no two secrets anyway.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from hookproof.conformance.checks.api.resources.secret_roll import (
    AT_THE_SAME_TIME,
    rolls_at_the_same_time_both_show,
)
from hookproof.conformance.grading.doubt import accuses_of
from hookproof.conformance.model.check_registry import Check
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.resources.secret_roll import AT_ONCE, RollsAtOnce
from tests.conformance.canned_evidence import context, observation
from tests.conformance.checks.api.example import created, refusal, secret
from tests.conformance.checks.api.examples_secrets import with_secrets

# What is fetched after a roll of each pair: the names of the secrets, oldest first.
Fetched = Sequence[str]


def fetched(names: Iterable[str], role: str = "fetch") -> Exchange:
    shown = [secret(name, value=f"value of {name}") for name in names]
    return with_secrets(role, "getEndpoint", *shown)


def rolled(name: str, role: str = AT_ONCE, **changed: Any) -> Exchange:
    request = {"secret": f"value of {name}", "expiration": 60}
    shown = secret(name, value=request["secret"])
    answer = with_secrets(role, "expireEndpointSecret", shown, request=request)
    return replace(answer, **changed)


def rolls(
    *pairs: tuple[str, Fetched], in_turn: Fetched = ("old", "a", "b"), later: Fetched = ()
) -> RollsAtOnce:
    """Rolls to `a` and `b` in turn, then pairs of rolls, each with what was fetched afterwards, and
    in the end once more.
    """
    exchanges = [
        fetched(["old"], "fetch before"),
        *(rolled(name, "roll in turn") for name in "ab"),
        fetched(in_turn),
    ]
    for names, shown in pairs:
        exchanges += [*map(rolled, names), fetched(shown)]
    if later:
        exchanges.append(fetched(later, "fetch again"))
    return observation(RollsAtOnce, created(), *exchanges)


def judged(evidence: RollsAtOnce, dialect: str = "reference") -> list[Judgement]:
    return list(rolls_at_the_same_time_both_show(evidence, context(dialect)))


KEPT = ("cd", ["old", "a", "b", "c", "d"])
LOST = ("cd", ["old", "a", "b", "d"])


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
    check = Check(
        name="rolls",
        requirements=("4.3-13",),
        evidence=(RollsAtOnce,),
        judge=rolls_at_the_same_time_both_show,
    )
    assert not accuses_of({"4.3-13"}, [rolls(LOST, also)], [check], context())


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
