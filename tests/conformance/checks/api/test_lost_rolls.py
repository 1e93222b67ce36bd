"""Rolls that a race loses: the finding says how many were tried, and how many were lost."""

from collections.abc import Iterable

import pytest

from hookproof.conformance.grading.doubt import accuses_of, doubt_about
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement
from hookproof.conformance.subjects.secrets.evidence import (
    FETCH_AGAIN,
    ROLL_AGAIN,
    RollAnswer,
)
from hookproof.conformance.subjects.secrets.laws import RACE
from tests.conformance.canned_evidence import checks_bound_to, context, judgements, observation
from tests.conformance.checks.api.example import secret
from tests.conformance.subjects.secrets.examples import with_secrets


def rolls(kept: Iterable[bool]) -> RollAnswer:
    """A roll and a retrieval, and as many again, each of which shows its roll or not."""
    known = [secret("first", value="first")]
    exchanges: list[Exchange] = [with_secrets("fetch before", "getEndpoint", *known)]
    for number, is_kept in enumerate(kept):
        new = secret(f"new {number}", value=f"new {number}")
        rolled = [{**each, "expires_at": "2026-01-01T00:00:00Z"} for each in known]
        roles = (ROLL_AGAIN, FETCH_AGAIN) if number else ("roll", "fetch")
        request = {"secret": new["value"], "expiration": 60}
        known = [*rolled, new] if is_kept else known
        exchanges += [
            with_secrets(roles[0], "expireEndpointSecret", *rolled, new, request=request),
            with_secrets(roles[1], "getEndpoint", *known),
        ]
    return observation(RollAnswer, *exchanges, given=())


def judgement(*kept: bool) -> Judgement:
    (only,) = judgements("4.3-13", rolls(kept))
    return only


def test_a_race_is_told_with_how_often_it_was_seen() -> None:
    lost = judgement(False, *[True] * 11)
    assert lost.message == RACE
    assert lost.actual.endswith(
        "; lost once in 12 rolls; a race, which --repeat may have to look for"
    )
    assert "lost 3 times in 12 rolls" in judgement(*[False] * 3, *[True] * 9).actual


def test_what_is_always_lost_is_no_race() -> None:
    lost = judgement(*[False] * 12)
    assert lost.message == "A roll does not show when the endpoint is fetched"
    assert lost.actual.endswith("; lost 12 times in 12 rolls")


@pytest.mark.parametrize(("kept", "doubtful"), [([False], True), ([False, True, True], False)])
def test_what_was_tried_several_times_in_place_need_not_be_gathered_again(
    kept: list[bool], doubtful: bool
) -> None:
    """A race would be lost that way: it need not show again."""
    evidence = rolls(kept)
    checks = checks_bound_to(["4.3-13"], evidence)
    assert bool(doubt_about([evidence], checks, context())) is doubtful
    assert accuses_of({"4.3-13"}, [evidence], checks, context()) is doubtful
    assert not accuses_of({"1-1"}, [evidence], checks, context())
