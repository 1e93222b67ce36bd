"""Endpoints that were created without their owner are not missed where those of the owner are."""

import pytest

from hookproof.conformance.checks.api.resources.endpoint_records import (
    a_portal_link_has_all_the_many_endpoints_of_its_owner,
)
from hookproof.conformance.model.verdict import Verdict
from tests.conformance.canned_evidence import verdicts
from tests.conformance.checks.api.examples_records import many_in_portal_link


@pytest.mark.parametrize(
    ("owned", "shown", "verdict"),
    [
        (range(1), range(1), Verdict.PASS),
        (range(20), range(20), Verdict.PASS),
        (range(20), range(19), Verdict.FAIL),
        (range(0), range(30), Verdict.PASS),
        (range(0), range(20), Verdict.FAIL),  # no creation shows an owner
    ],
)
def test_a_portal_link_lacks_no_endpoint_that_lost_its_owner(
    owned: range, shown: range, verdict: Verdict
) -> None:
    check = a_portal_link_has_all_the_many_endpoints_of_its_owner
    assert verdicts(check, many_in_portal_link(shown, owned=owned)) == {"2.6-2": verdict}
