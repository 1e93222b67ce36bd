"""How many requests an endpoint gets in how much time, and limits that limit nothing where the
dialect says so (section 8).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Final

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import NotExaminedError
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.model.tolerances import RATE_S, late_machine, require_punctual, widened
from hookproof.conformance.observations.answer import shown
from hookproof.conformance.observations.deliveries import STILL_ARRIVING
from hookproof.conformance.observations.destinations import Destination, shown_events
from hookproof.conformance.subjects.rate_limits.evidence import RateLimitBurst
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import Excess, ZeroLimit

in_order_of_arrival = attrgetter("arrived_monotonic")

# The methods of requests that only try a URL.
VISITS: Final = ("HEAD", "GET", "OPTIONS")

# In how much time arrives what is sent at once; a service that is so fast by itself sends more than
# any limit of the experiment.
BUNCH_S: Final = 0.4

SENT_APART: Final = (
    "deliveries that arrived together may have been sent apart: the target takes so long from a"
    " broadcast to its delivery"
)

NO_PRESSURE: Final = (
    "no endpoint got as much as its limit within one window, or more behind the edge of it, so that"
    " nothing shows whether a limit was kept or never met"
)

TOO_SLOW: Final = (
    "the target delivers so slowly by itself, or loses so much, that nothing shows whether a limit"
    " holds it back"
)


@check("8-1", "8-2")
def an_endpoint_gets_no_more_than_its_limit(
    burst: RateLimitBurst, context: CheckContext
) -> Iterator[Judgement]:
    """Counted in every stretch between two arrivals; other events of the project and repeated
    attempts count too.

    What arrives together may have been sent apart: only what was surely sent in too short a time is
    too much. A late machine changes nothing about that, since it notices arrivals late, never
    early. An endpoint that never got its whole limit shows nothing, nor does one of the edge that
    got all within one window.
    """
    window_s, late_s = burst.window_s, burst.late_s
    unexamined: set[str] = set()
    for destination in burst.limited:
        limit, arrived = burst.limit_of(destination), requests(burst, destination)
        if not arrived or len(burst.burst) <= 2 * limit:
            continue
        sent_from = earliest_sending(burst, destination, context.dialect)
        windows = range(1, int(lasted_s(arrived) / window_s) + 2)
        # In n windows that are cut anywhere, stretches of n + 1 windows of the service may lie.
        allowed = {"8-1": {n: (n + 1) * limit for n in windows}, "8-2": {1: limit}}
        for requirement, most in allowed.items():
            over_limit: Sequence[ReceivedDelivery] = ()
            sent_apart = False
            for n, count in most.items():
                together = most_within(arrived, n * window_s - RATE_S, count)
                surely = sent_since(together, sent_from, n * window_s)
                over_limit = over_limit or (surely if len(surely) > count else ())
                bunched = most_within(arrived, n * window_s - widened(RATE_S, burst), count)
                sent_apart = sent_apart or (bool(bunched) and not over_limit)
            if over_limit:
                require_punctual(late_s)
            elif sent_apart:
                unexamined.add(SENT_APART)
                continue
            elif not met_limit(arrived, limit, window_s) or (
                requirement == "8-2" and lasted_s(arrived) < window_s - RATE_S
            ):
                unexamined.add(NO_PRESSURE)
                continue
            yield judged(
                not over_limit,
                requirement,
                "An endpoint got more requests than its rate_limit allows",
                expected=f"{limit} in each {window_s:g} s",
                actual=f"{len(over_limit)} in {lasted_s(over_limit):.2f} s at {destination.name!r}",
                exchanges=[burst.exchange(destination.name)],
                deliveries=over_limit or arrived,
            )
    for reason in sorted(unexamined):
        raise NotExaminedError(reason)


@check("8-3")
def the_limit_of_one_endpoint_holds_back_no_other(
    burst: RateLimitBurst, context: CheckContext
) -> Iterator[Judgement]:
    """The endpoint without a limit was not paced as if it had the limit.

    A service that is slow by itself is not: one that is held back sends what the limit allows at
    once, and waits then. Events that got lost say nothing about a limit, unless the dialect drops
    what is above it.
    """
    for destination in burst.unlimited:
        arrived = first_arrivals(burst, destination, context.dialect)
        if not arrived:
            continue
        missing = len(burst.burst) - len(arrived)
        latest_s = max(waited_s(burst, name, delivery) for name, delivery in arrived.items())
        in_order = sorted(arrived.values(), key=in_order_of_arrival)
        drops = Excess.DROPPED in context.dialect.delivery.excess.allowed
        held_back = latest_s > burst.window_s or (drops and missing > 0)
        stretch_s = surely_within_s(burst)
        free = bool(most_within(in_order, stretch_s, burst.limit)) or not (missing or held_back)
        if not free:
            require_held_to_the_limit(burst, in_order)
        if not free and not (held_back and comes_as_limited(burst, destination, context.dialect)):
            raise NotExaminedError(TOO_SLOW)
        yield judged(
            free,
            "8-3",
            "An endpoint without a limit was held back like one with a limit",
            expected=f"more than {burst.limit} in {stretch_s:.1f} s, or all within"
            f" {burst.window_s:g} s",
            actual=f"at most {len(most_within(in_order, stretch_s, 0))} in {stretch_s:.1f} s,"
            f" {missing} of {len(burst.burst)} missing, the last {latest_s:.1f} s after its"
            " broadcast was answered",
            exchanges=[burst.exchange(destination.name)],
            deliveries=in_order,
        )


@check("8-3")
def two_endpoints_have_a_limit_each(
    burst: RateLimitBurst, context: CheckContext
) -> Iterator[Judgement]:
    """Two limited endpoints together get more than one limit, and get it sooner.

    Events of other experiments count too. That they did not is judged where the endpoint without a
    limit got more than one limit at once, so that the service could have been faster.
    """
    limit, pair, stretch_s = burst.limit, burst.limited_and_answering, surely_within_s(burst)
    arrived_at_each = [
        [
            *first_arrivals(burst, destination, context.dialect).values(),
            *foreign_arrivals(burst, destination, context.dialect),
        ]
        for destination in pair
    ]
    together = sorted(
        (attempt for arrived in arrived_at_each for attempt in arrived), key=in_order_of_arrival
    )
    if not all(arrived_at_each) or len(together) <= limit:
        return  # an endpoint that got nothing shares nothing
    shared_s = (len(together) / limit - 1) * burst.window_s - widened(RATE_S, burst)
    free = bool(most_within(together, stretch_s, limit)) or lasted_s(together) < shared_s
    if not free:
        require_held_to_the_limit(burst, together)
    if not free and not is_fast(burst, context.dialect):
        raise NotExaminedError(TOO_SLOW)
    yield judged(
        free,
        "8-3",
        "Two endpoints share one limit",
        expected=f"more than {limit} for both together in {stretch_s:.1f} s, or all"
        f" in less than {shared_s:.1f} s",
        actual=f"never more than {limit} for both together, in {lasted_s(together):.1f} s",
        exchanges=[burst.exchange(destination.name) for destination in pair],
        deliveries=together,
    )


@check("8-4")
def deliveries_above_the_limit_wait_or_are_dropped(
    burst: RateLimitBurst, context: CheckContext
) -> Iterator[Judgement]:
    """All events arrived in the end, or some never did, as the dialect says.

    What is dropped is dropped for the limit if the endpoint without one got everything, faster than
    the limit allows.
    """
    excess = context.dialect.delivery.excess
    pending = burst.pending_events(context.dialect)
    for destination in burst.limited_and_answering:
        arrived = first_arrivals(burst, destination, context.dialect)
        outcome = Excess.WAITS if len(arrived) == len(burst.burst) else Excess.DROPPED
        kept = excess.allows(outcome)
        if outcome is Excess.DROPPED and any(
            event in pending and event.name not in arrived for event in burst.burst
        ):
            raise NotExaminedError(STILL_ARRIVING)
        shown = outcome is Excess.WAITS and kept
        if not arrived or not (shown or is_fast(burst, context.dialect)):
            continue
        yield judged(
            kept,
            "8-4",
            "Deliveries above the rate limit are not treated as the dialect says",
            expected="all events arrive in the end"
            if Excess.WAITS in excess.allowed
            else "some events never arrive",
            actual=f"{len(arrived)} of {len(burst.burst)} events arrived",
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
    stretch_s = max(0.0, stretch_s)
    most: Sequence[ReceivedDelivery] = ()
    first = 0
    for last in range(len(arrived)):
        while arrived[last].arrived_monotonic - arrived[first].arrived_monotonic > stretch_s:
            first += 1
        if last + 1 - first > max(len(most), allowed):
            most = arrived[first : last + 1]
    return most


def met_limit(arrived: Sequence[ReceivedDelivery], limit: int, window_s: float) -> bool:
    """Whether as much arrived within one window as a limit allows, so that it held back the rest.

    What was sent within the window may have been noticed a little apart.
    """
    return bool(most_within(arrived, window_s + RATE_S, limit - 1))


def earliest_sending(
    burst: RateLimitBurst, destination: Destination, dialect: Dialect
) -> Mapping[ReceivedDelivery, float]:
    """Before when each attempt at an event was surely not sent, in Unix seconds: its broadcast, or
    the arrival of the attempt before it, which may have been noticed late.
    """
    earliest: dict[ReceivedDelivery, float] = {}
    for _, event, attempts in burst.arrived_events([destination], burst.events, dialect):
        broadcast = burst.exchange(event.name)
        arrivals = (sent.arrived_at - burst.late_s for sent in attempts)
        before = [broadcast.sent_at if broadcast else 0.0, *arrivals]
        earliest.update(zip(attempts, before, strict=False))
    return earliest


def sent_since(
    together: Sequence[ReceivedDelivery],
    sent_from: Mapping[ReceivedDelivery, float],
    stretch_s: float,
) -> Sequence[ReceivedDelivery]:
    """Those of some arrivals that were surely sent within this time before the last of them."""
    began = together[-1].arrived_at - stretch_s if together else 0.0
    return [delivery for delivery in together if sent_from.get(delivery, 0.0) > began]


def lasted_s(arrived: Sequence[ReceivedDelivery]) -> float:
    """The time from the first arrival to the last, in seconds; 0 for none."""
    return arrived[-1].arrived_monotonic - arrived[0].arrived_monotonic if arrived else 0.0


def first_arrivals(
    burst: RateLimitBurst, destination: Destination, dialect: Dialect
) -> dict[str, ReceivedDelivery]:
    """The first attempt at each event that arrived at the destination, by the event's name."""
    return {
        event.name: attempts[0]
        for _, event, attempts in burst.arrived_events([destination], burst.burst, dialect)
    }


