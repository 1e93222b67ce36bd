from dataclasses import replace

import pytest

from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.subjects.refused_broadcasts.evidence import RefusedBroadcasts
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from tests.conformance.canned_deliveries import destination, event, observed, sent
from tests.conformance.canned_evidence import exchange, verdict

PLAIN, SENTINEL = destination(), event("sentinel")
DELIVERED = sent(SENTINEL, PLAIN)
LEAKED = sent(event("leaked"), PLAIN, body=b'{"marker":"refused-1"}')


def refused(*arrived: ReceivedDelivery, status: int | None = 401) -> RefusedBroadcasts:
    accepted = observed(
        RefusedBroadcasts, PLAIN, *arrived, events=[SENTINEL], markers=("refused-1",)
    )
    tried = exchange(
        "refused", "createBroadcastEvent", status=status, data={"uid": "e"}, key="wrong"
    )
    return replace(accepted, exchanges=(*accepted.exchanges, tried))


def test_a_refused_broadcast_that_is_not_delivered_passes() -> None:
    assert verdict("5-15", refused(DELIVERED)) is Verdict.PASS


def test_a_refused_broadcast_that_is_delivered_fails() -> None:
    assert verdict("5-15", refused(DELIVERED, LEAKED)) is Verdict.FAIL


def test_a_refused_broadcast_is_not_judged_without_a_sentinel() -> None:
    assert verdict("5-15", refused()) is None


def test_a_broadcast_that_was_accepted_is_not_judged_here() -> None:
    assert verdict("5-15", refused(DELIVERED, LEAKED, status=201)) is None


@pytest.mark.parametrize("status", [302, 429, 500, 502, 503, None])
def test_a_broadcast_that_was_not_refused_is_not_judged(status: int | None) -> None:
    for arrived in ((DELIVERED,), (DELIVERED, LEAKED)):
        assert verdict("5-15", refused(*arrived, status=status)) is None
