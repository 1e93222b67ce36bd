"""What endpoints that always fail show: attempts, waits, deactivation, counts (sections 1, 2.3)."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

from hookproof.conformance.learning.deliveries.gathering import (
    FAILING,
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
        _see_waits(answers, waits, place)


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
    if quiet_s > longest_expected_s(failing, gathered.events):
        answers.see("retry.attempts", most, shown_by=place, count=len(gathered.events))
    else:
        answers.miss(
            "retry.attempts",
            f"more than {most} attempts, or longer waits than there was time for; --profile deep"
            " waits longer",
        )


def _see_waits(answers: LearnedAnswers, waits: Sequence[Sequence[float]], place: str) -> None:
    """The shortest of many waits is about one without jitter."""
    count = sum(map(len, waits))
    shortest = [min(each) for each in waits]
    initial = _rounded(shortest[0], (max(waits[0]) - shortest[0]) / len(waits[0]))
    answers.see("retry.initial_s", initial, shown_by=place, count=len(waits[0]))
    growth = [later / earlier for earlier, later in pairwise(shortest)]
    factor = max(1.0, round(growth[0] / HALF) * HALF) if growth else 1.0
    expected = [initial * factor**n for n in range(len(shortest))]
    jitter = max(map(_jitter, waits, expected))
    answers.see("retry.jitter", min(1.0, math.ceil(jitter * 10) / 10), shown_by=place, count=count)
    if len(shortest) == 1:
        reason = "a delivery was attempted only twice, so that there is one wait"
        answers.miss("retry.factor", reason)
        answers.miss("retry.maximum_s", reason)
        return
    answers.see("retry.factor", factor, shown_by=place, count=count)
    capped = [wait for wait, whole in zip(shortest, expected, strict=True) if wait * ALIKE < whole]
    if capped:
        answers.see("retry.maximum_s", _rounded(capped[0]), shown_by=place, count=len(capped))
    else:
        reason = f"no wait was cut short; the longest was {shortest[-1]:.1f} s"
        answers.miss("retry.maximum_s", reason)
        if answers.is_seen("retry.attempts"):
            # All waits are known, so that a larger maximum makes no difference.
            answers.assume("retry.maximum_s", float(math.ceil(2 * shortest[-1])), reason)


def _jitter(waits_s: Sequence[float], expected_s: float) -> float:
    """The largest share by which a wait may be lengthened, of which these are some.

    Neither the shortest nor the longest that there can be is likely to be among them.
    """
    shortest = min(expected_s, *waits_s)
    return (max(waits_s) / shortest - 1) * (1 + 1 / len(waits_s))


def _rounded(wait_s: float, unseen_s: float = 0.0) -> float:
    """The usual wait that may have become this one, by what the attempt itself took; of waits that
    are drawn at random a shortest one may be so much shorter.
    """
    fitting = [usual for usual in USUAL_S if (wait_s - unseen_s) * SHARE <= usual <= wait_s]
    return max(fitting) if fitting else max(STEP_S, round(wait_s, 1))


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
