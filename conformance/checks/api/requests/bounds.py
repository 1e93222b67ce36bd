"""Section 8: https alone, and what lies within the dialect's bounds."""

from collections.abc import Iterator
from typing import Any, Final

from hookproof.conformance.checks.support.bounds import (
    NO_DEEPEST,
    NO_LONGEST,
    NO_SIZE_LIMIT,
    bounds,
)
from hookproof.conformance.checks.support.refusal import is_refused_as_invalid, refusal_beside
from hookproof.conformance.checks.support.success import success_of
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import Exchange, NotExaminedError
from hookproof.conformance.model.judgement import Judgement, judged, not_applicable
from hookproof.conformance.model.tolerances import SENT_WITHIN_S
from hookproof.conformance.observations.answer import (
    accepted_or_refused,
    refused,
    sent,
    was_accepted,
    was_answered,
)
from hookproof.conformance.observations.requests.mistakes import (
    Bound,
    EndpointUrlTried,
    NestedData,
    PartialFieldMapping,
    RateLimitOfZero,
    RequestWithinBounds,
    Scheme,
    TimeoutOfZero,
)
from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.groups.requests import DEEP
from hookproof.spec.dialect.vocabulary import PartialMapping, ZeroLimit, ZeroTimeout
from hookproof.spec.dialect.zero_timeout import zero_http_timeout

URLS: Final = {Scheme.HTTP: "8-10", Scheme.OTHER: "8-11"}
REFUSED: Final = (ZeroLimit.REFUSED, ZeroTimeout.REFUSED, PartialMapping.REFUSED)
ACCEPTED: Final = {Bound.NUMBER: "8-16", Bound.SIZE: "8-15", Bound.TEXT: "8-27"}


@check(*URLS.values())
def only_https_urls_are_taken(
    request: EndpointUrlTried, _context: CheckContext
) -> Iterator[Judgement]:
    """Refused at creation, with whatever status, where an https URL is accepted."""
    tried = request.tried
    if tried is not None:
        yield from refusal_beside(
            tried,
            request.with_https,
            URLS[request.scheme],
            f"An endpoint is created with a URL that is not https: {request.scheme}",
            f"{tried.status} for {sent(tried).get('url')}",
        )


@check(*ACCEPTED.values())
def what_lies_within_the_bounds_is_taken(
    request: RequestWithinBounds, context: CheckContext
) -> Iterator[Judgement]:
    """Numbers at the edge, texts and a body as long as allowed, where ordinary ones are taken."""
    tried, ordinary = request.tried, request.ordinary
    if context.dialect.requests.size_limit is None:
        yield not_applicable("8-15", NO_SIZE_LIMIT)
    if not context.dialect.requests.text_maximum_of:
        yield not_applicable("8-27", NO_LONGEST)
    if tried is not None and ordinary is not None and was_accepted(ordinary):
        context.require_same_rules("requests at the edge of what is allowed", bounds)
        require_sent_in_time(tried, context)
        what = f"{request.bound} {request.field}".rstrip()
        message = f"A request within the dialect's bounds is refused: {what}"
        yield from success_of(tried, ACCEPTED[request.bound], message, ordinary)


def require_sent_in_time(tried: Exchange, context: CheckContext) -> None:
    """Raise NotExaminedError for what may have been refused because we sent it slowly (7-7)."""
    too_slow = context.dialect.errors.status("slow_request", tried.operation_id)
    if tried.duration_s > SENT_WITHIN_S and not tried.succeeded and too_slow.allows(tried.status):
        raise NotExaminedError(
            f"a request within the bounds was answered {tried.status} after {tried.duration_s:.1f}"
            " s, as one that does not arrive in time; run it again with less beside it"
        )


@check("8-5")
def a_rate_limit_of_zero_is_taken_or_refused(
    request: RateLimitOfZero, context: CheckContext
) -> Iterator[Judgement]:
    """As the dialect says; its effect on deliveries is judged by another check."""
    yield from taken_or_refused(
        request.tried,
        context.dialect.delivery.zero_rate_limit,
        "8-5",
        "A rate_limit of 0 is not treated as the dialect says",
        context,
    )


@check("8-21")
def an_http_timeout_of_zero_is_taken_or_refused(
    request: TimeoutOfZero, context: CheckContext
) -> Iterator[Judgement]:
    """As the dialect says; its effect on deliveries is judged by another check."""
    yield from taken_or_refused(
        request.tried,
        zero_http_timeout(context.dialect),
        "8-21",
        "An http_timeout of 0 is not treated as the dialect says",
        context,
    )


@check("2.5-27")
def a_partial_field_mapping_is_taken_or_refused(
    request: PartialFieldMapping, context: CheckContext
) -> Iterator[Judgement]:
    """As the dialect says; how token responses are then read is judged by another check."""
    yield from taken_or_refused(
        request.tried,
        context.dialect.requests.partial_field_mapping,
        "2.5-27",
        "A field_mapping without a member is not treated as the dialect says",
        context,
    )


def taken_or_refused(
    tried: Exchange | None,
    meaning: Answer[Any],
    requirement: str,
    message: str,
    context: CheckContext,
) -> Iterator[Judgement]:
    """Whether a request was refused where the dialect says so, and accepted where it has a meaning
    for it.
    """
    if tried is None or not was_answered(tried) or not meaning.decided:
        return
    is_refused = is_refused_as_invalid(tried, context.dialect)
    yield judged(
        any(
            is_refused if allowed in REFUSED else was_accepted(tried) for allowed in meaning.allowed
        ),
        requirement,
        message,
        expected=meaning.value.value,
        actual=tried.status,
        exchanges=[tried],
    )


@check("8-29", "8-30")
def data_is_nested_as_deeply_as_the_dialect_allows(
    request: NestedData, context: CheckContext
) -> Iterator[Judgement]:
    """Refused with whatever status, where shallow data is taken: a parser that goes no deeper takes
    it for no JSON.
    """
    tried, maximum = request.tried, context.dialect.requests.nesting_maximum
    if maximum.allowed == (None,):
        yield not_applicable("8-30", NO_DEEPEST)
    if tried is None or not maximum.decided or not accepted_or_refused(tried):
        return
    if request.ordinary is None or not was_accepted(request.ordinary):
        return
    deepest = [DEEP if each is None else each for each in maximum.allowed]
    within, beyond = request.levels <= min(deepest), request.levels > max(deepest)
    if within or beyond:
        yield judged(
            refused(tried) is beyond,
            "8-29" if within else "8-30",
            f"Data of {request.levels} levels is {'refused' if within else 'accepted'}",
            expected=f"at most {max(deepest)} levels are accepted",
            actual=tried.status,
            exchanges=[tried, request.ordinary],
        )
