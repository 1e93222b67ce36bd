"""Operations that never succeed show nothing of what they leave alone, nor of what is not there."""

from dataclasses import replace
from typing import Any

import pytest

from hookproof.conformance.checks.api.access.api_keys import (
    what_is_refused_for_its_key_changes_nothing,
)
from hookproof.conformance.checks.api.access.project_isolation import (
    a_portal_link_takes_up_no_endpoint_of_another_project,
)
from hookproof.conformance.checks.api.resources.portal_link import (
    a_portal_link_has_the_endpoints_of_its_owner,
    an_update_leaves_other_portal_links_alone,
    an_update_never_moves_updated_at_back,
)
from hookproof.conformance.checks.api.resources.secret_roll import (
    a_roll_leaves_the_configuration_as_it_was,
    a_roll_leaves_the_secrets_of_others_alone,
)
from hookproof.conformance.model.evidence import Exchange, Observation
from hookproof.conformance.model.verdict import Verdict
from tests.conformance.canned_evidence import exchange, observation, verdicts
from tests.conformance.checks.api.example import (
    AT,
    LATER,
    OTHER_UID,
    UID,
    Judge,
    link,
    retrieved,
)
from tests.conformance.checks.api.examples_access import (
    BOTH,
    ONE,
    creations_refused,
    same_owner,
)
from tests.conformance.checks.api.examples_portal_links import (
    GOOD,
    among_others,
    of_owner,
    update,
    updated,
)
from tests.conformance.checks.api.examples_secrets import ROLLED

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
    ("requirement", "check", "operation_id", "evidence"),
    [
        ("4.3-11", a_roll_leaves_the_configuration_as_it_was, ROLL, ROLLED),
        ("4.3-14", a_roll_leaves_the_secrets_of_others_alone, ROLL, ROLLED),
        ("4.6-11", a_portal_link_has_the_endpoints_of_its_owner, UPDATE, of_owner(**GOOD)),
        ("4.6-12", an_update_leaves_other_portal_links_alone, UPDATE, among_others(link(), link())),
        ("4.6-14", an_update_never_moves_updated_at_back, UPDATE, NEVER_MOVED),
    ],
    ids=lambda value: value if isinstance(value, str) and "-" in value else "",
)
def test_an_operation_that_never_succeeds_leaves_nothing_alone(
    requirement: str,
    check: Judge,
    operation_id: str,
    evidence: Observation,
    answer: dict[str, Any],
) -> None:
    assert verdicts(check, evidence)[requirement] == Verdict.PASS
    assert requirement not in verdicts(check, failing(evidence, operation_id, answer))


def test_a_portal_link_that_shows_its_new_owner_was_given_it() -> None:
    check, evidence = a_portal_link_has_the_endpoints_of_its_owner, of_owner(**GOOD)
    *others, _ = failing(evidence, UPDATE, FAILURES["500"]).exchanges
    changed = replace(GOOD["changed"], response_body=retrieved(owner_id="owner-2").response_body)
    moved = observation(type(evidence), *others, changed)
    assert verdicts(check, moved)["4.6-11"] == Verdict.PASS


@pytest.mark.parametrize("members", [(), ("of another owner",)], ids=["empty", "of another owner"])
def test_a_portal_link_without_its_own_endpoint_keeps_no_other_out(members: tuple[str]) -> None:
    check = a_portal_link_takes_up_no_endpoint_of_another_project
    assert verdicts(check, same_owner(*members)) == {}
    assert verdicts(check, same_owner(*members, UID)) == {"1-10": Verdict.PASS}
    assert verdicts(check, same_owner(*members, OTHER_UID)) == {"1-10": Verdict.FAIL}


def test_an_endpoint_that_was_refused_is_missed_beside_one_that_is_shown() -> None:
    check = what_is_refused_for_its_key_changes_nothing
    assert verdicts(check, creations_refused(ONE, ONE)) == {"5-15": Verdict.PASS}
    assert verdicts(check, creations_refused(ONE, BOTH)) == {"5-15": Verdict.FAIL}
    for before in (retrieved(), retrieved(owner_id="another"), ONE):
        evidence = creations_refused(before, before)
        without = replace(evidence, exchanges=evidence.exchanges[1:])
        assert verdicts(check, without) == {}
        if before is not ONE:
            assert verdicts(check, evidence) == {}


def test_a_portal_link_without_any_endpoint_does_not_leave_out_those_of_another_owner() -> None:
    check = a_portal_link_has_the_endpoints_of_its_owner
    assert verdicts(check, of_owner(**GOOD))["2.6-3"] == Verdict.PASS
    empty = of_owner(**{**GOOD, "retrieve": retrieved("retrieve")})
    assert "2.6-3" not in verdicts(check, empty)
