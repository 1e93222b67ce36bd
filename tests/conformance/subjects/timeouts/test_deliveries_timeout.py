from dataclasses import replace

import pytest

from hookproof.conformance.model.evidence import NotExaminedError
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.destinations import Destination
from hookproof.conformance.subjects.timeouts.evidence import (
    DefaultTimeout,
    GivenTimeout,
    ZeroTimeoutDeliveries,
)
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from tests.conformance.canned_deliveries import destination, ending, event, observed, sent
from tests.conformance.canned_evidence import NOW, judgements, verdict, verdicts

PASS, FAIL = Verdict.PASS, Verdict.FAIL
SILENT, ENDLESS = (destination(name, http_timeout=2) for name in ("silent", "endless"))
SLOW = destination("slow", http_timeout=6)
DEFAULT = destination("silent")
ATTEMPT = {where.name: sent(event(), where) for where in (SILENT, ENDLESS, SLOW)}


def with_timeout(where: Destination, *attempts: ReceivedDelivery) -> GivenTimeout:
    return observed(GivenTimeout, where, *attempts, timeout_s=2, patient_s=6, slow_s=2.5)


def waited(name: str, closed: float | None) -> GivenTimeout:
    where = {"silent": SILENT, "endless": ENDLESS}[name]
    return with_timeout(where, ending(ATTEMPT[name], closed=closed))


def test_an_endpoint_that_is_given_up_in_time_passes() -> None:
    assert verdicts("8-7 8-9 8-19", waited("silent", 2.1)) == {"8-7": PASS}
    assert verdicts("8-7 8-9 8-19", waited("endless", 2.1)) == {"8-19": PASS}


def test_an_endpoint_that_is_given_up_late_or_never_fails() -> None:
    assert verdicts("8-7 8-9 8-19", waited("silent", None)) == {"8-7": FAIL}
    assert verdicts("8-7 8-9 8-19", waited("endless", 30)) == {"8-19": FAIL}


def test_a_second_attempt_shows_that_the_first_was_given_up() -> None:
    again = sent(event(), SILENT, at=NOW + 3, attempt=2)
    observation = with_timeout(SILENT, ending(ATTEMPT["silent"]), again)
    assert verdicts("8-7 8-9 8-19", observation) == {"8-7": PASS}


def test_an_endpoint_without_timeout_is_judged_by_the_default() -> None:
    observation = observed(
        DefaultTimeout, DEFAULT, ending(sent(event(), DEFAULT), closed=2), timeout_s=2
    )
    assert verdicts("8-7 8-9 8-19", observation) == {"8-9": PASS}


def test_a_slow_answer_that_is_waited_for_passes() -> None:
    observation = with_timeout(SLOW, ending(ATTEMPT["slow"], completed=2.5))
    assert verdict("8-8", observation) is PASS


def test_a_slow_answer_that_is_not_waited_for_fails() -> None:
    observation = with_timeout(SLOW, ending(ATTEMPT["slow"], closed=0.01))
    assert verdict("8-8", observation) is FAIL


def test_a_double_does_not_show_that_the_first_delivery_was_given_up() -> None:
    double = sent(event(), SLOW, at=NOW + 0.1, attempt=2)
    unanswered = with_timeout(SLOW, ending(ATTEMPT["slow"]), double)
    assert verdict("8-8", unanswered) is None
    answered = with_timeout(SLOW, ending(ATTEMPT["slow"], completed=2.5), double)
    assert verdict("8-8", answered) is PASS
    early = sent(event(), SILENT, at=NOW + 0.1, attempt=2)
    silent = with_timeout(SILENT, ending(ATTEMPT["silent"]), early)
    assert verdicts("8-7 8-9 8-19", silent) == {"8-7": FAIL}


def test_an_endpoint_that_was_given_up_late_on_a_late_machine_is_not_judged() -> None:
    late = replace(waited("silent", 15.0), late_s=2.0)
    with pytest.raises(NotExaminedError, match="this machine was late by 2000 ms"):
        verdicts("8-7 8-9 8-19", late)


def test_on_a_busy_machine_each_turn_of_an_attempt_may_have_been_late() -> None:
    patient = with_timeout(SLOW, ending(ATTEMPT["slow"], closed=4.0))

    assert verdict("8-8", replace(patient, late_s=0.6)) is FAIL
    assert verdict("8-8", replace(patient, late_s=0.7)) is None
    given_up = waited("silent", 8.0)

    assert verdicts("8-7 8-9 8-19", replace(given_up, late_s=0.6)) == {"8-7": FAIL}
    with pytest.raises(NotExaminedError, match="neither that the service keeps the time nor"):
        verdicts("8-7 8-9 8-19", replace(given_up, late_s=0.7))


