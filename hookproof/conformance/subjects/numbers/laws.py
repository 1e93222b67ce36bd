"""Sections 4.1 and 8: extreme numbers are refused, or stored as they were sent.

The document names no bounds. A server that reads numbers as doubles is as good as one that reads
integers: all numbers tried are the same for both.
"""

import math
from collections.abc import Iterator
from typing import Any, Final

from hookproof.conformance.checks.bounds import NO_LARGEST_PAGE, bounds
from hookproof.conformance.checks.given_settings import is_shown_as_dropped
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement, json_text, judged, not_applicable
from hookproof.conformance.observations.answer import (
    has_value,
    items,
    pagination,
    refused,
    sent,
    shown,
    was_accepted,
    was_answered,
)
from hookproof.conformance.observations.extremes import ExtremePageSize, NumberTried
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.field_roles import body_fields, shown_as_sent

ECHOED: Final = {
    field: requirement
    for field, requirement in shown_as_sent("createEndpoint").items()
    if body_fields("createEndpoint")[field]["type"] == "integer"
}


@check(*ECHOED.values())
def an_accepted_number_is_shown_as_it_was_sent(
    observed: NumberTried, context: CheckContext
) -> Iterator[Judgement]:
    """In the answer and when it is fetched; a zero may stand for no value or for the default.

    A number beyond the dialect's largest may be shown as that, for 8-17 judges that it is accepted,
    and a negative one as the smallest.
    """
    tried, requirement = observed.tried, ECHOED.get(observed.field)
    if tried is None or requirement is None:
        return
    number = sent(tried).get(observed.field)
    for answer in dict.fromkeys(filter(None, (tried, observed.fetched))):
        if shown(answer):
            actual = shown(answer).get(observed.field)
            yield judged(
                _equal(actual, number)
                or (number == 0 and _may_stand_for_zero(actual, observed.field, context.dialect))
                or _is_clamped(actual, observed, context.dialect)
                or is_shown_as_dropped(observed.field, actual, context.dialect),
                requirement,
                f"An endpoint is created with {observed.field} {observed.number} and shows another",
                expected=f"a refusal, or {observed.number}",
                actual=actual,
                exchanges=[answer],
            )


@check("8-17")
def a_number_far_beyond_the_bounds_is_refused(
    observed: NumberTried, context: CheckContext
) -> Iterator[Judgement]:
    """As an invalid value, or as malformed by servers whose integers cannot hold it.

    A server that refuses ordinary numbers too keeps none out.
    """
    tried, control = observed.tried, observed.control
    if tried is None or control is None or not was_accepted(control) or not was_answered(tried):
        return
    number = sent(tried).get(observed.field)
    if not isinstance(number, int | float) or number <= _largest(observed, context.dialect):
        return
    context.require_same_rules(
        "requests beyond what is allowed", lambda dialect: bounds(dialect, observed.field)
    )
    yield judged(
        _is_refused_as_a_number(tried, context.dialect),
        "8-17",
        f"A request is not refused as the dialect says: {observed.field} {observed.number}",
        expected="a refusal as invalid or malformed",
        actual=tried.status,
        exchanges=[tried, control],
    )


@check("8-20")
def no_per_page_makes_a_page_larger_than_the_maximum(
    request: ExtremePageSize, context: CheckContext
) -> Iterator[Judgement]:
    """Refused in whatever way, or answered with a page of a size that the dialect has.

    Where no size is the largest, none can be above it either.
    """
    tried, control = request.tried, request.control
    maximum = context.dialect.paging.maximum_per_page
    if tried is None or not maximum.decided:
        return
    sizes = [size for size in maximum.allowed if size is not None]
    if len(sizes) < len(maximum.allowed):
        yield not_applicable("8-20", NO_LARGEST_PAGE)
        return
    if refused(tried) and control is not None and was_accepted(control):
        size, fits = None, True
    elif shown(tried):
        size, most = pagination(tried).get("per_page"), max(sizes)
        fits = _is_size_up_to(most, size) and len(items(tried)) <= most
    else:
        return
    yield judged(
        fits,
        "8-20",
        f"A perPage of {request.query.get('perPage')} makes a page larger than the dialect's"
        " maximum",
        expected=f"a refusal, or a page of at most {' or '.join(map(str, sizes))}",
        actual=f"{len(items(tried))} resources, per_page {json_text(size)}",
        exchanges=[tried, control],
    )


def _may_stand_for_zero(actual: Any, field: str, dialect: Dialect) -> bool:
    """Whether a server that takes a zero for "not given" may show this."""
    delivery = dialect.delivery
    defaults = {
        "http_timeout": delivery.default_timeout_s,
        "rate_limit_duration": delivery.default_rate_limit_duration,
    }
    return not has_value(actual) or (field in defaults and defaults[field].allows(actual))


def _largest(observed: NumberTried, dialect: Dialect) -> float:
    """The bound of a field; infinite where there is none."""
    largest: int | None = getattr(dialect.requests, f"{observed.field}_maximum")
    return math.inf if largest is None else largest


def _is_clamped(actual: Any, observed: NumberTried, dialect: Dialect) -> bool:
    number, largest = float(observed.number), _largest(observed, dialect)
    smallest = dialect.requests.http_timeout_minimum if observed.field == "http_timeout" else 0
    return (number > largest and _equal(actual, largest)) or (
        number < smallest and _equal(actual, smallest)
    )


def _is_refused_as_a_number(tried: Exchange, dialect: Dialect) -> bool:
    return refused(tried) and any(
        dialect.errors.status(refusal, tried.operation_id).allows(tried.status)
        for refusal in ("invalid_value", "malformed_body")
    )


def _equal(actual: Any, number: Any) -> bool:
    return not isinstance(actual, bool) and bool(actual == number)


def _is_size_up_to(most: int, size: Any) -> bool:
    """Whether a reported size is possible; one that is no number is judged by its type."""
    return not isinstance(size, int) or 0 <= size <= most
