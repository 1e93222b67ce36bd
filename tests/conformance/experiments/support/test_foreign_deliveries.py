"""Deliveries of other experiments' events are left out, but for the last one at each token."""

from hookproof.conformance.experiments.support.foreign_deliveries import without_foreign
from tests.conformance.canned_evidence import delivery

STEM = "event-n0nceaaaaa"
OWN = delivery("t1", body=b'{"marker": "event-n0nceaaaaa00001"}', sequence=1)
OTHERS = [
    delivery(token, body=b'{"marker": "event-n0ncebbbbb00001"}', sequence=sequence)
    for token, sequence in (("t1", 2), ("t1", 3), ("t2", 1))
]
UNMARKED = delivery("t1", body=b'{"created": "x"}', sequence=4)
IN_A_HEADER = delivery(
    "t1", body=OTHERS[0].body, headers=[("X-Marker", "event-n0nceaaaaa00002")], sequence=5
)


def test_only_the_last_event_of_others_stays_at_each_token() -> None:
    received = [OWN, *OTHERS, UNMARKED, IN_A_HEADER]
    assert without_foreign(received, STEM) == [OWN, *OTHERS[1:], UNMARKED, IN_A_HEADER]
