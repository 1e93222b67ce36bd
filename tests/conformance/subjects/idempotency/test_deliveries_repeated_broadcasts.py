from collections.abc import Iterable
from dataclasses import replace
from typing import Final

import pytest

from hookproof.conformance.model.evidence import NotExaminedError
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.subjects.idempotency.evidence import (
    OWN_KEY,
    SAME_KEY,
    THERE,
    USED,
    DuplicateBroadcast,
    KeysOfTwoProjects,
    RepeatedBroadcast,
)
from tests.conformance.canned_deliveries import broadcast, destination, event, observed, sent
from tests.conformance.canned_evidence import NOW, verdict, verdicts
from tests.conformance.checks.api.example import refusal

PASS, FAIL, NOT_APPLICABLE = Verdict.PASS, Verdict.FAIL, Verdict.NOT_APPLICABLE
PLAIN, FIRST, SECOND = destination(), event("first"), event("second")


def repeated(*arrived: str) -> DuplicateBroadcast:
    original, duplicate, sentinel = event("original"), event("duplicate"), event("sentinel")
    deliveries = [
        sent(event(name), PLAIN, attempt=number) for number, name in enumerate(arrived, start=1)
    ]
    return observed(DuplicateBroadcast, PLAIN, *deliveries, events=[original, duplicate, sentinel])


def test_a_duplicate_that_is_not_delivered_passes() -> None:
    assert verdict("4.8-9", repeated("original", "sentinel")) is PASS


def test_a_duplicate_that_is_delivered_fails() -> None:
    repeated_broadcast = repeated("original", "original", "sentinel")
    assert verdict("4.8-9", repeated_broadcast) is FAIL


def test_a_duplicate_is_not_judged_without_a_sentinel() -> None:
    assert verdict("4.8-9", repeated("original")) is None


def test_equal_events_without_a_key_are_each_delivered() -> None:
    first, second = sent(FIRST, PLAIN), sent(FIRST, PLAIN, attempt=2)
    assert (
        verdict("4.8-11", observed(RepeatedBroadcast, PLAIN, first, second, events=[FIRST, SECOND]))
        is PASS
    )
    assert (
        verdict("4.8-11", observed(RepeatedBroadcast, PLAIN, first, events=[FIRST, SECOND])) is FAIL
    )


def test_events_without_a_key_do_not_apply_where_the_dialect_requires_one() -> None:
    repeated_broadcast = observed(RepeatedBroadcast, [], events=[], key_required=True)
    assert verdict("4.8-11", repeated_broadcast) is NOT_APPLICABLE


PLACE: Final = destination(THERE, project="p2")
OTHER: Final = "4.8-12"


def keys(
    arrived: Iterable[str],
    *,
    astray: Iterable[str] = (),
    refused: Iterable[str] = (),
    ended_s: float = 60.0,
) -> KeysOfTwoProjects:
    """Events of two projects, of which these `arrived` in the second one, and of the first one
    those that went `astray`.
    """
    events = [event(name) for name in USED]
    events += [event(name, project="p2") for name in (*SAME_KEY, *OWN_KEY) if name not in refused]
    deliveries = [sent(event(name), PLACE, at=NOW + 1) for name in (*arrived, *astray)]
    broadcasts = [broadcast(each) for each in events]
    broadcasts += [refusal(409, "createBroadcastEvent", role=name) for name in refused]
    return observed(
        KeysOfTwoProjects,
        PLACE,
        *deliveries,
        events=events,
        exchanges=broadcasts,
        ended_at=NOW + ended_s,
    )


def test_keys_of_another_project_keep_no_event_from_arriving() -> None:
    """As deliveries show it: nothing of an event has to be in the answers."""
    assert verdicts(OTHER, keys([*SAME_KEY, *OWN_KEY])) == {"4.8-12": PASS}
    assert verdicts(OTHER, keys(OWN_KEY)) == {"4.8-12": FAIL}


def test_keys_of_another_project_may_not_be_refused() -> None:
    assert verdicts(OTHER, keys(OWN_KEY, refused=SAME_KEY)) == {"4.8-12": FAIL}
    assert verdicts(OTHER, keys(OWN_KEY, refused=SAME_KEY[:1])) == {"4.8-12": FAIL}
    assert verdicts(OTHER, keys([], refused=SAME_KEY)) == {}


@pytest.mark.parametrize(
    "evidence",
    [
        keys(OWN_KEY[:1]),
        keys([]),
        keys([*OWN_KEY, *SAME_KEY[1:]]),
        # Two names of one project: keys of the one are used in the other.
        keys(OWN_KEY, astray=USED),
    ],
)
def test_what_is_lost_for_another_reason_is_not_lost_for_its_key(
    evidence: KeysOfTwoProjects,
) -> None:
    assert verdicts(OTHER, evidence) == {}


def test_an_event_with_a_key_of_another_project_may_be_late() -> None:
    with pytest.raises(NotExaminedError):
        verdicts(OTHER, keys(OWN_KEY, ended_s=1.5))
    behind = replace(keys(OWN_KEY), backlog_s={"token of there": 60.0})
    with pytest.raises(NotExaminedError):
        verdicts(OTHER, behind)
