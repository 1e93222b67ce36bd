"""How many requests an endpoint gets in how much time (section 8)."""

from collections.abc import Iterator, Sequence

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.judgement import Judgement, holds, violated
from hookproof.conformance.model.tolerances import RATE_S
from hookproof.conformance.observations.case import Case, deliveries_of, destinations, events
from hookproof.conformance.observations.destinations import Destination, Event
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.vocabulary import Excess, ZeroLimit

LIMITED = ("limited", "limited as well", "limited and failing")


@check("8-1", "8-2", experiments=("rate_limit",))
def an_endpoint_gets_no_more_than_its_limit(
    case: Case, _context: CheckContext
) -> Iterator[Judgement]:
    """Counted in every stretch between two arrivals; other events of the project and repeated
    attempts count too.
    """
    limit, window_s = case.facts["limit"], case.facts["window_s"]
    for destination in destinations(case, *LIMITED):
        arrived = requests(case, destination)
        if not arrived or len(events(case)) <= 2 * limit:
            continue
        for requirement, found in {
            "8-1": beyond_any_cut(arrived, limit, window_s),
            "8-2": most_within(arrived, window_s - RATE_S, limit),
        }.items():
            if not found:
                yield holds(requirement)
            else:
                passed = found[-1].arrived_monotonic - found[0].arrived_monotonic
                yield violated(
                    requirement,
                    "An endpoint got more requests than its rate_limit allows",
                    expected=f"{limit} in each {window_s:g} s",
                    actual=f"{len(found)} in {passed:.2f} s at {destination.name!r}",
                    exchanges=[case.exchange(destination.name)],
                    deliveries=found,
                )


@check("8-3", experiments=("rate_limit",))
def the_limit_of_one_endpoint_holds_back_no_other(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """The endpoint without a limit got every event, and was not paced as if the limit were its own."""
    limit, window_s = case.facts["limit"], case.facts["window_s"]
    for free in destinations(case, "without limit"):
        first = [deliveries_of(case, free, event, context.dialect)[:1] for event in events(case)]
        arrived = sorted((one[0] for one in first if one), key=lambda one: one.arrived_monotonic)
        if not arrived:
            continue
        missing = len(first) - len(arrived)
        late = any(
            one[0].arrived_at - answered_at(case, event) > window_s
            for one, event in zip(first, events(case), strict=True)
            if one
        )
        paced = late and not most_within(arrived, window_s - RATE_S, limit)
        if missing or paced:
            yield violated(
                "8-3",
                "An endpoint without a limit was held back like one with a limit",
                expected="every event at once",
                actual=f"{missing} events missing"
                if missing
                else f"never more than {limit} in {window_s:g} s",
                exchanges=[case.exchange(free.name)],
                deliveries=arrived,
            )
        else:
            yield holds("8-3")


@check("8-3", experiments=("rate_limit",))
def two_endpoints_have_a_limit_each(case: Case, context: CheckContext) -> Iterator[Judgement]:
    """Two limited endpoints together get more than one limit, and get it sooner."""
    limit, window_s = case.facts["limit"], case.facts["window_s"]
    pair, sent = destinations(case, *LIMITED[:2]), events(case)
    each = [
        [one for event in sent for one in deliveries_of(case, to, event, context.dialect)[:1]]
        for to in pair
    ]
    together = sorted((one for came in each for one in came), key=lambda one: one.arrived_monotonic)
    if not all(each) or len(together) <= limit:  # one that got nothing shares nothing
        return
    lasted_s = together[-1].arrived_monotonic - together[0].arrived_monotonic
    shared_s = (len(together) / limit - 1) * window_s
    if most_within(together, window_s - RATE_S, limit) or lasted_s < shared_s - RATE_S:
        yield holds("8-3")
    else:
        yield violated(
            "8-3",
            "Two endpoints share one limit",
            expected=f"{limit} in each {window_s:g} s for each of them",
            actual=f"never more than {limit} for both together, in {lasted_s:.1f} s",
            exchanges=[case.exchange(one.name) for one in pair],
            deliveries=together,
        )


@check("8-4", experiments=("rate_limit",))
def deliveries_above_the_limit_wait_or_are_dropped(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """All events arrived in the end, or some never did, as the dialect says."""
    excess = context.dialect.delivery.excess
    for destination in destinations(case, *LIMITED[:2]):
        arrived = [
            bool(deliveries_of(case, destination, event, context.dialect)) for event in events(case)
        ]
        if not any(arrived):
            continue
        outcome = Excess.WAITS if all(arrived) else Excess.DROPPED
        if excess.allows(outcome):
            yield holds("8-4")
        else:
            yield violated(
                "8-4",
                "Deliveries above the rate limit are not treated as the dialect says",
                expected="all events arrive in the end"
                if excess.value is Excess.WAITS
                else "some events never arrive",
                actual=f"{sum(arrived)} of {len(arrived)} events arrived",
                exchanges=[case.exchange(destination.name)],
                deliveries=case.arrived_at(destination.token),
            )


@check("8-5", experiments=("rate_limit",))
def a_limit_of_0_limits_nothing(case: Case, context: CheckContext) -> Iterator[Judgement]:
    """Where the dialect takes 0 for no limit, everything arrives within less than two windows of
    another's limit.
    """
    if context.dialect.delivery.zero_rate_limit.allowed != (ZeroLimit.UNLIMITED,):
        return
    for destination in destinations(case, "limit of 0"):
        arrived = [
            bool(deliveries_of(case, destination, event, context.dialect)) for event in events(case)
        ]
        if all(arrived):
            yield holds("8-5")
        elif any(case.arrived_at(free.token) for free in destinations(case, "without limit")):
            yield violated(
                "8-5",
                "An endpoint with a rate_limit of 0 did not get every event",
                expected=f"{len(arrived)} events",
                actual=f"{sum(arrived)} events",
                exchanges=[case.exchange(destination.name)],
                deliveries=case.arrived_at(destination.token),
            )


@check("8-6", experiments=("rate_limit",))
def a_limit_without_duration_counts_over_the_default_time(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """The default shows in the endpoint wherever it shows a rate_limit_duration."""
    default = context.dialect.delivery.default_rate_limit_duration
    created = case.exchange("limited without duration")
    shown = (
        created.data.get("rate_limit_duration")
        if created and isinstance(created.data, dict)
        else None
    )
    if shown is None:
        return
    if default.allows(shown):
        yield holds("8-6")
    else:
        yield violated(
            "8-6",
            "A rate_limit without rate_limit_duration does not count over the dialect's default time",
            expected=default.allowed,
            actual=shown,
            exchanges=[created],
        )


def requests(case: Case, destination: Destination) -> list[ReceivedDelivery]:
    """Every request at a destination but those that only try its URL, in order of arrival."""
    visits = ("HEAD", "GET", "OPTIONS")
    arrived = [one for one in case.arrived_at(destination.token) if one.method not in visits]
    return sorted(arrived, key=lambda one: one.arrived_monotonic)


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
    """Arrivals in n windows on end that are more than n + 1 limits, which no cut of the windows
    allows.
    """
    passed = arrived[-1].arrived_monotonic - arrived[0].arrived_monotonic
    for windows in range(1, int(passed / window_s) + 2):
        if found := most_within(arrived, windows * window_s - RATE_S, (windows + 1) * limit):
            return found
    return ()


def answered_at(case: Case, event: Event) -> float:
    """When the broadcast of an event was answered, in unix seconds."""
    exchange = case.exchange(event.name)
    return exchange.sent_at + exchange.duration_s if exchange else 0.0
