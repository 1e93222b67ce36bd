from dataclasses import replace

import pytest

from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.subjects.reach.evidence import (
    OneProjectFanOut,
    TwoProjectFanOut,
)
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from tests.conformance.canned_deliveries import (
    broadcast,
    created,
    destination,
    event,
    observed,
    sent,
)
from tests.conformance.canned_evidence import NOW, verdict, verdicts

PASS, FAIL = Verdict.PASS, Verdict.FAIL
EVENT, SENTINEL = event(), event("sentinel")
HEALTHY = destination("healthy")
ENABLED = destination("enabled by hand", is_disabled=False)
DISABLED = destination("disabled", is_disabled=True)
GONE, FAILING, HANGING = (destination(name) for name in ("gone", "failing", "hanging"))
UNOWNED = destination("without owner", owner_id="")


def fan_out(*deliveries: ReceivedDelivery) -> OneProjectFanOut:
    return observed(
        OneProjectFanOut, [HEALTHY, ENABLED, DISABLED, GONE], *deliveries, events=[EVENT, SENTINEL]
    )


EVERYWHERE = [sent(what, where) for what in (EVENT, SENTINEL) for where in (HEALTHY, ENABLED)]


@pytest.mark.parametrize(
    ("shown", "expected", "in_contrary"),
    [("owner", FAIL, FAIL), (None, FAIL, PASS), ("another", FAIL, PASS)],
)
def test_an_endpoint_that_lost_its_owner_is_not_missed_where_owners_decide(
    shown: str | None, expected: Verdict, in_contrary: Verdict
) -> None:
    arrived = [sent(EVENT, HEALTHY), sent(SENTINEL, HEALTHY), sent(EVENT, FAILING)]
    missed = observed(
        OneProjectFanOut, [HEALTHY, ENABLED, FAILING], *arrived, events=[EVENT, SENTINEL]
    )
    kept = [each for each in missed.exchanges if each.role != ENABLED.name]
    missed = replace(missed, exchanges=(created(ENABLED, owner_id=shown), *kept))
    assert verdict("1-1", missed) is expected
    assert verdict("1-1", missed, "contrary") is in_contrary

    assert verdict("1-2", missed) is expected
    assert verdict("1-2", missed, "contrary") is in_contrary


def test_an_event_that_arrives_wherever_it_can_passes() -> None:
    actual = verdicts("1-1 4.8-13", fan_out(*EVERYWHERE))
    assert actual == {"1-1": PASS, "4.8-13": PASS}


def test_an_endpoint_that_is_left_out_fails() -> None:
    actual = verdicts("1-1 4.8-13", fan_out(sent(EVENT, HEALTHY)))
    assert actual == {"1-1": FAIL, "4.8-13": FAIL}


def test_an_endpoint_that_hangs_does_not_excuse_what_another_misses() -> None:
    deliveries = [
        sent(EVENT, HEALTHY, at=NOW + 0.1),
        sent(SENTINEL, HEALTHY, at=NOW + 0.1),
        sent(EVENT, HANGING, at=NOW + 0.1),
        sent(SENTINEL, HANGING, at=NOW + 2.0),
    ]
    reached = observed(
        OneProjectFanOut,
        [HEALTHY, UNOWNED, HANGING],
        *deliveries,
        events=[EVENT, SENTINEL],
        ended_at=NOW + 4.0,
        backlog_s={HANGING.token: 2.0},
    )
    assert verdicts("1-1 4.8-13", reached) == {"1-1": FAIL, "4.8-13": FAIL}


def test_an_endpoint_without_owner_is_reached_as_the_dialect_says() -> None:
    reached = observed(
        OneProjectFanOut,
        [HEALTHY, UNOWNED],
        sent(EVENT, HEALTHY),
        sent(SENTINEL, HEALTHY),
        events=[EVENT, SENTINEL],
    )
    assert verdict("4.8-13", reached) is FAIL
    assert verdict("4.8-13", reached, "contrary") is PASS
    assert verdict("4.8-14", reached, "contrary") is PASS


def test_an_endpoint_that_is_not_reached_and_gets_nothing_passes() -> None:
    assert verdict("4.8-14", fan_out(*EVERYWHERE)) is PASS


