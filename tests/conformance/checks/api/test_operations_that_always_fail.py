"""Operations that never succeed show nothing of what they leave alone, nor of what is not there."""

from dataclasses import replace
from typing import Any

import pytest

from hookproof.conformance.model.evidence import Exchange, Observation
from hookproof.conformance.model.verdict import Verdict
from tests.conformance.canned_evidence import exchange, observation, verdict
from tests.conformance.checks.api.example import AT, LATER, OTHER_UID, UID, link, retrieved
from tests.conformance.subjects.keys.examples import BOTH, ONE, creations_refused, same_owner
from tests.conformance.subjects.portal_links.examples import (
    GOOD,
    among_others,
    of_owner,
    update,
    updated,
)
from tests.conformance.subjects.secrets.examples import ROLLED

ROLL, UPDATE = "expireEndpointSecret", "updatePortalLink"
FAILURES = {
    "500": {"status": 500, "body": b"oops"},
    "a redirect": {"status": 302, "body": b""},
    "a refusal": {"status": 400, "body": {"status": False}},
    "a page": {"status": 200, "body": b"<html>Welcome</html>"},
    "flagged as a failure": {"status": 200, "body": {"status": False, "data": {}}},
    "no answer": {"problem": "ConnectionResetError"},
}
NEVER_MOVED = replace(
    updated("name", update({"name": "New"}), retrieved("after", updated_at=LATER)),
    exchanges=(
        retrieved("before", updated_at=AT),
        update({"name": "New"}),
        retrieved("after", updated_at=LATER),
    ),
)


def failing(evidence: Observation, operation_id: str, answer: dict[str, Any]) -> Observation:
    """The evidence where each call of this operation got this answer."""

    def failed(tried: Exchange) -> Exchange:
        return exchange(tried.role, operation_id, request=tried.request_json, **answer)

    exchanges = (
        failed(each) if each.operation_id == operation_id else each for each in evidence.exchanges
    )
    return replace(evidence, exchanges=tuple(exchanges))


@pytest.mark.parametrize("answer", FAILURES.values(), ids=FAILURES)
@pytest.mark.parametrize(
    ("requirement", "operation_id", "evidence"),
    [
        ("4.3-11", ROLL, ROLLED),
        ("4.3-14", ROLL, ROLLED),
        ("4.6-11", UPDATE, of_owner(**GOOD)),
        ("4.6-12", UPDATE, among_others(link(), link())),
        ("4.6-14", UPDATE, NEVER_MOVED),
    ],
    ids=lambda value: value if isinstance(value, str) and "-" in value else "",
)
def test_an_operation_that_never_succeeds_leaves_nothing_alone(
    requirement: str,
    operation_id: str,
    evidence: Observation,
    answer: dict[str, Any],
) -> None:
    assert verdict(requirement, evidence) is Verdict.PASS
    assert verdict(requirement, failing(evidence, operation_id, answer)) is None


def test_a_portal_link_that_shows_its_new_owner_was_given_it() -> None:
    evidence = of_owner(**GOOD)
    *others, _ = failing(evidence, UPDATE, FAILURES["500"]).exchanges
    changed = replace(GOOD["changed"], response_body=retrieved(owner_id="owner-2").response_body)
    moved = observation(type(evidence), *others, changed)
    assert verdict("4.6-11", moved) is Verdict.PASS


@pytest.mark.parametrize("members", [(), ("of another owner",)], ids=["empty", "of another owner"])
def test_a_portal_link_without_its_own_endpoint_keeps_no_other_out(members: tuple[str]) -> None:
    assert verdict("1-10", same_owner(*members)) is None
    assert verdict("1-10", same_owner(*members, UID)) is Verdict.PASS
    assert verdict("1-10", same_owner(*members, OTHER_UID)) is Verdict.FAIL


def test_an_endpoint_that_was_refused_is_missed_beside_one_that_is_shown() -> None:
    assert verdict("5-15", creations_refused(ONE, ONE)) is Verdict.PASS
    assert verdict("5-15", creations_refused(ONE, BOTH)) is Verdict.FAIL
    for before in (retrieved(), retrieved(owner_id="another"), ONE):
        evidence = creations_refused(before, before)
        without = replace(evidence, exchanges=evidence.exchanges[1:])
        assert verdict("5-15", without) is None
        if before is not ONE:
            assert verdict("5-15", evidence) is None


def test_a_portal_link_without_any_endpoint_does_not_leave_out_those_of_another_owner() -> None:
    assert verdict("2.6-3", of_owner(**GOOD)) == Verdict.PASS
    empty = of_owner(**{**GOOD, "retrieve": retrieved("retrieve")})
    assert verdict("2.6-3", empty) is None
