"""How many requests an endpoint gets in how much time (section 8)."""

from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Final

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.model.tolerances import RATE_S
from hookproof.conformance.observations.answer import shown
from hookproof.conformance.observations.delivery.attempts.rate_limit import RateLimitBurst
from hookproof.conformance.observations.destinations import Destination, Event
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.vocabulary import Excess, ZeroLimit

in_order_of_arrival = attrgetter("arrived_monotonic")

# The methods of requests that only try a URL.
VISITS: Final = ("HEAD", "GET", "OPTIONS")


@check("8-1", "8-2")
def an_endpoint_gets_no_more_than_its_limit(
    burst: RateLimitBurst, _context: CheckContext
) -> Iterator[Judgement]:
    """Counted in every stretch between two arrivals; other events of the project and repeated
    attempts count too.
    """
    limit, window_s = burst.limit, burst.window_s
    for destination in burst.limited:
        arrived = requests(burst, destination)
        if not arrived or len(burst.events) <= 2 * limit:
            continue
        for requirement, over_limit in {
            "8-1": beyond_any_cut(arrived, limit, window_s),
            "8-2": most_within(arrived, window_s - RATE_S, limit),
        }.items():
            yield judged(
                not over_limit,
                requirement,
                "An endpoint got more requests than its rate_limit allows",
                expected=f"{limit} in each {window_s:g} s",
                actual=f"{len(over_limit)} in {lasted_s(over_limit):.2f} s at {destination.name!r}",
                exchanges=[burst.exchange(destination.name)],
                deliveries=over_limit or arrived,
            )


@check("8-3")
def the_limit_of_one_endpoint_holds_back_no_other(
    burst: RateLimitBurst, context: CheckContext
) -> Iterator[Judgement]:
    """The endpoint without a limit got every event, and was not paced as if it had the limit."""
    limit, window_s = burst.limit, burst.window_s
    for destination in burst.unlimited:
        firsts: dict[str, ReceivedDelivery] = {}
        for event in burst.events:
            attempts = burst.attempts(destination, event, context.dialect)
            if attempts:
                firsts[event.name] = attempts[0]
        arrived = sorted(firsts.values(), key=in_order_of_arrival)
        if not arrived:
            continue
        missing = len(burst.events) - len(arrived)
        late = any(
            firsts[event.name].arrived_at - answered_at(burst, event) > window_s
            for event in burst.events
            if event.name in firsts
        )
        paced = late and not most_within(arrived, window_s - RATE_S, limit)
        yield judged(
            not missing and not paced,
            "8-3",
            "An endpoint without a limit was held back like one with a limit",
            expected="every event at once",
            actual=f"{missing} events missing"
            if missing
            else f"never more than {limit} in {window_s:g} s",
            exchanges=[burst.exchange(destination.name)],
            deliveries=arrived,
        )


@check("8-3")
def two_endpoints_have_a_limit_each(
    burst: RateLimitBurst, context: CheckContext
) -> Iterator[Judgement]:
    """Two limited endpoints together get more than one limit, and get it sooner."""
    limit, window_s, pair = burst.limit, burst.window_s, burst.limited_and_answering
    firsts_of_each = [
        [
            attempt
            for event in burst.events
            for attempt in burst.attempts(destination, event, context.dialect)[:1]
        ]
        for destination in pair
    ]
    together = sorted(
        (attempt for firsts in firsts_of_each for attempt in firsts), key=in_order_of_arrival
    )
    if not all(firsts_of_each) or len(together) <= limit:
        return  # an endpoint that got nothing shares nothing
    shared_s = (len(together) / limit - 1) * window_s
    yield judged(
        bool(most_within(together, window_s - RATE_S, limit))
        or lasted_s(together) < shared_s - RATE_S,
        "8-3",
        "Two endpoints share one limit",
        expected=f"{limit} in each {window_s:g} s for each of them",
        actual=f"never more than {limit} for both together, in {lasted_s(together):.1f} s",
        exchanges=[burst.exchange(destination.name) for destination in pair],
        deliveries=together,
    )


