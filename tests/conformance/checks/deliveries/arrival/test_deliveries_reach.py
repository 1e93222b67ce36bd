from dataclasses import replace

import pytest

from hookproof.conformance.checks.deliveries.arrival.reach import (
    a_broadcast_arrives_at_every_endpoint_that_it_reaches,
    a_broadcast_arrives_at_no_other_endpoint,
    a_broadcast_reaches_no_endpoint_of_another_project,
    a_disabled_endpoint_receives_as_the_dialect_says,
    a_failing_endpoint_keeps_no_other_from_receiving,
    an_endpoint_that_is_not_disabled_receives,
    each_endpoint_of_a_fan_out_gets_a_broadcast_once,
    the_endpoints_that_an_event_names_are_those_that_it_reached,
)
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.delivery.arrival.fan_out import (
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
from tests.conformance.canned_evidence import NOW, verdicts

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
    ("shown", "verdict", "in_contrary"),
    [("owner", FAIL, FAIL), (None, FAIL, PASS), ("another", FAIL, PASS)],
)
def test_an_endpoint_that_lost_its_owner_is_not_missed_where_owners_decide(
    shown: str | None, verdict: Verdict, in_contrary: Verdict
) -> None:
    check = a_broadcast_arrives_at_every_endpoint_that_it_reaches
    arrived = [sent(EVENT, HEALTHY), sent(SENTINEL, HEALTHY), sent(EVENT, FAILING)]
    missed = observed(
        OneProjectFanOut, [HEALTHY, ENABLED, FAILING], *arrived, events=[EVENT, SENTINEL]
    )
    kept = [each for each in missed.exchanges if each.role != ENABLED.name]
    missed = replace(missed, exchanges=(created(ENABLED, owner_id=shown), *kept))
    assert verdicts(check, missed)["1-1"] is verdict
    assert verdicts(check, missed, "contrary")["1-1"] is in_contrary
    check = a_failing_endpoint_keeps_no_other_from_receiving
    assert verdicts(check, missed)["1-2"] is verdict
    assert verdicts(check, missed, "contrary")["1-2"] is in_contrary


def test_an_event_that_arrives_wherever_it_can_passes() -> None:
    actual = verdicts(a_broadcast_arrives_at_every_endpoint_that_it_reaches, fan_out(*EVERYWHERE))
    assert actual == {"1-1": PASS, "4.8-13": PASS}


def test_an_endpoint_that_is_left_out_fails() -> None:
    actual = verdicts(
        a_broadcast_arrives_at_every_endpoint_that_it_reaches, fan_out(sent(EVENT, HEALTHY))
    )
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
    actual = verdicts(a_broadcast_arrives_at_every_endpoint_that_it_reaches, reached)
    assert actual == {"1-1": FAIL, "4.8-13": FAIL}


def test_an_endpoint_without_owner_is_reached_as_the_dialect_says() -> None:
    reached = observed(
        OneProjectFanOut,
        [HEALTHY, UNOWNED],
        sent(EVENT, HEALTHY),
        sent(SENTINEL, HEALTHY),
        events=[EVENT, SENTINEL],
    )
    assert (
        verdicts(a_broadcast_arrives_at_every_endpoint_that_it_reaches, reached)["4.8-13"] is FAIL
    )
    assert (
        verdicts(a_broadcast_arrives_at_every_endpoint_that_it_reaches, reached, "contrary")[
            "4.8-13"
        ]
        is PASS
    )
    assert verdicts(a_broadcast_arrives_at_no_other_endpoint, reached, "contrary") == {
        "4.8-14": PASS
    }


def test_an_endpoint_that_is_not_reached_and_gets_nothing_passes() -> None:
    assert verdicts(a_broadcast_arrives_at_no_other_endpoint, fan_out(*EVERYWHERE)) == {
        "4.8-14": PASS
    }


def test_an_endpoint_that_is_not_reached_and_gets_the_event_fails() -> None:
    reached = fan_out(*EVERYWHERE, sent(EVENT, DISABLED))
    assert verdicts(a_broadcast_arrives_at_no_other_endpoint, reached) == {"4.8-14": FAIL}


def test_silence_without_a_sentinel_is_not_judged() -> None:
    reached = fan_out(sent(EVENT, HEALTHY))
    assert verdicts(a_broadcast_arrives_at_no_other_endpoint, reached) == {}
    assert verdicts(a_disabled_endpoint_receives_as_the_dialect_says, reached) == {}
    assert verdicts(each_endpoint_of_a_fan_out_gets_a_broadcast_once, reached) == {}


