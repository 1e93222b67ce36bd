"""Evidence of one dialect, judged under another: a check does not judge requests that it cannot
read, and never raises anything unexpected.
"""

from contextlib import suppress
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest

from hookproof.conformance.checks import all_checks
from hookproof.conformance.checks.api.lists.filters import (
    a_filter_leaves_exactly_what_matches_on_every_page,
)
from hookproof.conformance.checks.api.lists.parameters import (
    per_page_above_the_maximum_is_cut_or_refused,
)
from hookproof.conformance.checks.api.requests.questions import (
    a_mistake_is_refused_with_the_dialects_status,
    required_fields_are_enough_and_none_may_be_left_out,
    what_lies_within_the_bounds_is_taken,
)
from hookproof.conformance.checks.deliveries.security.custom_headers import (
    a_reserved_header_is_ignored_or_refused_as_the_dialect_says,
    no_custom_header_replaces_or_doubles_the_signature,
)
from hookproof.conformance.model.check_registry import CheckContext
from hookproof.conformance.model.evidence import NotExaminedError, Observation
from hookproof.conformance.model.judgement import Judgement
from hookproof.conformance.observations.lists.parameters import PageSizeAboveMaximum
from hookproof.conformance.observations.requests.mistakes import (
    ORDINARY,
    Bound,
    Mistake,
    RequiredFieldLeftOut,
)
from hookproof.spec.dialect.answer import Undecided
from hookproof.spec.dialect.reader import shipped_dialects
from tests.conformance.canned_evidence import context, exchange
from tests.conformance.checks.api.example import (
    Judge,
    accepted,
    created,
    refusal,
    request_tried,
)
from tests.conformance.checks.api.examples_lists import LINKS, list_request, walk
from tests.conformance.checks.api.test_checks_of_the_api import EXAMPLES
from tests.conformance.checks.deliveries.arrival import test_deliveries_reach as reach
from tests.conformance.checks.deliveries.attempts import test_deliveries_exhaustion as exhaustion
from tests.conformance.checks.deliveries.attempts import test_deliveries_rate_limit as rate_limit
from tests.conformance.checks.deliveries.attempts import test_deliveries_retries as retries
from tests.conformance.checks.deliveries.attempts import test_deliveries_timeout as timeout
from tests.conformance.checks.deliveries.security import test_deliveries_credentials as credentials
from tests.conformance.checks.deliveries.security import test_deliveries_custom_headers as headers
from tests.conformance.checks.deliveries.security import test_deliveries_secret_roll as secret_roll
from tests.conformance.checks.deliveries.security.canned_oauth2 import with_oauth2

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


def judgements(check: Judge, evidence: Any, judged_by: CheckContext) -> list[Judgement]:
    """What a check yields; nothing where the dialect is undecided or cannot read the requests."""
    with suppress(Undecided, NotExaminedError):
        return list(check(evidence, judged_by))
    return []


@pytest.mark.parametrize(("made_by", "dialect"), list(permutations(shipped_dialects(), 2)))
def test_checks_of_the_api_judge_their_own_requirements_or_nothing(
    made_by: str, dialect: str
) -> None:
    judged_by = other_context(made_by, dialect)
    for example in EXAMPLES:
        if example.dialect == made_by:
            for evidence in (example.kept, example.broken):
                for judgement in judgements(example.check, evidence, judged_by):
                    assert judgement.requirement in example.requirements_of_check


@pytest.mark.parametrize("dialect", sorted({*shipped_dialects()} - {"reference"}))
@pytest.mark.parametrize("evidence", DELIVERIES, ids=lambda evidence: type(evidence).__name__)
def test_checks_of_deliveries_judge_their_own_requirements_or_nothing(
    evidence: Observation, dialect: str
) -> None:
    judged_by = other_context("reference", dialect)
    for check in all_checks():
        if not check.is_oracle and check.judges(type(evidence)):
            for judgement in judgements(check.judge, evidence, judged_by):
                assert judgement.requirement in check.requirements


def judged_as_contrary(check: Judge, evidence: Any) -> list[Judgement]:
    return list(check(evidence, other_context("reference", "contrary")))


def test_a_list_that_another_dialect_filters_otherwise_is_not_judged() -> None:
    filtered = walk("ab", filtered={"ownerId": "owner-1"})
    with pytest.raises(
        NotExaminedError,
        match="filtered by 'ownerId', which is not a filter of the dialect contrary",
    ):
        judged_as_contrary(a_filter_leaves_exactly_what_matches_on_every_page, filtered)


@pytest.mark.parametrize(
    ("check", "evidence"),
    [
        (
            per_page_above_the_maximum_is_cut_or_refused,
            list_request(PageSizeAboveMaximum, exchange("tried", LINKS, status=400)),
        ),
        (
            what_lies_within_the_bounds_is_taken,
            request_tried(Bound.NUMBER, refusal(), accepted(role=ORDINARY), field="rate_limit"),
        ),
        (
            a_mistake_is_refused_with_the_dialects_status,
            request_tried(Mistake.BEYOND, refusal(), field="rate_limit"),
        ),
        (
            required_fields_are_enough_and_none_may_be_left_out,
            request_tried(RequiredFieldLeftOut, created({}, {}, role="tried")),
        ),
        (a_reserved_header_is_ignored_or_refused_as_the_dialect_says, headers.answered()),
    ],
)
def test_a_request_that_was_made_by_rules_of_another_dialect_is_not_judged(
    check: Judge, evidence: Observation
) -> None:
    with pytest.raises(NotExaminedError, match="were made for the dialect reference"):
        judged_as_contrary(check, evidence)


def test_a_forged_signature_is_not_looked_for_in_the_headers_of_another_dialect() -> None:
    with pytest.raises(NotExaminedError, match="were examined by the dialect reference"):
        judged_as_contrary(no_custom_header_replaces_or_doubles_the_signature, headers.answered())


def test_a_request_without_other_rules_is_judged_under_another_dialect() -> None:
    (judgement,) = judged_as_contrary(
        a_mistake_is_refused_with_the_dialects_status, request_tried(Mistake.NOT_JSON, refusal(422))
    )
    assert judgement.requirement == "7-2"
