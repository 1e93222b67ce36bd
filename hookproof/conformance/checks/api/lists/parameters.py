"""Sections 4.4, 4.7 and 8: perPage and the other parameters of lists, one at a time."""

from collections.abc import Iterator
from typing import Final

from hookproof.conformance.checks.support.bounds import NO_LARGEST_PAGE
from hookproof.conformance.checks.support.reading import Reading, reading
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement, json_text, judged, not_applicable
from hookproof.conformance.observations.answer import (
    items,
    pagination,
    shows_a_list,
    shows_every_uid,
)
from hookproof.conformance.observations.lists.parameters import (
    ComparedPage,
    DefaultPageSize,
    ExtremePageSize,
    PageSizeAboveMaximum,
    UnreadableParameter,
)
from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.model import Dialect, Paging
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
    read = _read(request, context.dialect)
    if tried is None or read is None or not paging.above_maximum.decided:
        return
    context.require_same_rules(
        "requests above the largest perPage", lambda dialect: dialect.paging.maximum_per_page
    )
    size = pagination(tried).get("per_page")
    is_cut = size is None or paging.maximum_per_page.allows(size)
    clamps = AboveMaximum.CLAMP in paging.above_maximum.allowed
    is_compared = clamps and len(paging.maximum_per_page.allowed) == 1
    differs = _differs(request) if is_compared else ""
    if read is Reading.TAKEN and size is None and differs is None:
        return
    outcomes = {
        AboveMaximum.CLAMP: read is Reading.TAKEN and is_cut and not differs,
        AboveMaximum.REFUSE: read is Reading.REFUSED,
    }
    yield judged(
        any(outcomes[allowed] for allowed in paging.above_maximum.allowed),
        "8-13",
        "A perPage above the maximum is not treated as the dialect says",
        expected=f"{paging.above_maximum.value}, maximum"
        f" {' or '.join(map(str, paging.maximum_per_page.allowed))}",
        actual=f"{tried.status}, per_page {json_text(size)}{differs or ''}",
        exchanges=[tried, request.ordinary],
    )


@check(*UNREADABLE.values())
def an_unreadable_parameter_is_refused_or_taken_as_absent(
    request: UnreadableParameter, context: CheckContext
) -> Iterator[Judgement]:
    """As the dialect says; what is taken as absent leads to the page that comes without it."""
    tried, rule = request.tried, rule_for(request, context.dialect.paging)
    read = _read(request, context.dialect)
    if tried is None or read is None or not rule.decided:
        return
    differs = _differs(request) if BadParameter.DEFAULT in rule.allowed else ""
    if read is Reading.TAKEN and differs is None:
        return
    outcomes = {
        BadParameter.DEFAULT: read is Reading.TAKEN and not differs,
        BadParameter.REFUSE: read is Reading.REFUSED,
    }
    yield judged(
        any(outcomes[allowed] for allowed in rule.allowed),
        UNREADABLE[request.operation_id],
        "A parameter that cannot be read is not treated as the dialect says:"
        f" {' '.join(request.query)}",
        expected=rule.value.value,
        actual=f"{tried.status}{differs or ''}",
        exchanges=[tried, request.ordinary],
    )


def _read(request: ComparedPage, dialect: Dialect) -> Reading | None:
    status = dialect.errors.status("invalid_value", request.operation_id)
    return reading(request.tried, request.ordinary, status)


def _differs(request: ComparedPage) -> str | None:
    """How a page differs from the ordinary one, in words; None where that does not show.

    An empty page is like any other, and a list that changes meanwhile like none.
    """
    tried, before, after = request.tried, request.ordinary_before, request.ordinary
    if tried is None or before is None or after is None or not items(after):
        return None
    if _shown_on(before) != _shown_on(after):
        return None
    if not shows_a_list(tried) or not all(map(shows_every_uid, (tried, after))):
        return None
    if _shown_on(tried) != _shown_on(after):
        return ", and other resources than the ordinary page"
    return ""


def _shown_on(page: Exchange) -> list[object]:
    return [item.get("uid") for item in items(page)]


def rule_for(request: UnreadableParameter, paging: Paging) -> Answer[BadParameter]:
    """What the dialect says of the parameter; a cursor may have a rule of its own."""
    has_cursor = any(name.endswith("cursor") for name in request.query)
    return paging.bad_cursor if has_cursor and paging.bad_cursor.decided else paging.bad_parameter
