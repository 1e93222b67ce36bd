from hookproof.conformance.checks.deliveries.arrival.reach import (
    a_broadcast_arrives_at_every_endpoint_that_it_reaches,
    a_broadcast_arrives_at_no_other_endpoint,
    a_broadcast_reaches_no_endpoint_of_another_project,
    a_disabled_endpoint_receives_as_the_dialect_says,
    a_failing_endpoint_keeps_no_other_from_receiving,
    a_new_url_is_tried_as_the_dialect_says,
    an_endpoint_that_is_not_disabled_receives,
    each_endpoint_of_a_fan_out_gets_a_broadcast_once,
    the_endpoints_that_an_event_names_are_those_that_it_reached,
    the_service_sends_webhooks_of_its_own_as_the_dialect_says,
)
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.case import Case
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from tests.conformance.canned_deliveries import broadcast, destination, event, scenario, sent
from tests.conformance.canned_evidence import delivery, verdicts

PASS, FAIL = Verdict.PASS, Verdict.FAIL
EVENT, SENTINEL = event(), event("sentinel")
HEALTHY = destination("healthy")
ENABLED = destination("enabled by hand", is_disabled=False)
DISABLED = destination("disabled", is_disabled=True)
GONE, FAILING = destination("gone"), destination("failing")
UNOWNED = destination("without owner", owner_id="")


def fan_out(*deliveries: ReceivedDelivery) -> Case:
    return scenario([HEALTHY, ENABLED, DISABLED, GONE], *deliveries, events=[EVENT, SENTINEL])


EVERYWHERE = [sent(one, where) for one in (EVENT, SENTINEL) for where in (HEALTHY, ENABLED)]


def test_an_event_that_arrives_wherever_it_can_passes() -> None:
    found = verdicts(a_broadcast_arrives_at_every_endpoint_that_it_reaches, fan_out(*EVERYWHERE))
    assert found == {"1-1": PASS, "4.8-13": PASS}


def test_an_endpoint_that_is_left_out_fails() -> None:
    found = verdicts(
        a_broadcast_arrives_at_every_endpoint_that_it_reaches, fan_out(sent(EVENT, HEALTHY))
    )
    assert found == {"1-1": FAIL, "4.8-13": FAIL}


def test_an_endpoint_without_owner_is_reached_as_the_dialect_says() -> None:
    case = scenario(
        [HEALTHY, UNOWNED], sent(EVENT, HEALTHY), sent(SENTINEL, HEALTHY), events=[EVENT, SENTINEL]
    )
    assert verdicts(a_broadcast_arrives_at_every_endpoint_that_it_reaches, case)["4.8-13"] is FAIL
    assert (
        verdicts(a_broadcast_arrives_at_every_endpoint_that_it_reaches, case, "contrary")["4.8-13"]
        is PASS
    )
    assert verdicts(a_broadcast_arrives_at_no_other_endpoint, case, "contrary") == {"4.8-14": PASS}


def test_an_endpoint_that_is_not_reached_and_gets_nothing_passes() -> None:
    assert verdicts(a_broadcast_arrives_at_no_other_endpoint, fan_out(*EVERYWHERE)) == {
        "4.8-14": PASS
    }


def test_an_endpoint_that_is_not_reached_and_gets_the_event_fails() -> None:
    case = fan_out(*EVERYWHERE, sent(EVENT, DISABLED))
    assert verdicts(a_broadcast_arrives_at_no_other_endpoint, case) == {"4.8-14": FAIL}


def test_silence_without_a_sentinel_is_not_judged() -> None:
    case = fan_out(sent(EVENT, HEALTHY))
    assert verdicts(a_broadcast_arrives_at_no_other_endpoint, case) == {}
    assert verdicts(a_disabled_endpoint_receives_as_the_dialect_says, case) == {}
    assert verdicts(each_endpoint_of_a_fan_out_gets_a_broadcast_once, case) == {}


def test_a_disabled_endpoint_receives_nothing_under_the_reference_dialect() -> None:
    check = a_disabled_endpoint_receives_as_the_dialect_says
    assert verdicts(check, fan_out(*EVERYWHERE)) == {"3-6": PASS}
    assert verdicts(check, fan_out(*EVERYWHERE, sent(EVENT, DISABLED))) == {"3-6": FAIL}


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
    missed = scenario([HEALTHY, FAILING], refused, events=[EVENT])
    assert verdicts(a_failing_endpoint_keeps_no_other_from_receiving, missed) == {"1-2": FAIL}
    assert (
        verdicts(
            a_failing_endpoint_keeps_no_other_from_receiving,
            scenario([HEALTHY, FAILING], events=[EVENT]),
        )
        == {}
    )


def test_a_second_delivery_in_a_fan_out_fails() -> None:
    check = each_endpoint_of_a_fan_out_gets_a_broadcast_once
    assert verdicts(check, fan_out(*EVERYWHERE)) == {"4.8-15": PASS}
    assert verdicts(check, fan_out(*EVERYWHERE, sent(EVENT, HEALTHY, attempt=2))) == {
        "4.8-15": FAIL
    }


def two_projects(*deliveries: ReceivedDelivery) -> Case:
    return scenario(
        [HERE, THERE], *deliveries, events=[event("event here"), event("event there", project="p2")]
    )


HERE, THERE = destination("here"), destination("there", project="p2")
OWN = [sent(event("event here"), HERE), sent(event("event there"), THERE)]


def test_events_that_stay_in_their_projects_pass() -> None:
    assert verdicts(a_broadcast_reaches_no_endpoint_of_another_project, two_projects(*OWN)) == {
        "1-11": PASS
    }


def test_an_event_that_arrives_in_another_project_fails() -> None:
    case = two_projects(*OWN, sent(event("event here"), THERE))
    assert verdicts(a_broadcast_reaches_no_endpoint_of_another_project, case) == {"1-11": FAIL}


def named(*endpoints: str) -> Case:
    calls = [broadcast(EVENT, answer={"endpoints": list(endpoints)})]
    return scenario([HEALTHY, DISABLED], sent(EVENT, HEALTHY), events=[EVENT], exchanges=calls)


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


def test_a_visit_to_a_new_url_is_judged_by_the_dialect() -> None:
    quiet = scenario(HEALTHY, sent(EVENT, HEALTHY))
    visited = scenario(
        HEALTHY, delivery(HEALTHY.token, method="HEAD", body=b""), sent(EVENT, HEALTHY)
    )
    asked = scenario(HEALTHY, delivery(HEALTHY.token, method="GET", body=b""), sent(EVENT, HEALTHY))
    check = a_new_url_is_tried_as_the_dialect_says
    assert [verdicts(check, one)["4.1-16"] for one in (quiet, visited, asked)] == [PASS, FAIL, FAIL]
    assert [verdicts(check, one, "contrary")["4.1-16"] for one in (quiet, visited, asked)] == [
        PASS,
        PASS,
        FAIL,
    ]


def test_webhooks_about_the_services_own_resources_are_judged_by_the_dialect() -> None:
    check = the_service_sends_webhooks_of_its_own_as_the_dialect_says
    quiet = scenario(HEALTHY, sent(SENTINEL, HEALTHY), events=[SENTINEL])
    told = scenario(
        HEALTHY,
        delivery(HEALTHY.token, body=b'{"created":"x"}'),
        sent(SENTINEL, HEALTHY),
        events=[SENTINEL],
    )
    assert verdicts(check, quiet) == {"6-16": PASS}
    assert verdicts(check, told) == {"6-16": FAIL}
