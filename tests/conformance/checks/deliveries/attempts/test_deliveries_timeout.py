from hookproof.conformance.checks.deliveries.attempts.timeout import (
    an_endpoint_that_answers_in_time_is_waited_for,
    an_endpoint_that_does_not_answer_is_given_up_in_time,
)
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.case import Case
from tests.conformance.canned_deliveries import destination, ending, event, scenario, sent
from tests.conformance.canned_evidence import NOW, verdicts

PASS, FAIL = Verdict.PASS, Verdict.FAIL
SILENT, ENDLESS, SLOW = (
    destination(name, http_timeout=2) for name in ("silent", "endless", "slow")
)
DEFAULT = destination("silent")
ATTEMPT = {one.name: sent(event(), one) for one in (SILENT, ENDLESS, SLOW)}
FACTS = {"timeout_s": 2, "patient_s": 6, "slow_s": 2.5}


def waited(name: str, closed: float | None) -> Case:
    where = {"silent": SILENT, "endless": ENDLESS}[name]
    return scenario(where, ending(ATTEMPT[name], closed=closed), **FACTS)


def test_an_endpoint_that_is_left_in_time_passes() -> None:
    check = an_endpoint_that_does_not_answer_is_given_up_in_time
    assert verdicts(check, waited("silent", 2.1)) == {"8-7": PASS}
    assert verdicts(check, waited("endless", 2.1)) == {"8-19": PASS}


def test_an_endpoint_that_is_never_left_fails() -> None:
    check = an_endpoint_that_does_not_answer_is_given_up_in_time
    assert verdicts(check, waited("silent", None)) == {"8-7": FAIL}
    assert verdicts(check, waited("endless", 30)) == {"8-19": FAIL}


def test_a_second_attempt_shows_that_the_first_was_given_up() -> None:
    again = sent(event(), SILENT, at=NOW + 3, attempt=2)
    case = scenario(SILENT, ending(ATTEMPT["silent"]), again, **FACTS)
    assert verdicts(an_endpoint_that_does_not_answer_is_given_up_in_time, case) == {"8-7": PASS}


def test_an_endpoint_without_timeout_is_judged_by_the_default() -> None:
    case = scenario(DEFAULT, ending(sent(event(), DEFAULT), closed=2), **FACTS)
    assert verdicts(an_endpoint_that_does_not_answer_is_given_up_in_time, case) == {"8-9": PASS}


def test_a_slow_answer_that_is_waited_for_passes() -> None:
    case = scenario(SLOW, ending(ATTEMPT["slow"], completed=2.5), **FACTS)
    assert verdicts(an_endpoint_that_answers_in_time_is_waited_for, case) == {"8-8": PASS}


def test_a_slow_answer_that_is_not_waited_for_fails() -> None:
    case = scenario(SLOW, ending(ATTEMPT["slow"], closed=0.01), **FACTS)
    assert verdicts(an_endpoint_that_answers_in_time_is_waited_for, case) == {"8-8": FAIL}
