"""Evidence from a shared project is doubtful if it accuses, or shows less than it could."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from hookproof.conformance.grading.doubt import Doubt, doubt_about
from hookproof.conformance.model.check_registry import Check, CheckContext
from hookproof.conformance.model.evidence import Evidence, Exchange, NotExaminedError, NotObserved
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.observations.deliveries import DeliveryObservation
from hookproof.spec.dialect.answer import Undecided
from tests.conformance.canned_deliveries import destination, observed
from tests.conformance.canned_evidence import CannedObservation, context, exchange, seen

ANSWER = exchange("listSources")


def check(word: str, *evidence: type) -> Check:
    def judge(_evidence: object, _context: CheckContext) -> Iterator[Judgement]:
        if word == "not examined":
            raise NotExaminedError("too slow")
        if word == "undecided":
            raise Undecided("open")
        if word == "broken":
            raise OverflowError("int too large to convert to float")
        yield judged(word == "holds", "1-1", word, expected=1, actual=2, exchanges=[ANSWER])

    return Check(name=word, requirements=("1-1",), evidence=evidence, judge=judge)


def missing(*exchanges: Exchange) -> NotObserved:
    return NotObserved(experiment="x", name="x", observation="", reason="none", exchanges=exchanges)


@pytest.mark.parametrize(
    ("word", "doubt"),
    [
        ("holds", None),
        ("violated", Doubt.ACCUSING),
        ("not examined", Doubt.UNSEEN),
        ("undecided", None),
        ("broken", None),
    ],
)
def test_evidence_is_doubtful_where_a_check_is_not_content(word: str, doubt: Doubt | None) -> None:
    assert doubt_about([seen()], [check(word, CannedObservation)], context()) is doubt


def test_what_speaks_against_the_target_comes_before_what_was_not_seen() -> None:
    checks = [check(word, CannedObservation) for word in ("not examined", "violated")]
    assert doubt_about([missing(ANSWER), seen()], checks, context()) is Doubt.ACCUSING


def test_single_exchanges_are_no_reason_for_doubt() -> None:
    assert not doubt_about([seen(ANSWER)], [check("violated", Exchange)], context())


@pytest.mark.parametrize(
    ("status", "doubtful"),
    [(200, True), (422, False), (403, False), (409, True), (429, True), (503, True), (None, True)],
)
def test_what_ended_with_a_refusal_for_good_would_end_so_again(
    status: int | None, doubtful: bool
) -> None:
    last = replace(ANSWER, status=status)
    assert bool(doubt_about([missing(ANSWER, last)], [], context())) is doubtful


def test_a_time_that_only_a_late_machine_excuses_doubt_about() -> None:
    def judge(observation: DeliveryObservation, _context: CheckContext) -> Iterator[Judgement]:
        excused = observation.late_s > 0
        yield judged(excused, "1-1", "late", expected=1, actual=2, exchanges=[ANSWER])

    late = observed(DeliveryObservation, destination(), late_s=0.5)
    timed = Check(name="timed", requirements=("1-1",), evidence=(DeliveryObservation,), judge=judge)
    assert doubt_about([late], [timed], context())


@pytest.mark.parametrize(("evidence", "doubtful"), [(missing(), False), (missing(ANSWER), True)])
def test_what_was_given_up_before_the_first_request_is_not_tried_again(
    evidence: Evidence, doubtful: bool
) -> None:
    assert bool(doubt_about([evidence], [], context())) is doubtful