@check("8-4")
def deliveries_above_the_limit_wait_or_are_dropped(
    burst: RateLimitBurst, context: CheckContext
) -> Iterator[Judgement]:
    """All events arrived in the end, or some never did, as the dialect says."""
    excess = context.dialect.delivery.excess
    for destination in burst.limited_and_answering:
        arrived = [
            bool(burst.attempts(destination, event, context.dialect)) for event in burst.events
        ]
        if not any(arrived):
            continue
        outcome = Excess.WAITS if all(arrived) else Excess.DROPPED
        yield judged(
            excess.allows(outcome),
            "8-4",
            "Deliveries above the rate limit are not treated as the dialect says",
            expected="all events arrive in the end"
            if Excess.WAITS in excess.allowed
            else "some events never arrive",
            actual=f"{sum(arrived)} of {len(arrived)} events arrived",
            exchanges=[burst.exchange(destination.name)],
            deliveries=burst.arrived_at(destination.token),
        )


@check("8-5")
def a_limit_of_0_limits_nothing(
    burst: RateLimitBurst, context: CheckContext
) -> Iterator[Judgement]:
    """Where 0 means no limit in the dialect, everything arrives within less than two windows of
    another's limit.
    """
    if context.dialect.delivery.zero_rate_limit.allowed != (ZeroLimit.UNLIMITED,):
        return
    for destination in burst.zero_limited:
        arrived = [
            bool(burst.attempts(destination, event, context.dialect)) for event in burst.events
        ]
        if all(arrived) or any(burst.arrived_at(other.token) for other in burst.unlimited):
            yield judged(
                all(arrived),
                "8-5",
                "An endpoint with a rate_limit of 0 did not get every event",
                expected=f"{len(arrived)} events",
                actual=f"{sum(arrived)} events",
                exchanges=[burst.exchange(destination.name)],
                deliveries=burst.arrived_at(destination.token),
            )


@check("8-6")
def a_limit_without_duration_counts_over_the_default_time(
    burst: RateLimitBurst, context: CheckContext
) -> Iterator[Judgement]:
    """The default shows in the endpoint wherever it shows a rate_limit_duration."""
    default = context.dialect.delivery.default_rate_limit_duration
    created = burst.created_without_duration
    duration = shown(created).get("rate_limit_duration") if created else None
    if duration is not None:
        yield judged(
            default.allows(duration),
            "8-6",
            "A rate_limit without rate_limit_duration does not count over the dialect's default"
            " time",
            expected=default.allowed,
            actual=duration,
            exchanges=[created],
        )


def requests(burst: RateLimitBurst, destination: Destination) -> list[ReceivedDelivery]:
    """Every request at a destination but those that only try its URL, in order of arrival."""
    arrived = [
        request for request in burst.arrived_at(destination.token) if request.method not in VISITS
    ]
    return sorted(arrived, key=in_order_of_arrival)


def most_within(
    arrived: Sequence[ReceivedDelivery], stretch_s: float, allowed: int
) -> Sequence[ReceivedDelivery]:
    """The most arrivals within a stretch of time if they are more than allowed, else none."""
    most: Sequence[ReceivedDelivery] = ()
    first = 0
    for last in range(len(arrived)):
        while arrived[last].arrived_monotonic - arrived[first].arrived_monotonic > stretch_s:
            first += 1
        if last + 1 - first > max(len(most), allowed):
            most = arrived[first : last + 1]
    return most


def beyond_any_cut(
    arrived: Sequence[ReceivedDelivery], limit: int, window_s: float
) -> Sequence[ReceivedDelivery]:
    """Arrivals in n consecutive windows that are more than n + 1 limits, which no cut of the
    windows allows.
    """
    for windows in range(1, int(lasted_s(arrived) / window_s) + 2):
        over_limit = most_within(arrived, windows * window_s - RATE_S, (windows + 1) * limit)
        if over_limit:
            return over_limit
    return ()


def lasted_s(arrived: Sequence[ReceivedDelivery]) -> float:
    """The time from the first arrival to the last, in seconds; 0 for none."""
    return arrived[-1].arrived_monotonic - arrived[0].arrived_monotonic if arrived else 0.0


def answered_at(burst: RateLimitBurst, event: Event) -> float:
    """When the broadcast of an event was answered, in Unix seconds."""
    exchange = burst.exchange(event.name)
    return exchange.sent_at + exchange.duration_s if exchange else 0.0
