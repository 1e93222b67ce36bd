"""What the batches of the rate-limit experiment show of a server's windows, at whatever time they
begin: the limiters of the reference server and of its faults run here in a time of their own.
"""

from collections import deque
from collections.abc import Callable, Iterator

import pytest

from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.destinations import Event
from hookproof.conformance.subjects.rate_limits.evidence import (
    LIMIT_OF_ONE,
    RateLimitBurst,
)
from hookproof.conformance.subjects.rate_limits.experiment import (
    DURATION_S,
    LIMIT,
    due_batches,
)
from hookproof.mockserver.delivery.scheduling.rate_limit import SlidingWindow
from hookproof.mockserver.faults.catalogue.deliveries.rate_limits import ClockWindow, FixedWindow
from hookproof.spec.dialect.vocabulary import Excess
from tests.conformance.canned_deliveries import broadcast, destination, event, observed, sent
from tests.conformance.canned_evidence import NOW, context, verdicts

PASS, FAIL = Verdict.PASS, Verdict.FAIL
NewWindow = Callable[[int, float], SlidingWindow]

PHASES = [number / 40 * DURATION_S for number in range(40)]
# Between a broadcast and its delivery.
ON_ITS_WAY_S = 0.1
LIMITED = ((destination("limited"), LIMIT), (destination(LIMIT_OF_ONE), 1))


def deliveries(
    limiter: SlidingWindow, due: dict[Event, float], *, drops: bool
) -> Iterator[tuple[Event, float]]:
    """What a server sends, and when; endpoints answer at once."""
    waiting, now = deque(due.items()), 0.0
    while waiting:
        what, due_at = waiting[0]
        now = max(now, due_at)
        wait_s = limiter.wait_s(now)
        if wait_s > 0 and not drops:
            now += wait_s + 1e-6
            continue
        waiting.popleft()
        if wait_s <= 0:
            attempt = (len(waiting), 0)
            limiter.start(attempt)
            limiter.mark_sent(attempt, now)
            limiter.end(attempt, now, answered=True)
            yield what, now


def burst(new_window: NewWindow, dialect: str, phase: float, late_s: float) -> RateLimitBurst:
    """What is seen where the first event is sent this long after a multiple of the duration."""
    settings = context(dialect).dialect
    due = {
        event(name): phase + batch.at * DURATION_S
        for batch in due_batches(settings)
        for name in batch.events
    }
    at_server = {what: at + ON_ITS_WAY_S for what, at in due.items()}
    drops = settings.delivery.excess.value is Excess.DROPPED
    return observed(
        RateLimitBurst,
        [where for where, _ in LIMITED],
        *(
            sent(what, where, at=NOW + at)
            for where, limit in LIMITED
            for what, at in deliveries(new_window(limit, DURATION_S), at_server, drops=drops)
        ),
        events=list(due),
        exchanges=[broadcast(what, sent_at=NOW + at) for what, at in due.items()],
        limit=LIMIT,
        window_s=DURATION_S,
        late_s=late_s,
    )


def verdicts_by_phase(
    new_window: NewWindow, dialect: str, late_s: float
) -> dict[float, dict[str, Verdict]]:
    """The verdicts of each phase."""
    return {
        phase: verdicts("8-1 8-2", burst(new_window, dialect, phase, late_s), dialect)
        for phase in PHASES
    }


@pytest.mark.parametrize("dialect", ["reference", "contrary"])
@pytest.mark.parametrize("late_s", [0.0, 0.9])
@pytest.mark.parametrize(
    "new_window", [FixedWindow, ClockWindow], ids=["first event", "multiples of the duration"]
)
def test_windows_with_edges_show_whenever_the_experiment_begins(
    new_window: NewWindow, late_s: float, dialect: str
) -> None:
    expected = {"8-1": PASS, "8-2": FAIL}
    assert verdicts_by_phase(new_window, dialect, late_s) == dict.fromkeys(PHASES, expected)


@pytest.mark.parametrize("dialect", ["reference", "contrary"])
def test_a_sliding_window_passes_whenever_the_experiment_begins(dialect: str) -> None:
    expected = {"8-1": PASS, "8-2": PASS}
    assert verdicts_by_phase(SlidingWindow, dialect, late_s=0.0) == dict.fromkeys(PHASES, expected)
