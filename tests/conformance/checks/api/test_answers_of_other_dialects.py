"""Answers that another dialect than the shipped ones allows: no failure."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from hookproof.conformance.checks.api.resources.duplicates import (
    a_duplicate_is_answered_as_the_dialect_says,
)
from hookproof.conformance.checks.api.resources.left_out_fields import (
    a_field_that_is_left_out_is_kept_or_cleared,
)
from hookproof.conformance.checks.api.responses.errors import a_refusal_has_the_dialects_error_body
from hookproof.conformance.checks.api.responses.success import a_valid_request_succeeds
from hookproof.conformance.model.check_registry import CheckContext
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.resources.broadcast_answer import RepeatedKey
from hookproof.conformance.observations.succeeding_requests import SucceedingRequests
from hookproof.spec.contract.service_contract import contract_for
from tests.conformance.canned_evidence import exchange, observation
from tests.conformance.checks.api.example import event
from tests.conformance.checks.api.examples_events import FIRST, KEYED, again
from tests.conformance.checks.api.examples_extremes import updated
from tests.spec.dialect_variants import variant

CONFLICT = {"idempotency.duplicate_status": 409, "idempotency.duplicate": "first_event"}


def judged_under(
    answers: Mapping[str, Any], check: Callable[[Any, CheckContext], Any], evidence: object
) -> list[Verdict]:
    """The verdicts of a check under the reference dialect with these answers."""
    dialect = variant(answers)
    context = CheckContext(dialect=dialect, contract=contract_for(dialect))
    return [judgement.verdict for judgement in check(evidence, context)]


def refused_duplicate(**fields: object) -> RepeatedKey:
    return observation(RepeatedKey, FIRST, again(409, **fields))


def test_a_duplicate_may_be_refused_with_the_first_event() -> None:
    check = a_duplicate_is_answered_as_the_dialect_says
    assert judged_under(CONFLICT, check, refused_duplicate()) == [Verdict.PASS]
    another = refused_duplicate(uid="another")
    assert judged_under(CONFLICT, check, another) == [Verdict.FAIL]


def test_the_answer_to_a_refused_duplicate_has_no_error_body() -> None:
    check = a_refusal_has_the_dialects_error_body
    assert judged_under(CONFLICT, check, again(409)) == []
    assert judged_under({}, check, again(409)) == [Verdict.FAIL]
    unkeyed = replace(event({"event_type": "a", "data": {}}, "again"), status=409)
    assert judged_under(CONFLICT, check, unkeyed) == [Verdict.FAIL]


@pytest.mark.parametrize(("status", "verdicts"), [(409, []), (400, [Verdict.FAIL])])
def test_a_broadcast_with_a_key_may_be_refused_as_a_duplicate(
    status: int, verdicts: list[Verdict]
) -> None:
    refused = exchange("again", "createBroadcastEvent", status=status, request=KEYED, data=None)
    evidence = observation(SucceedingRequests, refused)
    assert judged_under(CONFLICT, a_valid_request_succeeds, evidence) == verdicts


@pytest.mark.parametrize(
    ("kept", "verdict"),
    [
        ("owner_id", [Verdict.FAIL]),
        ("name", []),
        ("auth_type", []),
        ("can_manage_endpoint", []),
    ],
)
def test_what_is_cleared_may_show_the_default_that_it_had(
    kept: str, verdict: list[Verdict]
) -> None:
    cleared = {"name": "", "owner_id": None, "auth_type": None, "can_manage_endpoint": False}
    del cleared[kept]
    evidence = updated({"endpoints": []}, **cleared)
    found = judged_under(
        {"requests.update_left_out": "cleared"},
        a_field_that_is_left_out_is_kept_or_cleared,
        evidence,
    )
    assert [each for each in found if each is Verdict.FAIL] == verdict
    assert Verdict.PASS in found