def test_what_was_given_up_late_is_no_proof_that_the_time_is_kept() -> None:
    assert verdicts("8-7 8-9 8-19", waited("silent", 3.4)) == {"8-7": PASS}
    for closed, later in (("silent", 3.6), ("endless", 5.9)):
        with pytest.raises(NotExaminedError, match="neither that the service keeps the time nor"):
            verdicts("8-7 8-9 8-19", waited(closed, later))
    again = sent(event(), SILENT, at=NOW + 5, attempt=2)
    unseen = with_timeout(SILENT, ending(ATTEMPT["silent"]), again)
    assert verdicts("8-7 8-9 8-19", unseen) == {"8-7": PASS}


def test_a_second_attempt_from_far_away_may_seem_to_come_before_the_time_is_over() -> None:
    again = sent(event(), SILENT, at=NOW + 1.0, attempt=2)
    observation = with_timeout(SILENT, ending(ATTEMPT["silent"]), again)

    assert verdicts("8-7 8-9 8-19", observation) == {"8-7": FAIL}
    assert verdicts("8-7 8-9 8-19", replace(observation, round_trip_s=0.2)) == {"8-7": PASS}


PROMPT = destination("prompt")
AT_ONCE, LATE = destination("slow", http_timeout=0), destination("silent", http_timeout=0)
EVENTS = (event(), event("again"))
IN_TIME = tuple(ending(sent(each, PROMPT), completed=0.01) for each in EVENTS)
MEANINGS = ("default", "unlimited", "immediate")


def of_zero(*arrived: ReceivedDelivery, prompt: bool = True) -> ZeroTimeoutDeliveries:
    return observed(
        ZeroTimeoutDeliveries,
        (PROMPT, AT_ONCE, LATE),
        *(IN_TIME if prompt else ()),
        *arrived,
        events=EVENTS,
        slow_s=1,
        default_s=2,
    )


def verdicts_of_zero(observation: ZeroTimeoutDeliveries) -> dict[str, list[Verdict]]:
    """The verdicts by what the dialect says that an http_timeout of 0 means."""
    return {
        meaning: [
            said.verdict
            for said in judgements("8-21", observation, {"delivery.zero_http_timeout": meaning})
        ]
        for meaning in MEANINGS
    }


def test_a_timeout_of_zero_that_waits_for_a_late_answer_is_not_at_once() -> None:
    waited = of_zero(ending(sent(event(), AT_ONCE), completed=1))
    assert verdicts_of_zero(waited) == {"default": [PASS], "unlimited": [PASS], "immediate": [FAIL]}


@pytest.mark.parametrize("attempted", [True, False])
def test_a_timeout_of_zero_that_waits_for_nothing_is_at_once(attempted: bool) -> None:
    attempts = [ending(sent(event(), AT_ONCE), closed=0.01)] if attempted else []
    at_once = verdicts_of_zero(of_zero(*attempts))
    assert at_once == {"default": [FAIL], "unlimited": [FAIL], "immediate": [PASS]}


def test_what_arrived_nowhere_or_was_answered_later_shows_nothing_of_a_timeout_of_zero() -> None:
    nothing = {name: [] for name in MEANINGS}
    assert verdicts_of_zero(of_zero(prompt=False)) == nothing
    assert verdicts_of_zero(of_zero(ending(sent(event(), AT_ONCE), closed=1.1))) == nothing


def test_a_lost_event_does_not_show_that_a_timeout_of_zero_is_at_once() -> None:
    second = of_zero(ending(sent(EVENTS[1], AT_ONCE), completed=1))
    assert verdicts_of_zero(second)["default"] == [PASS]


def test_silence_ends_by_default_and_not_without_limit() -> None:
    answered = ending(sent(event(), AT_ONCE), completed=1)
    given_up = of_zero(answered, ending(sent(event(), LATE), closed=2.1))
    assert verdicts_of_zero(given_up)["default"] == [PASS, PASS]
    assert verdicts_of_zero(given_up)["unlimited"] == [PASS, FAIL]
    endless = of_zero(answered, ending(sent(event(), LATE)))
    assert verdicts_of_zero(endless)["default"] == [PASS, FAIL]
    assert verdicts_of_zero(endless)["unlimited"] == [PASS, PASS]


def test_on_a_late_machine_nothing_is_said_of_a_timeout_of_zero() -> None:
    with pytest.raises(NotExaminedError, match="this machine was late"):
        verdicts_of_zero(replace(of_zero(), late_s=2.0))
