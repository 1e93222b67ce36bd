"""Endpoints that were created without their owner are not missed where those of the owner are."""

import pytest

from hookproof.conformance.model.verdict import Verdict
from tests.conformance.canned_evidence import verdict
from tests.conformance.subjects.events.examples_records import many_in_portal_link


@pytest.mark.parametrize(
    ("owned", "shown", "expected"),
    [
        (range(1), range(1), Verdict.PASS),
        (range(20), range(20), Verdict.PASS),
        (range(20), range(19), Verdict.FAIL),
        (range(0), range(30), Verdict.PASS),
        (range(0), range(20), Verdict.FAIL),  # no creation shows an owner
    ],
)
def test_a_portal_link_lacks_no_endpoint_that_lost_its_owner(
    owned: range, shown: range, expected: Verdict
) -> None:
    assert verdict("2.6-2", many_in_portal_link(shown, owned=owned)) is expected
