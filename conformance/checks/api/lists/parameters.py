"""Sections 4.4, 4.7 and 8: perPage and the other parameters of lists, one at a time."""

from collections.abc import Iterator
from typing import Final

from hookproof.conformance.checks.support.bounds import NO_LARGEST_PAGE
from hookproof.conformance.checks.support.refusal import is_refused_as_invalid
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.judgement import Judgement, json_text, judged, not_applicable
from hookproof.conformance.observations.answer import pagination, was_accepted, was_answered
from hookproof.conformance.observations.lists.parameters import (
    DefaultPageSize,
    ExtremePageSize,
    PageSizeAboveMaximum,
    UnreadableParameter,
)
from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.model import Paging
from hookproof.spec.dialect.vocabulary import AboveMaximum, BadParameter

UNREADABLE: Final = {"listPortalLinks": "4.4-16", "listSources": "4.7-15"}


@check("8-12")
def without_per_page_the_size_is_the_default(
    request: DefaultPageSize, context: CheckContext
) -> Iterator[Judgement]:
    """As the page reports it."""
    tried, default = request.tried, context.dialect.paging.default_per_page
    if tried is None or not tried.succeeded:
        return
    actual = pagination(tried).get("per_page")
    if actual is not None and default.decided:
        yield judged(
            default.allows(actual),
            "8-12",
            "Without perPage a page has another size than the dialect's default",
            expected=" or ".join(map(str, default.allowed)),
            actual=actual,
            exchanges=[tried],
        )


@check("8-13")
def per_page_above_the_maximum_is_cut_or_refused(
    request: PageSizeAboveMaximum | ExtremePageSize, context: CheckContext
) -> Iterator[Judgement]:
    """As the dialect says; none can be above where no size is the largest."""
    tried, paging = request.tried, context.dialect.paging
    if None in paging.maximum_per_page.allowed:
        yield not_applicable("8-13", NO_LARGEST_PAGE)
        return
    if isinstance(request, ExtremePageSize):
        return
    if tried is None or not was_answered(tried) or not paging.above_maximum.decided:
        return
    context.require_same_rules(
        "requests above the largest perPage", lambda dialect: dialect.paging.maximum_per_page
    )
    size = pagination(tried).get("per_page")
    outcomes = {
        AboveMaximum.CLAMP: was_accepted(tried)
        and (size is None or paging.maximum_per_page.allows(size)),
        AboveMaximum.REFUSE: is_refused_as_invalid(tried, context.dialect),
    }
    yield judged(
        any(outcomes[allowed] for allowed in paging.above_maximum.allowed),
        "8-13",
        "A perPage above the maximum is not treated as the dialect says",
        expected=f"{paging.above_maximum.value}, maximum"
        f" {' or '.join(map(str, paging.maximum_per_page.allowed))}",
        actual=f"{tried.status}, per_page {json_text(size)}",
        exchanges=[tried],
    )


@check(*UNREADABLE.values())
def an_unreadable_parameter_is_refused_or_taken_as_absent(
    request: UnreadableParameter, context: CheckContext
) -> Iterator[Judgement]:
    """As the dialect says."""
    tried, rule = request.tried, rule_for(request, context.dialect.paging)
    if tried is None or not was_answered(tried) or not rule.decided:
        return
    outcomes = {
        BadParameter.DEFAULT: was_accepted(tried),
        BadParameter.REFUSE: is_refused_as_invalid(tried, context.dialect),
    }
    yield judged(
        any(outcomes[allowed] for allowed in rule.allowed),
        UNREADABLE[request.operation_id],
        "A parameter that cannot be read is not treated as the dialect says:"
        f" {' '.join(request.query)}",
        expected=rule.value.value,
        actual=tried.status,
        exchanges=[tried],
    )


def rule_for(request: UnreadableParameter, paging: Paging) -> Answer[BadParameter]:
    """What the dialect says of the parameter; a cursor may have a rule of its own."""
    has_cursor = any(name.endswith("cursor") for name in request.query)
    return paging.bad_cursor if has_cursor and paging.bad_cursor.decided else paging.bad_parameter
