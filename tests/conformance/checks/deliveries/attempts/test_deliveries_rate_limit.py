from collections.abc import Iterable
from dataclasses import replace

import pytest

from hookproof.conformance.checks.deliveries.attempts.rate_limit import (
    a_limit_of_0_limits_nothing,
    a_limit_without_duration_counts_over_the_default_time,
    an_endpoint_gets_no_more_than_its_limit,
    deliveries_above_the_limit_wait_or_are_dropped,
    the_limit_of_one_endpoint_holds_back_no_other,
    two_endpoints_have_a_limit_each,
)
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.delivery.attempts.rate_limit import RateLimitBurst
from tests.conformance.canned_deliveries import created, destination, event, observed, sent
from tests.conformance.canned_evidence import NOW, verdicts

PASS, FAIL = Verdict.PASS, Verdict.FAIL
LIMITED, AS_WELL, UNLIMITED = (
    destination("limited"),
    destination("limited as well"),
    destination("without limit"),
)
ZERO = destination("limit of 0", rate_limit=0)
EVENTS = [event(f"burst {number}") for number in range(12)]
SLIDING = [0, 1.2, 1.2, 1.2, 1.2, 2.0, 3.2, 3.2, 3.2, 3.2, 4.0, 5.2]
FIXED = [0, 1.2, 1.2, 1.2, 1.2, 2.0, 2.0, 2.0, 2.0, 2.0, 4.0, 4.0]
AT_ONCE = [0, *[1.2] * 11]
BUCKET = [0, 1.2, 1.2, 1.2, 1.2, 1.6, 2.0, 2.4, 2.8, 3.2, 3.6, 4.0]


def burst(**arrivals: Iterable[float]) -> RateLimitBurst:
    """What arrived when at each endpoint, by its name with underscores for spaces."""
    named = {where.name.replace(" ", "_"): where for where in (LIMITED, AS_WELL, UNLIMITED, ZERO)}
    arrived = [
        sent(what, named[name], at=NOW + at)
        for name, times in arrivals.items()
        for what, at in zip(EVENTS, times, strict=False)
    ]
    destinations = [named[name] for name in arrivals]
    return observed(RateLimitBurst, destinations, *arrived, events=EVENTS, limit=5, window_s=2.0)


@pytest.mark.parametrize(
    ("times", "stated", "hygiene"),
    [(SLIDING, PASS, PASS), (FIXED, PASS, FAIL), (BUCKET, PASS, FAIL), (AT_ONCE, FAIL, FAIL)],
    ids=["sliding window", "fixed window", "token bucket", "no limit"],
)
def test_the_way_of_counting_decides_which_requirement_holds(
    times: list[float], stated: Verdict, hygiene: Verdict
) -> None:
    actual = verdicts(an_endpoint_gets_no_more_than_its_limit, burst(limited=times))
    assert actual == {"8-1": stated, "8-2": hygiene}


def test_arrivals_that_bunch_on_a_busy_machine_pass() -> None:
    late = [0.0, *[1.6] * 4, 2.1, *[3.3] * 4, 4.6, 5.2]
    assert verdicts(an_endpoint_gets_no_more_than_its_limit, burst(limited=late)) == {
        "8-1": PASS,
        "8-2": PASS,
    }


def test_a_limit_that_drops_the_excess_passes() -> None:
    actual = verdicts(an_endpoint_gets_no_more_than_its_limit, burst(limited=SLIDING[:5]))
    assert actual == {"8-1": PASS, "8-2": PASS}


def test_an_endpoint_that_gets_nothing_is_not_judged() -> None:
    assert verdicts(an_endpoint_gets_no_more_than_its_limit, burst(limited=[])) == {}


def test_an_endpoint_without_limit_that_gets_everything_at_once_passes() -> None:
    check = the_limit_of_one_endpoint_holds_back_no_other
    assert verdicts(check, burst(without_limit=AT_ONCE)) == {"8-3": PASS}
    assert verdicts(check, burst(without_limit=[at + 30 for at in AT_ONCE])) == {"8-3": PASS}


