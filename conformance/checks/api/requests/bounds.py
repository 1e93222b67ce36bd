"""Section 8: https alone, and what lies within the dialect's bounds."""

from collections.abc import Iterator
from typing import Final

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.observations.answer import refused, sent
from hookproof.conformance.observations.case import Case
from hookproof.spec.dialect.vocabulary import ZeroLimit

URLS: Final = {"http URL": "8-10", "URL of another scheme": "8-11"}
ACCEPTED: Final = {"number at the edge": "8-16", "within the size limit": "8-15"}


@check(*URLS.values(), experiments=("refusals",))
def only_https_urls_are_taken(case: Case, _context: CheckContext) -> Iterator[Judgement]:
    """Refused at creation, with whatever status."""
    tried, about = case.exchange("tried"), case.facts.get("about")
    if about in URLS and tried is not None and tried.status is not None:
        yield judged(
            not tried.succeeded,
            URLS[about],
            f"An endpoint is created with a URL that is not https: {about}",
            expected="a refusal",
            actual=f"{tried.status} for {sent(tried).get('url')}",
            exchanges=[tried],
        )


@check(*ACCEPTED.values(), experiments=("refusals", "hostile"))
def what_lies_within_the_bounds_is_taken(case: Case, _context: CheckContext) -> Iterator[Judgement]:
    """Numbers at the edge and a body as large as allowed."""
    tried, about = case.exchange("tried"), case.facts.get("about")
    if about in ACCEPTED and tried is not None and tried.status is not None:
        message = f"A request within the dialect's bounds is refused: {about} {case.facts.get('field', '')}".rstrip()
        yield judged(
            tried.succeeded,
            ACCEPTED[about],
            message,
            expected="a 2xx",
            actual=tried.status,
            exchanges=[tried],
        )


@check("8-5", experiments=("refusals",))
def a_rate_limit_of_zero_is_taken_or_refused(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """As the dialect says; what it does to deliveries is another check's business."""
    tried, zero = case.exchange("tried"), context.dialect.delivery.zero_rate_limit
    if case.facts.get("about") == "rate limit of zero" and tried is not None and zero.decided:
        refusal = refused(tried) and context.dialect.errors.invalid_value.allows(tried.status)
        outcomes = {ZeroLimit.UNLIMITED: tried.succeeded, ZeroLimit.REFUSED: refusal}
        message = "A rate_limit of 0 is not treated as the dialect says"
        yield judged(
            any(outcomes[one] for one in zero.allowed),
            "8-5",
            message,
            expected=zero.value.value,
            actual=tried.status,
            exchanges=[tried],
        )
