from dataclasses import replace

from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.subjects.egress.evidence import CANARY, EgressProbeVisits
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from tests.conformance.canned_deliveries import destination, event, observed, sent
from tests.conformance.canned_evidence import exchange, verdict

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
    assert verdict("6-20", probed(DELIVERED)) is Verdict.PASS


def test_a_canary_that_is_visited_fails_whatever_else_arrives() -> None:
    assert verdict("6-20", probed(DELIVERED, visits=1)) is Verdict.FAIL
    assert verdict("6-20", probed(visits=3)) is Verdict.FAIL


def test_a_url_that_is_refused_passes_unless_it_was_visited_first() -> None:
    assert verdict("6-20", probed(status=422)) is Verdict.PASS
    assert verdict("6-20", probed(status=422, visits=1)) is Verdict.FAIL


def test_a_canary_is_not_judged_where_the_sentinel_did_not_arrive_or_the_target_broke() -> None:
    assert verdict("6-20", probed()) is None
    assert verdict("6-20", probed(status=500)) is None