def foreign_arrivals(
    burst: RateLimitBurst, destination: Destination, dialect: Dialect
) -> Iterable[ReceivedDelivery]:
    """The first of all requests with the same body that are no events of the experiment."""
    first: dict[bytes, ReceivedDelivery] = {}
    for request in requests(burst, destination):
        if not shown_events(request, burst.events, dialect):
            first.setdefault(request.body, request)
    return first.values()


def unlimited_arrivals(burst: RateLimitBurst, dialect: Dialect) -> list[ReceivedDelivery]:
    """What arrived at an endpoint without a limit that got every event, or nothing."""
    for destination in burst.unlimited:
        arrived = first_arrivals(burst, destination, dialect)
        if arrived and len(arrived) == len(burst.burst):
            return sorted(arrived.values(), key=in_order_of_arrival)
    return []


def is_fast(burst: RateLimitBurst, dialect: Dialect) -> bool:
    """Whether an endpoint without a limit got every event, and got them faster than the limit."""
    arrived = unlimited_arrivals(burst, dialect)
    return bool(most_within(arrived, surely_within_s(burst), burst.limit))


def surely_within_s(burst: RateLimitBurst) -> float:
    """What arrived within this time, in seconds, was sent within one window."""
    return burst.window_s - widened(RATE_S, burst)


