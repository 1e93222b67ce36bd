"""What changes by itself between two looks at a resource."""

import pytest

from hookproof.conformance.checks.api.access.api_keys import (
    what_is_refused_for_its_key_changes_nothing,
)
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.requests.keys import CallWithKey, KeyKind
from tests.conformance.canned_evidence import verdicts
from tests.conformance.checks.api.example import fetched, secret
from tests.conformance.checks.api.examples_access import ROLL, around, denied

OLD, NEW, FURTHER = (secret(name, value=f"value of {name}") for name in ("old", "new", "further"))


@pytest.mark.parametrize(
    ("later", "verdict"),
    [
        ([NEW], Verdict.PASS),
        ([NEW, FURTHER], Verdict.FAIL),
        ([OLD, {**NEW, "expires_at": "2026-01-01T00:00:00Z"}], Verdict.FAIL),
    ],
    ids=["one is gone", "one is gone and one is new", "one expires"],
)
def test_a_secret_that_expires_meanwhile_is_no_effect_of_a_refused_request(
    later: list[dict[str, object]], verdict: Verdict
) -> None:
    refused_roll = around(
        CallWithKey,
        fetched({"secrets": [OLD, NEW]}),
        denied(401, ROLL),
        fetched({"secrets": later}),
        kind=KeyKind.NONE,
        operation_id=ROLL,
    )
    assert verdicts(what_is_refused_for_its_key_changes_nothing, refused_roll) == {"5-15": verdict}
