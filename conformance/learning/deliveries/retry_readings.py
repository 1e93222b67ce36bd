"""What endpoints that always fail show: attempts, waits, deactivation, counts (sections 1, 2.3)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, Self

from hookproof.conformance.learning.deliveries.gathering import (
    FAILING,
    NEAR_S,
    GatheredDeliveries,
    latest_arrival,
    longest_expected_s,
)
from hookproof.conformance.learning.deliveries.listener import Listener
from hookproof.conformance.learning.learned_answers import LearnedAnswers
from hookproof.conformance.observations.answer import shown

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
    "the waits say too little beside the time for which an attempt from a target so far away may be"
    " under way, {:.1f} s"
)
HALF: Final = 0.5
FIELDS: Final = (
    "retry.attempts",
    "retry.initial_s",
    "retry.factor",
    "retry.maximum_s",
    "retry.jitter",
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
    most = max(map(len, series))
    _see_attempts(answers, gathered, failing, most, place)
    waits = [
        [times[n + 1] - times[n] for times in series if len(times) > n + 1] for n in range(most - 1)
    ]
    if waits:
        _see_waits(answers, waits, place, gathered.way_s)


def shortest_wait_s(gathered: GatheredDeliveries) -> float | None:
    """The shortest wait for a second attempt, None if there was none."""
    pairs = [
        attempts[:2]
        for listener in failing_listeners(gathered)
        for event in gathered.events
        if len(attempts := listener.of(event)) > 1
    ]
    waits = (later.arrived_monotonic - first.arrived_monotonic for first, later in pairs)
    return min(waits, default=None)


def failing_listeners(gathered: GatheredDeliveries) -> list[Listener]:
    return [one for name, one in gathered.listeners.items() if name.startswith(FAILING)]


def _see_attempts(
    answers: LearnedAnswers,
    gathered: GatheredDeliveries,
    failing: list[Listener],
    most: int,
    place: str,
) -> None:
    quiet_s = gathered.ended_at - latest_arrival(failing, gathered.events)
    if quiet_s > longest_expected_s(failing, gathered.events, gathered.way_s):
        answers.see("retry.attempts", most, shown_by=place, count=len(gathered.events))
    else:
        answers.miss(
            "retry.attempts",
            f"more than {most} attempts, or longer waits than there was time for; --profile deep"
            " waits longer",
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
        ("retry.jitter", sum(counts), {each.jitter for each in schedules}),
        ("retry.factor", sum(counts), {each.factor for each in schedules}),
        ("retry.maximum_s", schedules[0].cut, maxima),
    ):
        if len(values) > 1:
            answers.miss(field, TOO_FAR.format(under_way_s))
        elif (value := values.pop()) is not None:
            answers.see(field, value, shown_by=place, count=count)
        elif len(shortest) == 1:
            answers.miss(field, "a delivery was attempted only twice, so that there is one wait")
        else:
            _assume_longer(answers, field, shortest[-1])


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
    fetched: dict[str, Any],
    *,
    others_sent: bool,
) -> None:
    """Learn from how failing endpoints look in the end: status, events, failure_rate.

    `fetched` are the endpoints' records by name; `others_sent` is whether they got further events.
    """
    events = {
        name: sum(bool(one.of(event)) for event in gathered.events)
        for name, one in gathered.listeners.items()
        if name.startswith(FAILING) and name in fetched
    }
    if not any(events.values()):
        return
    _see_deactivation(answers, gathered, fetched, {} if others_sent else events)
    name = max(events, key=lambda each: events[each])
    record, count = fetched[name], events[name]
    place = f"GET getEndpoint, after {count} events that all failed"
    counted, rate = record.get("events"), record.get("failure_rate")
    if counted == 0 or (isinstance(counted, int) and counted >= 1):
        meaning = "reached" if counted else "delivered"
        answers.see("representation.event_count", meaning, shown_by=place)
    for meaning, whole in (("percent", 100), ("per_mille", 1000)):
        if rate == whole:
            answers.see("representation.failure_rate", meaning, shown_by=place)
            return
    if isinstance(rate, int) and rate > 0:
        answers.see("representation.failure_rate", "count", shown_by=place)


def _see_deactivation(
    answers: LearnedAnswers,
    gathered: GatheredDeliveries,
    fetched: dict[str, Any],
    events: dict[str, int],
) -> None:
    """The fewest failed events after which an endpoint is not active any more; `events` counts
    them, unless others failed as well.
    """
    field = "retry.deactivate_after"
    before = shown(gathered.listeners[next(iter(fetched))].created).get("status")
    changed = [name for name in fetched if fetched[name].get("status") != before]
    if not answers.is_seen("retry.attempts"):
        answers.miss(field, "no delivery was seen to be given up")
    elif not changed:
        answers.see(field, 0, shown_by="GET getEndpoint, still active after all events failed")
    elif events:
        fewest = min(events[name] for name in changed)
        answers.see(field, fewest, shown_by=f"GET getEndpoint, after {fewest} failed events")
    else:
        answers.miss(field, "an endpoint was disabled, after nobody knows how many failures")
