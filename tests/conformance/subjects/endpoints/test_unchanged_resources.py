"""What changes by itself between two looks at a resource."""

from dataclasses import replace

import pytest

from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.subjects.keys.evidence import CallWithKey, KeyKind
from tests.conformance.canned_evidence import exchange, verdict
from tests.conformance.checks.api.example import LATER, endpoint, fetched, retrieved, secret
from tests.conformance.subjects.keys.examples import (
    ROLL,
    UPDATE,
    across_projects,
    around,
    denied,
    denied_across,
)

OLD, NEW, FURTHER = (secret(name, value=f"value of {name}") for name in ("old", "new", "further"))


@pytest.mark.parametrize(
    ("later", "expected"),
    [
        ([NEW], Verdict.PASS),
        ([NEW, FURTHER], Verdict.FAIL),
        ([OLD, {**NEW, "expires_at": "2026-01-01T00:00:00Z"}], Verdict.FAIL),
    ],
    ids=["one is gone", "one is gone and one is new", "one expires"],
)
def test_a_secret_that_expires_meanwhile_is_no_effect_of_a_refused_request(
    later: list[dict[str, object]], expected: Verdict
) -> None:
    refused_roll = around(
        CallWithKey,
        fetched({"secrets": [OLD, NEW]}),
        denied(401, ROLL),
        fetched({"secrets": later}),
        kind=KeyKind.NONE,
        operation_id=ROLL,
    )
    assert verdict("5-15", refused_roll) is expected


DELETED = {**OLD, "expires_at": "2026-01-01T00:00:00Z", "deleted_at": "2026-01-01T00:00:01Z"}
MARKED = {**DELETED, "updated_at": "2026-01-01T00:00:01Z", "value": ""}
UNENDED = {name: value for name, value in OLD.items() if name != "expires_at"}


@pytest.mark.parametrize(
    ("before", "later", "expected"),
    [
        ([{**OLD, "expires_at": "2026-01-01T00:00:00Z"}, NEW], [DELETED, NEW], Verdict.PASS),
        ([DELETED, NEW], [MARKED, NEW], Verdict.PASS),
        ([UNENDED, NEW], [DELETED, NEW], Verdict.PASS),
        ([UNENDED], [DELETED, NEW], Verdict.PASS),
        ([DELETED, NEW], [{**DELETED, "uid": "another"}, NEW], Verdict.PASS),
        ([DELETED, NEW], [DELETED, NEW, FURTHER], Verdict.FAIL),
        ([DELETED, NEW], [DELETED, {**NEW, "expires_at": "2026-01-01T00:00:00Z"}], Verdict.FAIL),
        ([DELETED, NEW], [DELETED, {**NEW, "value": "value of further"}], Verdict.FAIL),
    ],
    ids=[
        "a job marks what an earlier roll replaced",
        "a job hides the value of it",
        "a job ends it late",
        "the earlier roll shows late",
        "what has ended has another uid",
        "a new secret",
        "the current one ends",
        "the refused secret",
    ],
)
def test_only_what_was_asked_for_is_an_effect_of_a_refused_request(
    before: list[dict[str, object]], later: list[dict[str, object]], expected: Verdict
) -> None:
    refused_roll = around(
        CallWithKey,
        fetched({"secrets": before}),
        denied(401, ROLL, secret=FURTHER["value"]),
        fetched({"secrets": later, "updated_at": LATER, "failure_rate": 3, "status": "inactive"}),
        kind=KeyKind.NONE,
        operation_id=ROLL,
    )
    allowed = exchange(
        "authorized", ROLL, data=endpoint(), request={"secret": NEW["value"]}, path={}
    )
    after_a_roll = replace(refused_roll, exchanges=(allowed, *refused_roll.exchanges))
    assert verdict("5-15", after_a_roll) is expected


@pytest.mark.parametrize(
    ("later", "expected"),
    [
        (secret("new", value="(hidden)"), Verdict.PASS),
        (secret("o", value="(hidden)"), Verdict.FAIL),
    ],
)
def test_a_masked_secret_is_told_by_its_uid(later: dict[str, object], expected: Verdict) -> None:
    across = across_projects(
        denied_across(ROLL, secret="further"),
        fetched({"secrets": [secret("new", value="(hidden)")]}),
        fetched({"secrets": [later]}),
    )
    assert verdict("1-5", across, "contrary") is expected


@pytest.mark.parametrize(
    ("name", "expected"), [("Another", Verdict.PASS), ("Refused", Verdict.FAIL)]
)
def test_an_update_of_somebody_else_is_no_effect_of_a_refused_one(
    name: str, expected: Verdict
) -> None:
    across = across_projects(
        denied_across(UPDATE, name="Refused"), retrieved(), retrieved(name=name)
    )
    assert verdict("1-7", across) is expected