def test_an_endpoint_that_is_not_reached_and_gets_the_event_fails() -> None:
    reached = fan_out(*EVERYWHERE, sent(EVENT, DISABLED))
    assert verdict("4.8-14", reached) is FAIL


def test_silence_without_a_sentinel_is_not_judged() -> None:
    reached = fan_out(sent(EVENT, HEALTHY))
    assert verdict("4.8-14", reached) is None
    assert verdict("3-6", reached) is None
    assert verdict("4.8-15", reached) is None


def test_a_disabled_endpoint_receives_nothing_under_the_reference_dialect() -> None:
    assert verdict("3-6", fan_out(*EVERYWHERE)) is PASS
    assert verdict("3-6", fan_out(*EVERYWHERE, sent(EVENT, DISABLED))) is FAIL


def test_a_disabled_endpoint_that_got_a_later_event_receives() -> None:
    later = fan_out(*EVERYWHERE, sent(SENTINEL, DISABLED))
    assert verdict("3-6", later) is FAIL
    assert verdict("3-6", later, "contrary") is PASS


@pytest.mark.parametrize("dialect", ["reference", "contrary"])
def test_an_event_that_arrived_nowhere_says_nothing_of_disabled_endpoints(dialect: str) -> None:
    reached = fan_out(*(sent(SENTINEL, where) for where in (HEALTHY, ENABLED, DISABLED)))
    assert verdict("3-6", reached, dialect) is None


def test_a_disabled_endpoint_receives_under_the_contrary_dialect() -> None:
    assert verdict("3-6", fan_out(*EVERYWHERE), "contrary") is FAIL
    assert verdict("3-6", fan_out(*EVERYWHERE, sent(EVENT, DISABLED)), "contrary") is PASS


def test_an_endpoint_enabled_by_hand_receives() -> None:
    assert verdict("3-5", fan_out(*EVERYWHERE)) is PASS
    assert verdict("3-5", fan_out(sent(EVENT, HEALTHY))) is FAIL


def test_healthy_endpoints_receive_beside_failing_ones() -> None:
    assert verdict("1-2", fan_out(*EVERYWHERE)) is PASS
    refused = sent(EVENT, FAILING, status=500)
    missed = observed(OneProjectFanOut, [HEALTHY, FAILING], refused, events=[EVENT])
    assert verdict("1-2", missed) is FAIL
    assert verdict("1-2", observed(OneProjectFanOut, [HEALTHY, FAILING], events=[EVENT])) is None


def test_a_second_delivery_in_a_fan_out_fails() -> None:
    assert verdict("4.8-15", fan_out(*EVERYWHERE)) is PASS
    assert verdict("4.8-15", fan_out(*EVERYWHERE, sent(EVENT, HEALTHY, attempt=2))) is FAIL


def two_projects(*deliveries: ReceivedDelivery) -> TwoProjectFanOut:
    return observed(
        TwoProjectFanOut,
        [HERE, THERE],
        *deliveries,
        events=[event("event here"), event("event there", project="p2")],
    )


HERE, THERE = destination("here"), destination("there", project="p2")
OWN = [sent(event("event here"), HERE), sent(event("event there"), THERE)]


def test_events_that_stay_in_their_projects_pass() -> None:
    assert verdict("1-11", two_projects(*OWN)) is PASS


def test_an_event_that_arrives_in_another_project_fails() -> None:
    reached = two_projects(*OWN, sent(event("event here"), THERE))
    assert verdict("1-11", reached) is FAIL


def named(*endpoints: str) -> OneProjectFanOut:
    calls = [broadcast(EVENT, answer={"endpoints": list(endpoints)})]
    return observed(
        OneProjectFanOut, [HEALTHY, DISABLED], sent(EVENT, HEALTHY), events=[EVENT], exchanges=calls
    )


def test_an_event_that_names_the_endpoints_it_reached_passes() -> None:
    assert verdict("2.8-6", named(HEALTHY.uid, "uid of another")) is PASS


def test_an_event_that_names_other_endpoints_fails() -> None:
    assert verdict("2.8-6", named("uid of another")) is FAIL
    assert verdict("2.8-6", named(HEALTHY.uid, DISABLED.uid)) is FAIL


def test_an_event_that_names_no_endpoints_is_not_judged() -> None:
    assert verdict("2.8-6", named()) is Verdict.NOT_APPLICABLE
