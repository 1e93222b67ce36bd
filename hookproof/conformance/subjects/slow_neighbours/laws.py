"""Endpoints that keep the service waiting, and deliveries to another (hygiene of section 1)."""

from collections.abc import Iterator
from typing import Final

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import NotExaminedError
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.model.tolerances import DELAY_FACTOR, DELAY_S, require_punctual, widened
from hookproof.conformance.subjects.slow_neighbours.evidence import (
    EVENT,
    SlowNeighbours,
)

NOTHING_MEANWHILE: Final = (
    "no event that was broadcast while the service waited for a slow endpoint arrived at the other;"
    " run it again with less beside it, or see whether the service waits as long as http_timeout"
    " says"
)

FEWEST_LATE: Final = 2


@check("1-25")
def a_slow_endpoint_delays_no_other(
    observed: SlowNeighbours, context: CheckContext
) -> Iterator[Judgement]:
    """While slow endpoints were waited for, deliveries to another took at most a second more than
    before.

    A single one may be late for a reason of its own; what is kept waiting delays all that follow.
    """
    before = [delivered.waited_s for delivered in observed.before(context.dialect)]
    if not before:
        return
    longest_s = max(0.0, *before)
    bound_s = DELAY_FACTOR * longest_s + widened(DELAY_S, observed)
    meanwhile = observed.meanwhile(context.dialect)
    if observed.waiting(context.dialect) and not meanwhile:
        require_punctual(observed.late_s)
        raise NotExaminedError(NOTHING_MEANWHILE)
    late = [delivered for delivered in meanwhile if delivered.waited_s > bound_s]
    for delivered in meanwhile:
        if delivered in late:
            require_punctual(observed.late_s)
            if len(late) < FEWEST_LATE:
                continue
        yield judged(
            delivered.waited_s <= bound_s,
            "1-25",
            "An endpoint that keeps the service waiting delays deliveries to another",
            expected=f"at most {bound_s:.1f} s, {longest_s:.1f} s without it",
            actual=f"{delivered.waited_s:.1f} s",
            exchanges=[observed.exchange(EVENT), observed.exchange(delivered.event.name)],
            deliveries=[*observed.waiting(context.dialect), delivered.attempt],
        )
