from dataclasses import replace

from hookproof.conformance.checks.deliveries.security.egress import no_request_reaches_a_canary
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.delivery.security.egress import CANARY, EgressProbeVisits
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from tests.conformance.canned_deliveries import destination, event, observed, sent
from tests.conformance.canned_evidence import exchange, verdicts

CHECK = no_request_reaches_a_canary
PLAIN, SENTINEL = destination(), event("sentinel")
DELIVERED = sent(SENTINEL, PLAIN)


def probed(*arrived: ReceivedDelivery, visits: int = 0, status: int = 201) -> EgressProbeVisits:
    observation = observed(
        EgressProbeVisits, PLAIN, *arrived, events=[SENTINEL], visits=visits, way="endpoint at"
    )
    return replace(
        observation,
        exchanges=(*observation.exchanges, exchange(CANARY, status=status, data={"uid": "e"})),
    )


def test_a_canary_that_nobody_visits_while_the_sentinel_arrives_passes() -> None:
    assert verdicts(CHECK, probed(DELIVERED)) == {"6-20": Verdict.PASS}


def test_a_canary_that_is_visited_fails_whatever_else_arrives() -> None:
    assert verdicts(CHECK, probed(DELIVERED, visits=1)) == {"6-20": Verdict.FAIL}
    assert verdicts(CHECK, probed(visits=3)) == {"6-20": Verdict.FAIL}


def test_a_url_that_is_refused_passes_unless_it_was_visited_first() -> None:
    assert verdicts(CHECK, probed(status=422)) == {"6-20": Verdict.PASS}
    assert verdicts(CHECK, probed(status=422, visits=1)) == {"6-20": Verdict.FAIL}


def test_a_canary_is_not_judged_where_the_sentinel_did_not_arrive_or_the_target_broke() -> None:
    assert verdicts(CHECK, probed()) == {}
    assert verdicts(CHECK, probed(status=500)) == {}
