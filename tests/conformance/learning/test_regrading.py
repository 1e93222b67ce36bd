"""Answers that no probe asks for are found by judging evidence under each of them."""

from hookproof.conformance.learning.learned_answers import Certainty, LearnedAnswers
from hookproof.conformance.learning.regrading import (
    Fit,
    keep_fitting,
    learn_by_regrading,
    requirements_of,
    rests_on_guess,
)
from hookproof.conformance.model.evidence import Evidence, Observation
from hookproof.conformance.model.gathered_evidence import Ending, Gathered
from hookproof.conformance.observations.mistakes import HalfRequest
from hookproof.conformance.subjects.questions.evidence import RateLimitOfZero
from hookproof.spec.dialect.reader import load_dialect
from tests.conformance.canned_evidence import exchange, observation


def learned(*observations: Observation) -> LearnedAnswers:
    extended = load_dialect("undecided")
    answers = LearnedAnswers("undecided", extended)
    learn_by_regrading(answers, evidence(*observations), extended)
    return answers


def evidence(*observations: Evidence) -> dict[str, Gathered]:
    gathered = Gathered(
        experiment="canned",
        observations=observations,
        ending=Ending.COMPLETE,
        reason="",
        duration_s=0.1,
    )
    return {"canned": gathered}


def half_request(status: int) -> Observation:
    refusal = exchange("unfinished", status=status, body={"status": False, "message": "late"})
    return observation(HalfRequest, refusal, operation_id="createEndpoint", promised=100, sent=10)


def test_a_status_is_learned_from_the_requests_that_show_it() -> None:
    answer = learned(half_request(408)).answer("errors.slow_request")
    assert (answer.values, answer.certainty) == ((408,), Certainty.SEEN)
    assert "unfinished" in answer.shown_by


def test_what_fails_under_every_answer_is_not_learned() -> None:
    answers = learned(half_request(408), half_request(400))
    assert answers.answer("errors.slow_request").values == ()


def test_what_was_seen_now_in_this_way_and_now_in_that_may_be_either() -> None:
    answers = LearnedAnswers("undecided", load_dialect("undecided"))
    answers.see("errors.slow_request", 400, shown_by="a probe")
    learn_by_regrading(answers, evidence(half_request(408)), answers.extended)
    assert answers.answer("errors.slow_request").values == (400, 408)


def test_without_evidence_nothing_is_learned() -> None:
    answers = learned()
    assert all(answer.certainty is not Certainty.SEEN for answer in answers)


def test_a_meaning_that_the_answer_excludes_is_left_out() -> None:
    accepted = exchange("tried", request={"rate_limit": 0}, data={"rate_limit": 0})
    tried = observation(
        RateLimitOfZero, accepted, operation_id="createEndpoint", field="rate_limit"
    )
    answer = learned(tried).answer("delivery.zero_rate_limit")
    assert "refused" not in answer.values


def test_a_guess_contradicts_no_answer() -> None:
    answers = LearnedAnswers("undecided", load_dialect("undecided"))
    assert rests_on_guess(answers, "delivery.excess", "8-4")
    answers.see("delivery.rate_limit_unit", "minutes", shown_by="deliveries")
    assert not rests_on_guess(answers, "delivery.excess", "8-4")


def test_every_field_has_the_requirements_of_its_question() -> None:
    assert "7-7" in requirements_of("errors.slow_request")


def test_an_answer_that_failed_once_is_not_kept_for_its_passes() -> None:
    answers = LearnedAnswers("undecided", load_dialect("undecided"))
    often = Fit(value=408, failures=1, passes=9, proof="most requests")
    never = Fit(value=400, failures=9, passes=0, proof="")
    keep_fitting(answers, "errors.slow_request", [often, never])
    assert not answers.is_seen("errors.slow_request")
    keep_fitting(
        answers, "errors.slow_request", [Fit(value=408, failures=0, passes=1, proof="one"), never]
    )
    assert answers.answer("errors.slow_request").values == (408,)
