"""An answer that is no success, with whatever key, shows nothing of what a key opens."""

from collections.abc import Mapping
from typing import Any

import pytest

from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.subjects.keys.evidence import KeyKind
from tests.conformance.canned_evidence import exchange, verdict, verdicts
from tests.conformance.checks.api.example import refusal
from tests.conformance.subjects.keys.examples import call_with

GOOD = {"status": 201, "data": {"uid": "one"}}
DECIDES = {"authentication.key_scope": "key_decides"}
SPOILT: dict[str, Any] = {"status": 201, "body": b"{}{}"}


@pytest.mark.parametrize(
    ("dialect", "authorized", "expected"),
    [
        ("contrary", SPOILT, None),  # every key opens all projects of its account
        ("contrary", GOOD, Verdict.FAIL),
        ("contrary", None, Verdict.FAIL),
        ("reference", SPOILT, Verdict.FAIL),  # a key that opens one project alone is to be refused
        (DECIDES, SPOILT, None),  # a creation in the key's own project
    ],
)
def test_a_spoilt_answer_to_every_key_does_not_show_that_one_opens_nothing(
    dialect: str | Mapping[str, Any],
    authorized: dict[str, Any] | None,
    expected: Verdict | None,
) -> None:
    tried = exchange("refused", "createEndpoint", **SPOILT)
    others = (
        [refusal(401, "createEndpoint", role="authorized")]
        if authorized is None
        else [exchange("authorized", "createEndpoint", **authorized)]
    )

    actual = verdicts("5-12", call_with(KeyKind.FOREIGN, tried, *others), dialect)
    assert actual == ({} if expected is None else {"5-12": expected})


def test_a_key_that_decides_is_to_find_nothing_of_another_project() -> None:
    answers = [
        exchange(role, "getEndpoint", status=200, body=b"{}{}")
        for role in ("refused", "authorized")
    ]
    evidence = call_with(KeyKind.FOREIGN, *answers, operation_id="getEndpoint")

    assert verdict("5-12", evidence, DECIDES) is Verdict.FAIL
