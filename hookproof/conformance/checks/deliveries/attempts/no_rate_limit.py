"""Rate limits that limit nothing, where the dialect says so (section 8)."""

from collections.abc import Iterator, Sequence

from hookproof.conformance.checks.deliveries.attempts.rate_limit import (
    first_arrivals,
    unlimited_arrivals,
)
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.observations.delivery.attempts.rate_limit import RateLimitBurst
from hookproof.conformance.observations.destinations import Destination
from hookproof.spec.dialect.vocabulary import ZeroLimit


@check("8-5")
def a_limit_of_0_limits_nothing(
    burst: RateLimitBurst, context: CheckContext
) -> Iterator[Judgement]:
    """Where 0 means no limit in the dialect, everything arrives."""
    if context.dialect.delivery.zero_rate_limit.allowed == (ZeroLimit.UNLIMITED,):
        yield from everything_arrives(
            burst,
            burst.zero_limited,
            "8-5",
            "An endpoint with a rate_limit of 0 did not get every event",
            context,
        )


@check("8-6")
def a_limit_without_duration_limits_nothing_where_the_default_is_0(
    burst: RateLimitBurst, context: CheckContext
) -> Iterator[Judgement]:
    """As with a limit of 0, everything arrives."""
    if context.dialect.delivery.default_rate_limit_duration.allowed == (0,):
        yield from everything_arrives(
            burst,
            burst.limited_without_duration,
            "8-6",
            "An endpoint with a rate_limit and without rate_limit_duration did not get every event",
            context,
        )


def everything_arrives(
    burst: RateLimitBurst,
    unlimited: Sequence[Destination],
    requirement: str,
    message: str,
    context: CheckContext,
) -> Iterator[Judgement]:
    """Whether endpoints whose limit means none got every event of the burst.

    What is missing is judged where the endpoint without a limit got everything, the sentinel too:
    then the service was alive to the end and lost nothing elsewhere.
    """
    pending = burst.pending_events(context.dialect, burst.unlimited)
    sentinels = burst.sentinels(context.dialect)
    others = unlimited_arrivals(burst, context.dialect)
    for destination in unlimited:
        arrived = first_arrivals(burst, destination, context.dialect)
        missing = [event for event in burst.burst if event.name not in arrived]
        if not missing or (others and sentinels and not pending.intersection(missing)):
            yield judged(
                not missing,
                requirement,
                message,
                expected=f"{len(burst.burst)} events",
                actual=f"{len(arrived)} events",
                exchanges=[burst.exchange(destination.name)],
                deliveries=[*burst.arrived_at(destination.token), *others, *sentinels],
            )
