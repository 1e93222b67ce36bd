"""What the deprecated endpoints of a portal link do is judged by each meaning (section 9)."""

import pytest

from hookproof.conformance.model.verdict import Verdict
from tests.conformance.canned_evidence import verdicts
from tests.conformance.subjects.portal_links.examples import (
    UID,
    endpoint,
    endpoints_updated,
    retrieved,
    update,
)

ADDED, SHOWN, NOTHING = (
    {"endpoints": [UID], "endpoint_count": 1, "endpoints_metadata": [endpoint(uid=UID)]},
    {"endpoints": [UID], "endpoint_count": 0, "endpoints_metadata": []},
    {"endpoints": [], "endpoint_count": 0, "endpoints_metadata": []},
)


@pytest.mark.parametrize(
    ("meaning", "agreeing"),
    [
        ("added", [ADDED]),
        ("shown", [SHOWN]),
        ("ignored", [SHOWN, NOTHING]),
        ({"one_of": ["added", "shown"]}, [ADDED, SHOWN]),
    ],
)
def test_a_list_is_added_or_shown_or_does_nothing(
    meaning: object, agreeing: list[dict[str, object]]
) -> None:
    for link in (ADDED, SHOWN, NOTHING):
        evidence = endpoints_updated(update({"endpoints": [UID]}), retrieved("after", **link))
        found = verdicts("9-2 9-4", evidence, {"requests.portal_endpoints": meaning})
        assert found["9-4"] is (Verdict.PASS if link in agreeing else Verdict.FAIL), link