def require_held_to_the_limit(burst: RateLimitBurst, arrived: Sequence[ReceivedDelivery]) -> None:
    """Raise NotExaminedError if more than the limit may have been sent within one window.

    A late machine spreads over more time what was sent at once.
    """
    require_punctual(burst.late_s)
    if most_within(arrived, burst.window_s - RATE_S + burst.late_s, burst.limit):
        raise late_machine(burst.late_s)


def comes_as_limited(burst: RateLimitBurst, destination: Destination, dialect: Dialect) -> bool:
    """Whether an endpoint got the burst as those with a limit do: soon and at once what the limit
    leaves of it, the rest no slower than the limit lets it through, the last no sooner than theirs.

    A service that is slow by itself may send some together by chance, but begins later, takes
    longer, or is done before those with a limit. A late machine makes bunches of what came one by
    one.
    """
    sent_at = {
        event.name: broadcast.sent_at
        for event in burst.burst
        if (broadcast := burst.exchange(event.name)) is not None
    }
    burst_at = max(sent_at.values(), default=0.0)
    arrivals = first_arrivals(burst, destination, dialect)
    before = [name for name in arrivals if sent_at.get(name, burst_at) < burst_at - BUNCH_S]
    usual_s = max((arrivals[name].arrived_at - sent_at[name] for name in before), default=0.0)
    arrived = sorted(arrivals[name].arrived_at for name in arrivals.keys() - set(before))
    if not arrived or arrived[0] > burst_at + usual_s + BUNCH_S:
        return False
    at_once = [at for at in arrived if at <= arrived[0] + BUNCH_S - burst.late_s]
    let_through = [
        request
        for request in requests(burst, destination)
        if arrived[0] <= request.arrived_at <= arrived[-1]
    ]
    slowest_s = len(let_through) / burst.limit * burst.window_s + BUNCH_S
    with_limit = [
        max(delivery.arrived_at for delivery in others.values())
        for limited in burst.limited_and_answering
        if (others := first_arrivals(burst, limited, dialect))
    ]
    return (
        len(at_once) > burst.limit - 3  # two came before the burst
        and arrived[-1] - arrived[0] <= slowest_s
        and arrived[-1] >= min(with_limit, default=arrived[-1]) - BUNCH_S
    )


def waited_s(burst: RateLimitBurst, event_name: str, delivery: ReceivedDelivery) -> float:
    """From the answer to the broadcast of an event to its arrival, in seconds."""
    exchange = burst.exchange(event_name)
    answered_at = exchange.sent_at + exchange.duration_s if exchange else 0.0
    return delivery.arrived_at - answered_at


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
