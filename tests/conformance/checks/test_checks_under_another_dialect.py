"""Evidence of one dialect, judged under another: a check does not judge requests that it cannot
read, and never raises anything unexpected.
"""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from itertools import permutations

import pytest

from hookproof.conformance.model.check_registry import Check, CheckContext
from hookproof.conformance.model.evidence import NotExaminedError, Observation
from hookproof.conformance.observations.mistakes import ORDINARY
from hookproof.conformance.subjects.lists.evidence import PageSizeAboveMaximum
from hookproof.conformance.subjects.questions.evidence import Bound, Mistake, RequiredFieldLeftOut
from hookproof.spec.dialect.answer import Undecided
from hookproof.spec.dialect.reader import shipped_dialects
from tests.conformance.canned_evidence import (
    Judged,
    all_verdicts,
    checks_bound_to,
    checks_of,
    context,
    exchange,
    verdict,
)
from tests.conformance.checks.api.example import accepted, created, refusal, request_tried
from tests.conformance.checks.api.test_checks_of_the_api import EXAMPLES
from tests.conformance.subjects.credentials import test_deliveries_credentials as credentials
from tests.conformance.subjects.credentials.canned_oauth2 import with_oauth2
from tests.conformance.subjects.custom_headers import test_deliveries_custom_headers as headers
from tests.conformance.subjects.exhaustion import test_deliveries_exhaustion as exhaustion
from tests.conformance.subjects.lists.examples import LINKS, list_request, walk
from tests.conformance.subjects.rate_limits import test_deliveries_rate_limit as rate_limit
from tests.conformance.subjects.reach import test_deliveries_reach as reach
from tests.conformance.subjects.retries import test_deliveries_retries as retries
from tests.conformance.subjects.rolls import test_deliveries_secret_roll as secret_roll
from tests.conformance.subjects.timeouts import test_deliveries_timeout as timeout

DELIVERIES: tuple[Observation, ...] = (
    reach.fan_out(*reach.EVERYWHERE),
    exhaustion.exhausted(messages_at=[1]),
    rate_limit.burst(limited=rate_limit.SLIDING),
    retries.retried("fails once", 1.1),
    timeout.waited("silent", 2.1),
    with_oauth2(),
    credentials.with_api_key(),
    headers.answered(),
    secret_roll.rolled(secret_roll.ADVANCED, secret_roll.DURING, secret_roll.OLD, secret_roll.NEW),
)


def other_context(made_by: str, dialect: str) -> CheckContext:
    """The rules by which evidence of one dialect is judged again under another."""
    return replace(context(dialect), examined_by=context(made_by).dialect)


def others_judged(checks: Iterable[Check], evidence: Judged, judged_by: CheckContext) -> set[str]:
    """The requirements that a check judges without being bound to them; it may raise instead that
    the dialect is undecided or cannot read the requests.
    """
    others = set()
    for check in checks:
        with suppress(Undecided, NotExaminedError):
            judged = {said.requirement for said in check.judge(evidence, judged_by)}
            others |= judged - {*check.requirements}
    return others


@pytest.mark.parametrize(("made_by", "dialect"), list(permutations(shipped_dialects(), 2)))
def test_checks_of_the_api_judge_their_own_requirements_or_nothing(
    made_by: str, dialect: str
) -> None:
    judged_by = other_context(made_by, dialect)
    for example in EXAMPLES:
        if example.dialect == made_by:
            for evidence in (example.kept, example.broken):
                checks = checks_bound_to([example.requirement], evidence)
                assert not others_judged(checks, evidence, judged_by)


@pytest.mark.parametrize("dialect", sorted({*shipped_dialects()} - {"reference"}))
@pytest.mark.parametrize("evidence", DELIVERIES, ids=lambda evidence: type(evidence).__name__)
def test_checks_of_deliveries_judge_their_own_requirements_or_nothing(
    evidence: Observation, dialect: str
) -> None:
    judged_by = other_context("reference", dialect)
    assert not others_judged(checks_of(evidence), evidence, judged_by)


CONTRARY = other_context("reference", "contrary")


def test_a_list_that_another_dialect_filters_otherwise_is_not_judged() -> None:
    filtered = walk("ab", filtered={"ownerId": "owner-1"})
    with pytest.raises(
        NotExaminedError,
        match="filtered by 'ownerId', which is not a filter of the dialect contrary",
    ):
        verdict("4.4-9", filtered, CONTRARY)


@pytest.mark.parametrize(
    ("requirement", "evidence"),
    [
        ("8-13", list_request(PageSizeAboveMaximum, exchange("tried", LINKS, status=400))),
        (
            "8-16",
            request_tried(Bound.NUMBER, refusal(), accepted(role=ORDINARY), field="rate_limit"),
        ),
        ("8-17", request_tried(Mistake.BEYOND, refusal(), field="rate_limit")),
        ("4.9-2", request_tried(RequiredFieldLeftOut, created({}, {}, role="tried"))),
        ("6-13", headers.answered()),
    ],
)
def test_a_request_that_was_made_by_rules_of_another_dialect_is_not_judged(
    requirement: str, evidence: Observation
) -> None:
    with pytest.raises(NotExaminedError, match="were made for the dialect reference"):
        verdict(requirement, evidence, CONTRARY)


def test_a_forged_signature_is_not_looked_for_in_the_headers_of_another_dialect() -> None:
    with pytest.raises(NotExaminedError, match="were examined by the dialect reference"):
        verdict("6-18", headers.answered(), CONTRARY)


def test_a_request_without_other_rules_is_judged_under_another_dialect() -> None:
    assert [*all_verdicts(request_tried(Mistake.NOT_JSON, refusal(422)), CONTRARY)] == ["7-2"]