def test_a_disabled_endpoint_receives_nothing_under_the_reference_dialect() -> None:
    check = a_disabled_endpoint_receives_as_the_dialect_says
    assert verdicts(check, fan_out(*EVERYWHERE)) == {"3-6": PASS}
    assert verdicts(check, fan_out(*EVERYWHERE, sent(EVENT, DISABLED))) == {"3-6": FAIL}


def test_a_disabled_endpoint_that_got_a_later_event_receives() -> None:
    check = a_disabled_endpoint_receives_as_the_dialect_says
    later = fan_out(*EVERYWHERE, sent(SENTINEL, DISABLED))
    assert verdicts(check, later) == {"3-6": FAIL}
    assert verdicts(check, later, "contrary") == {"3-6": PASS}


@pytest.mark.parametrize("dialect", ["reference", "contrary"])
def test_an_event_that_arrived_nowhere_says_nothing_of_disabled_endpoints(dialect: str) -> None:
    reached = fan_out(*(sent(SENTINEL, where) for where in (HEALTHY, ENABLED, DISABLED)))
    assert verdicts(a_disabled_endpoint_receives_as_the_dialect_says, reached, dialect) == {}


def test_a_disabled_endpoint_receives_under_the_contrary_dialect() -> None:
    check = a_disabled_endpoint_receives_as_the_dialect_says
    assert verdicts(check, fan_out(*EVERYWHERE), "contrary") == {"3-6": FAIL}
    assert verdicts(check, fan_out(*EVERYWHERE, sent(EVENT, DISABLED)), "contrary") == {"3-6": PASS}


def test_an_endpoint_enabled_by_hand_receives() -> None:
    assert verdicts(an_endpoint_that_is_not_disabled_receives, fan_out(*EVERYWHERE)) == {
        "3-5": PASS
    }
    assert verdicts(an_endpoint_that_is_not_disabled_receives, fan_out(sent(EVENT, HEALTHY))) == {
        "3-5": FAIL
    }


def test_healthy_endpoints_receive_beside_failing_ones() -> None:
    assert verdicts(a_failing_endpoint_keeps_no_other_from_receiving, fan_out(*EVERYWHERE)) == {
        "1-2": PASS
    }
    refused = sent(EVENT, FAILING, status=500)
    missed = observed(OneProjectFanOut, [HEALTHY, FAILING], refused, events=[EVENT])
    assert verdicts(a_failing_endpoint_keeps_no_other_from_receiving, missed) == {"1-2": FAIL}
    assert (
        verdicts(
            a_failing_endpoint_keeps_no_other_from_receiving,
            observed(OneProjectFanOut, [HEALTHY, FAILING], events=[EVENT]),
        )
        == {}
    )


def test_a_second_delivery_in_a_fan_out_fails() -> None:
    check = each_endpoint_of_a_fan_out_gets_a_broadcast_once
    assert verdicts(check, fan_out(*EVERYWHERE)) == {"4.8-15": PASS}
    assert verdicts(check, fan_out(*EVERYWHERE, sent(EVENT, HEALTHY, attempt=2))) == {
        "4.8-15": FAIL
    }


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
    assert verdicts(a_broadcast_reaches_no_endpoint_of_another_project, two_projects(*OWN)) == {
        "1-11": PASS
    }


def test_an_event_that_arrives_in_another_project_fails() -> None:
    reached = two_projects(*OWN, sent(event("event here"), THERE))
    assert verdicts(a_broadcast_reaches_no_endpoint_of_another_project, reached) == {"1-11": FAIL}


def named(*endpoints: str) -> OneProjectFanOut:
    calls = [broadcast(EVENT, answer={"endpoints": list(endpoints)})]
    return observed(
        OneProjectFanOut, [HEALTHY, DISABLED], sent(EVENT, HEALTHY), events=[EVENT], exchanges=calls
    )


def test_an_event_that_names_the_endpoints_it_reached_passes() -> None:
    check = the_endpoints_that_an_event_names_are_those_that_it_reached
    assert verdicts(check, named(HEALTHY.uid, "uid of another")) == {"2.8-6": PASS}


def test_an_event_that_names_other_endpoints_fails() -> None:
    check = the_endpoints_that_an_event_names_are_those_that_it_reached
    assert verdicts(check, named("uid of another")) == {"2.8-6": FAIL}
    assert verdicts(check, named(HEALTHY.uid, DISABLED.uid)) == {"2.8-6": FAIL}


def test_an_event_that_names_no_endpoints_is_not_judged() -> None:
    check = the_endpoints_that_an_event_names_are_those_that_it_reached
    assert verdicts(check, named()) == {"2.8-6": Verdict.NOT_APPLICABLE}
