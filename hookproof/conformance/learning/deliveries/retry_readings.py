"""What endpoints that always fail show: attempts, waits, deactivation, counts (sections 1, 2.3)."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, Self

from hookproof.conformance.learning.deliveries.gathering import (
    FAILING,
    NEAR_S,
    REFUSING,
    GatheredDeliveries,
    latest_arrival,
    longest_expected_s,
)
from hookproof.conformance.learning.deliveries.listener import Listener
from hookproof.conformance.learning.learned_answers import LearnedAnswers
from hookproof.spec.dialect.vocabulary import FinalStatus

# Waits that are as long as one before, but for the noise of a machine.
ALIKE: Final = 1.25
# The waits that services choose, in seconds; and by how much one may have seemed longer.
USUAL_S: Final = (
    0.1,
    0.2,
    0.25,
    0.3,
    0.5,
    1.0,
    1.5,
    2.0,
    3.0,
    4.0,
    5.0,
    10.0,
    15.0,
    20.0,
    30.0,
    60.0,
)
SHARE: Final = 0.85
STEP_S: Final = 0.1
SHORTEST_S: Final = 0.001
TOO_FAR: Final = (
    "the waits say too little beside the time for which an attempt from a target so far away, or"
    " that sends so unevenly, may be under way, {:.1f} s"
)
HALF: Final = 0.5
# So many deliveries show how many attempts there usually are.
USUAL_SERIES: Final = 3
# What a failure_rate is if everything failed.
WHOLE: Final = (100, 1000)
JITTER: Final = "retry.jitter"
# How often an answer has to end a delivery.
SEVERAL: Final = 2
WORDS_OF_END: Final = {True: "ended", False: "did not end", None: "may have ended"}
FIELDS: Final = (
    "retry.attempts",
    "retry.initial_s",
    "retry.factor",
    "retry.maximum_s",
    JITTER,
)


def read_retries(answers: LearnedAnswers, gathered: GatheredDeliveries) -> None:
    """Learn how often a failing delivery is attempted, and how long each wait is."""
    failing = failing_listeners(gathered)
    series = [
        times
        for listener in failing
        for event in gathered.events
        if (times := [each.arrived_monotonic for each in listener.of(event)])
    ]
    if not series:
        for field in FIELDS:
            answers.miss(field, "no delivery to an endpoint that fails was seen")
        return
    place = f"{len(series)} deliveries to endpoints that always fail"
    counts = Counter(map(len, series))
    most = max(counts)
    _see_attempts(answers, gathered, failing, counts, place)
    waits = [
        [times[n + 1] - times[n] for times in series if len(times) > n + 1] for n in range(most - 1)
    ]
    if waits:
        _see_waits(answers, waits, place, gathered.way_s)


def read_final_statuses(answers: LearnedAnswers, gathered: GatheredDeliveries) -> None:
    """Learn which answers end a delivery: those after which nothing came several times, where a 500
    for the same event was followed by another attempt, as long before the end as that took twice.
    """
    field, listeners = "retry.final_status", gathered.listeners
    ends = {
        status: _ends_delivery(gathered, listeners[about])
        for status, about in REFUSING.items()
        if about in listeners
    }
    fitting = [
        final
        for final in FinalStatus
        if all(final.includes(status) is end for status, end in ends.items())
    ]
    if len(ends) == len(REFUSING) and len(fitting) == 1:
        first = listeners[next(iter(REFUSING.values()))]
        shown_by = f"{len(first.arrived)} deliveries at {first.token}, beside others that fail"
        answers.see(field, fitting[0].value, shown_by=shown_by, count=SEVERAL)
    else:
        seen = ", ".join(
            f"{int(status)} {WORDS_OF_END[end]} deliveries" for status, end in ends.items()
        )
        answers.miss(field, f"no answer explains what was seen: {seen or 'nothing'}")


def _ends_delivery(gathered: GatheredDeliveries, refusing: Listener) -> bool | None:
    """Whether no attempt followed an answer of this endpoint; None if that cannot be told."""
    alone = 0
    for event in gathered.events:
        attempts = refusing.of(event)
        retried = [of for one in failing_listeners(gathered) if len(of := one.of(event)) > 1]
        if len(attempts) > 1:
            return False
        if attempts and retried:
            wait_s = max(of[1].arrived_monotonic - of[0].arrived_monotonic for of in retried)
            left_s = gathered.ended_at - attempts[0].arrived_monotonic
            alone += left_s > 2 * wait_s + gathered.way_s
    return True if alone >= SEVERAL else None


def first_waits(gathered: GatheredDeliveries) -> list[float]:
    """How long each delivery that failed waited for its second attempt."""
    pairs = [
        attempts[:2]
        for listener in failing_listeners(gathered)
        for event in gathered.events
        if len(attempts := listener.of(event)) > 1
    ]
    return [later.arrived_monotonic - first.arrived_monotonic for first, later in pairs]


def failing_listeners(gathered: GatheredDeliveries) -> list[Listener]:
    return [one for name, one in gathered.listeners.items() if name.startswith(FAILING)]


def _see_attempts(
    answers: LearnedAnswers,
    gathered: GatheredDeliveries,
    failing: list[Listener],
    counts: Counter[int],
    place: str,
) -> None:
    """An attempt that a single delivery had and many did not may have been made twice."""
    most = max(counts)
    is_odd = counts[most] == 1 and counts[most - 1] >= USUAL_SERIES
    fitting = (most - 1, most) if is_odd else (most,)
    quiet_s = gathered.ended_at - latest_arrival(failing, gathered.events)
    if quiet_s > longest_expected_s(failing, gathered.events, gathered.way_s):
        answers.see("retry.attempts", *fitting, shown_by=place, count=len(gathered.events))
    else:
        answers.miss(
            "retry.attempts",
            f"{most} came, and another may come later than was waited for; --profile deep waits"
            " longer",
        )


def _see_waits(
    answers: LearnedAnswers, waits: Sequence[Sequence[float]], place: str, under_way_s: float
) -> None:
    """Learn what all schedules have in common that may have led to these waits.

    A wait seems longer by as much as the answer before and the next attempt are under way.
    """
    shortest, counts = [min(each) for each in waits], [len(each) for each in waits]
    initials = _possible(shortest[0], (max(waits[0]) - shortest[0]) / counts[0], under_way_s)
    schedules = [
        _Schedule.of(each, initial)
        for initial in initials
        for each in _shortened(waits, under_way_s)
    ]
    maxima = {
        maximum
        for each in schedules
        for maximum in (
            (None,) if each.cut_at is None else _possible(shortest[each.cut_at], 0.0, under_way_s)
        )
    }
    for field, count, values in (
        ("retry.initial_s", counts[0], set(initials)),
        (JITTER, sum(counts), {each.jitter for each in schedules}),
        ("retry.factor", sum(counts), {each.factor for each in schedules}),
        ("retry.maximum_s", schedules[0].cut, maxima),
    ):
        if len(values) > 1:
            answers.miss(field, TOO_FAR.format(under_way_s))
        elif field == JITTER and not _is_beyond(waits, under_way_s):
            reason = f"waits differ by no more than {2 * under_way_s:.2f} s, as deliveries do"
            answers.assume(field, values.pop(), reason)
        elif (value := values.pop()) is not None:
            answers.see(field, value, shown_by=place, count=count)
        elif len(shortest) == 1:
            answers.miss(field, "a delivery was attempted only twice, so that there is one wait")
        else:
            _assume_longer(answers, field, shortest[-1])


def _is_beyond(waits: Sequence[Sequence[float]], under_way_s: float) -> bool:
    """Whether waits after the same attempt differ by more than two attempts do that are under way
    for as long as they may be.
    """
    return any(max(each) - min(each) > 2 * under_way_s for each in waits)


def _assume_longer(answers: LearnedAnswers, field: str, longest_s: float) -> None:
    reason = f"no wait was cut short; the longest was {longest_s:.1f} s"
    answers.miss(field, reason)
    if answers.is_seen("retry.attempts"):
        # All waits are known, so that a larger maximum makes no difference.
        answers.assume(field, float(math.ceil(2 * longest_s)), reason)


def _shortened(
    waits: Sequence[Sequence[float]], under_way_s: float
) -> list[Sequence[Sequence[float]]]:
    """The waits as they came, and the extremes of what they may have been."""
    if under_way_s <= NEAR_S:
        return [waits]

    def short(wait_s: float) -> float:
        return max(SHORTEST_S, wait_s - under_way_s)

    all_short = [[short(wait) for wait in each] for each in waits]
    return [
        waits,
        all_short,
        [[*each, short(min(each))] for each in waits],
        [*all_short[:1], *waits[1:]],
        [*waits[:1], *all_short[1:]],
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Schedule:
    """What waits show of a schedule: no `factor` if there is one wait. `cut` of them are shorter
    than they would have grown, the first of these is that after attempt `cut_at`.
    """

    factor: float | None
    jitter: float
    cut: int
    cut_at: int | None

    @classmethod
    def of(cls, waits: Sequence[Sequence[float]], initial_s: float) -> Self:
        """The shortest of many waits is about one without jitter."""
        shortest = [min(each) for each in waits]
        growth = [later / earlier for earlier, later in pairwise(shortest)]
        factor = max(1.0, round(growth[0] / HALF) * HALF) if growth else 1.0
        expected = [initial_s * factor**n for n in range(len(shortest))]
        jitter = max(map(_jitter, waits, expected))
        pairs = enumerate(zip(shortest, expected, strict=True))
        cut = [n for n, (wait, whole) in pairs if wait * ALIKE < whole]
        return cls(
            factor=factor if growth else None,
            jitter=min(1.0, math.ceil(jitter * 10) / 10),
            cut=len(cut),
            cut_at=cut[0] if cut else None,
        )


def _jitter(waits_s: Sequence[float], expected_s: float) -> float:
    """The largest share by which a wait may be lengthened, of which these are some.

    Neither the shortest nor the longest that there can be is likely to be among them.
    """
    shortest = min(expected_s, *waits_s)
    return (max(waits_s) / shortest - 1) * (1 + 1 / len(waits_s))


def _possible(wait_s: float, unseen_s: float, under_way_s: float) -> tuple[float, ...]:
    """The usual waits that may have become this one: the longest of them, by what the attempt
    itself took, unless it was under way for long.

    Of waits that are drawn at random a shortest one may be `unseen_s` shorter.
    """
    least_s = wait_s - unseen_s
    is_near = under_way_s <= NEAR_S
    if not is_near:
        least_s -= under_way_s
    fitting = [usual for usual in USUAL_S if least_s * SHARE <= usual <= wait_s]
    if is_near:
        return (max(fitting, default=_in_steps(wait_s)),)
    return tuple(fitting) or (_in_steps(least_s), _in_steps(wait_s))


def _in_steps(wait_s: float) -> float:
    return max(STEP_S, round(wait_s, 1))


def read_tallies(
    answers: LearnedAnswers,
    gathered: GatheredDeliveries,
    fetched: Mapping[str, Any],
    healthy: Mapping[str, Any],
    *,
    others_sent: bool,
) -> None:
    """Learn from how failing endpoints look in the end: status, events, failure_rate.

    `fetched` are the endpoints' records by name, `healthy` is that of one whose deliveries
    succeeded; `others_sent` is whether they got further events.
    """
    events = {
        name: sum(bool(one.of(event)) for event in gathered.events)
        for name, one in gathered.listeners.items()
        if name.startswith(FAILING) and name in fetched
    }
    if not any(events.values()):
        return
    statuses = {name: record.get("status") for name, record in fetched.items()}
    changed = {name for name, status in statuses.items() if status != healthy.get("status")}
    _see_deactivation(answers, changed, {} if others_sent else events)
    name = max(events, key=lambda each: events[each])
    record, count = fetched[name], events[name]
    place = f"GET getEndpoint, after {count} events that all failed"
    _see_event_count(answers, record.get("events"), healthy.get("events"), place)
    attempts = sum(len(gathered.listeners[name].of(event)) for event in gathered.events)
    rate, field = record.get("failure_rate"), "representation.failure_rate"
    meanings = {100: "percent", 1000: "per_mille", count: "count", attempts: "count"}
    telling = WHOLE if others_sent else tuple(meanings)
    if type(rate) is int and rate in telling:
        answers.see(field, meanings[rate], shown_by=place)
    elif type(rate) is int and rate > 0:
        answers.miss(field, f"it is {rate} {place.partition(', ')[2]}")


def _see_event_count(answers: LearnedAnswers, counted: Any, healthy: Any, place: str) -> None:
    """That failed events are not counted is told by an endpoint whose events are."""
    field = "representation.event_count"
    if type(counted) is int and counted >= 1:
        answers.see(field, "reached", shown_by=place)
    elif counted == 0 and type(healthy) is int and healthy >= 1:
        answers.see(field, "delivered", shown_by=place)
    elif counted == 0:
        answers.miss(field, "no endpoint shows events that were counted")


def _see_deactivation(
    answers: LearnedAnswers, changed: set[str], events: Mapping[str, int]
) -> None:
    """The fewest failed events after which an endpoint is not active any more, if none is so after
    fewer, and all are after more; `events` counts them, unless others failed as well.
    """
    field = "retry.deactivate_after"
    if not answers.is_seen("retry.attempts"):
        answers.miss(field, "no delivery was seen to be given up")
    elif not events:
        answers.miss(field, "endpoints got nobody knows how many events more")
    elif not changed:
        answers.miss(field, f"none up to {max(events.values())} failed events was met")
    else:
        fewest = min(events[name] for name in changed)
        counted = set(events.values())
        is_edge = fewest == 1 or fewest - 1 in counted
        if is_edge and changed == {name for name in events if events[name] >= fewest}:
            answers.see(field, fewest, shown_by=f"GET getEndpoint, after {fewest} failed events")
        else:
            answers.miss(
                field, f"some endpoints are disabled after {fewest} failed events or fewer"
            )
