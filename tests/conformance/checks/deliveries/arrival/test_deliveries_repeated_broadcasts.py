from hookproof.conformance.checks.deliveries.arrival.repeated_broadcasts import (
    a_duplicate_is_not_delivered_again,
    events_without_a_key_are_each_delivered,
)
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.delivery.arrival.repeated_broadcasts import (
    DuplicateBroadcast,
    RepeatedBroadcast,
)
from tests.conformance.canned_deliveries import destination, event, observed, sent
from tests.conformance.canned_evidence import verdicts

PASS, FAIL, NOT_APPLICABLE = Verdict.PASS, Verdict.FAIL, Verdict.NOT_APPLICABLE
PLAIN, FIRST, SECOND = destination(), event("first"), event("second")


def repeated(*arrived: str) -> DuplicateBroadcast:
    original, duplicate, sentinel = event("original"), event("duplicate"), event("sentinel")
    deliveries = [
        sent(event(name), PLAIN, attempt=number) for number, name in enumerate(arrived, start=1)
    ]
    return observed(DuplicateBroadcast, PLAIN, *deliveries, events=[original, duplicate, sentinel])


def test_a_duplicate_that_is_not_delivered_passes() -> None:
    assert verdicts(a_duplicate_is_not_delivered_again, repeated("original", "sentinel")) == {
        "4.8-9": PASS
    }


def test_a_duplicate_that_is_delivered_fails() -> None:
    repeated_broadcast = repeated("original", "original", "sentinel")
    assert verdicts(a_duplicate_is_not_delivered_again, repeated_broadcast) == {"4.8-9": FAIL}


def test_a_duplicate_is_not_judged_without_a_sentinel() -> None:
    assert verdicts(a_duplicate_is_not_delivered_again, repeated("original")) == {}


def test_equal_events_without_a_key_are_each_delivered() -> None:
    check = events_without_a_key_are_each_delivered
    first, second = sent(FIRST, PLAIN), sent(FIRST, PLAIN, attempt=2)
    assert verdicts(
        check, observed(RepeatedBroadcast, PLAIN, first, second, events=[FIRST, SECOND])
    ) == {"4.8-11": PASS}
    assert verdicts(check, observed(RepeatedBroadcast, PLAIN, first, events=[FIRST, SECOND])) == {
        "4.8-11": FAIL
    }


def test_events_without_a_key_do_not_apply_where_the_dialect_requires_one() -> None:
    repeated_broadcast = observed(RepeatedBroadcast, [], events=[], key_required=True)
    assert verdicts(events_without_a_key_are_each_delivered, repeated_broadcast) == {
        "4.8-11": NOT_APPLICABLE
    }