def test_an_endpoint_without_limit_that_is_paced_or_loses_an_event_fails() -> None:
    check = the_limit_of_one_endpoint_holds_back_no_other
    assert verdicts(check, burst(without_limit=SLIDING)) == {"8-3": FAIL}
    assert verdicts(check, burst(without_limit=AT_ONCE[:-1])) == {"8-3": FAIL}


def test_two_endpoints_with_limits_of_their_own_pass() -> None:
    check = two_endpoints_have_a_limit_each
    assert verdicts(check, burst(limited=SLIDING, limited_as_well=SLIDING)) == {"8-3": PASS}
    assert verdicts(check, burst(limited=BUCKET, limited_as_well=BUCKET)) == {"8-3": PASS}


def test_two_endpoints_that_share_one_limit_fail() -> None:
    turns = [0.8 * number for number in range(12)]
    shared = burst(limited=turns, limited_as_well=[at + 0.4 for at in turns])
    assert verdicts(two_endpoints_have_a_limit_each, shared) == {"8-3": FAIL}


def test_two_endpoints_that_lose_their_excess_are_compared_by_what_arrived() -> None:
    each = burst(limited=SLIDING[:5], limited_as_well=SLIDING[:5])
    assert verdicts(two_endpoints_have_a_limit_each, each) == {"8-3": PASS}
    late = burst(
        limited=[0.8 * number for number in range(7)],
        limited_as_well=[0.8 * number + 0.4 for number in range(7)],
    )
    assert verdicts(two_endpoints_have_a_limit_each, late) == {"8-3": FAIL}


def test_two_endpoints_that_got_no_more_than_one_limit_are_not_compared() -> None:
    observation = burst(limited=SLIDING[:3], limited_as_well=SLIDING[:2])
    assert verdicts(two_endpoints_have_a_limit_each, observation) == {}


def test_an_endpoint_that_got_nothing_shares_no_limit() -> None:
    observation = burst(limited=SLIDING, limited_as_well=[])
    assert verdicts(two_endpoints_have_a_limit_each, observation) == {}


def test_excess_that_waits_is_judged_by_the_dialect() -> None:
    check = deliveries_above_the_limit_wait_or_are_dropped
    assert verdicts(check, burst(limited=SLIDING)) == {"8-4": PASS}
    assert verdicts(check, burst(limited=SLIDING[:5])) == {"8-4": FAIL}
    assert verdicts(check, burst(limited=SLIDING), "contrary") == {"8-4": FAIL}
    assert verdicts(check, burst(limited=SLIDING[:5]), "contrary") == {"8-4": PASS}


def test_a_limit_of_0_limits_nothing_where_the_dialect_says_so() -> None:
    assert verdicts(a_limit_of_0_limits_nothing, burst(limit_of_0=AT_ONCE)) == {"8-5": PASS}
    assert verdicts(a_limit_of_0_limits_nothing, burst(limit_of_0=[], without_limit=AT_ONCE)) == {
        "8-5": FAIL
    }
    assert verdicts(a_limit_of_0_limits_nothing, burst(limit_of_0=[])) == {}
    assert verdicts(a_limit_of_0_limits_nothing, burst(limit_of_0=[]), "contrary") == {}


def shown(**data: object) -> RateLimitBurst:
    """A burst to an endpoint without duration whose creation shows these fields."""
    where = destination("limited without duration", rate_limit=5)
    return replace(burst(), destinations=(where,), exchanges=(created(where, **data),))


def test_the_default_duration_shows() -> None:
    check = a_limit_without_duration_counts_over_the_default_time
    assert verdicts(check, shown(rate_limit_duration=1)) == {"8-6": PASS}
    assert verdicts(check, shown(rate_limit_duration=60)) == {"8-6": FAIL}
    assert verdicts(check, shown()) == {}
