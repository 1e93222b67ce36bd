"""What endpoints with a rate limit show: its unit, and what becomes of events above it."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from hookproof.conformance.learning.deliveries.gathering import (
    LATER_S,
    LONG,
    LONG_WINDOW,
    PLAIN,
    SHORT,
    SHORT_WINDOW,
    GatheredDeliveries,
)
from hookproof.conformance.learning.deliveries.listener import Listener
from hookproof.conformance.learning.learned_answers import LearnedAnswers
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.vocabulary import TimeUnit

# The share of a window that two deliveries are apart at least, where its limit holds.
HELD: Final = 0.9
# A delivery that waited for its limit comes later than this, in seconds.
LATE_S: Final = 0.6
TOO_SLOW: Final = "events were sent too slowly for a limit to show"


def read_rate_limit(answers: LearnedAnswers, gathered: GatheredDeliveries) -> None:
    """The unit of rate_limit_duration, from how far deliveries are apart."""
    field, short = "delivery.rate_limit_unit", gathered.listeners.get(SHORT_WINDOW)
    first = gathered.first_of_each(short)
    if short is None or not first:
        answers.miss(field, "an endpoint with a rate limit gets no delivery, or is refused")
        return
    way_s, sent = gathered.way_s, [event.answer.sent_at for event in gathered.events]
    arrived = _times(first)
    long = gathered.listeners.get(LONG_WINDOW)
    place = f"{len(first)} deliveries at {short.token}"
    if exceeds(arrived, SHORT, way_s):
        unit = TimeUnit.MILLISECONDS
        apart = SHORT * unit.in_seconds if long is None else LONG * unit.in_seconds
        held = gathered.first_of_each(long)
        if long is None or exceeds(_times(held), apart, way_s):
            answers.miss(field, "no limit of a rate is seen to hold; `hookproof check` judges that")
            return
        if len(held) < 2:  # noqa: PLR2004 it would hold in longer units, too
            answers.miss(field, f"a limit of {SHORT} seems not to hold, and one of {LONG} does")
            return
        if not exceeds(sent, apart, way_s):
            answers.miss(field, TOO_SLOW)
            return
        place = f"{len(held)} deliveries at {long.token}"
    elif len(arrived) > 1 and _is_unlimited_faster(gathered) and exceeds(sent, SHORT, way_s):
        unit, held = TimeUnit.SECONDS, first
    elif len(arrived) == len(sent) or not _is_unlimited_faster(gathered):
        answers.miss(field, TOO_SLOW)
        return
    else:
        _assume_long_unit(answers, gathered, len(first))
        return
    answers.see(field, unit.value, shown_by=place, count=len(first))
    _read_excess(answers, gathered, short if unit is TimeUnit.SECONDS else long)


def _is_unlimited_faster(gathered: GatheredDeliveries) -> bool:
    """Whether an endpoint without a limit got the same events faster than one with it may: the
    control of every limit.
    """
    plain = [gathered.first_of_each(gathered.listeners.get(name)) for name in PLAIN]
    return any(exceeds(_times(each), SHORT, gathered.way_s) for each in plain)


def _assume_long_unit(
    answers: LearnedAnswers, gathered: GatheredDeliveries, delivered: int
) -> None:
    """A single delivery, though events came for longer than some seconds, excludes the short
    units.
    """
    field = "delivery.rate_limit_unit"
    reason = (
        f"of {len(gathered.events)} events {delivered} were delivered within {LATER_S:g} s, which"
        " shows no unit"
    )
    if delivered == 1 and sum(_sent_apart(gathered)) > LATER_S:
        answers.assume(field, TimeUnit.MINUTES.value, f"{reason}; it is not one of the short ones")
    else:
        answers.miss(field, reason)


def _read_excess(
    answers: LearnedAnswers, gathered: GatheredDeliveries, limited: Listener | None
) -> None:
    """Whether events above the limit came late, or were left out while a later one came."""
    if limited is None:
        return
    came = [limited.of(event) for event in gathered.events]
    last = max((number for number, attempts in enumerate(came) if attempts), default=0)
    left_out = sum(not attempts for attempts in came[:last])
    late = sum(
        attempts[0].arrived_at - event.answer.sent_at > LATE_S + gathered.way_s
        for event, attempts in zip(gathered.events, came, strict=True)
        if attempts
    )
    place = f"{sum(map(bool, came))} of {len(came)} events at {limited.token}"
    if left_out and not late:
        answers.see("delivery.excess", "dropped", shown_by=place, count=left_out)
    elif late and not left_out:
        answers.see("delivery.excess", "waits", shown_by=place, count=late)
    else:
        answers.miss("delivery.excess", f"{left_out} events were left out and {late} were late")


def _sent_apart(gathered: GatheredDeliveries) -> list[float]:
    """How far apart events were sent, in seconds."""
    times = [event.answer.sent_at for event in gathered.events]
    return [later - earlier for earlier, later in pairwise(times)]


def _times(deliveries: Sequence[ReceivedDelivery]) -> list[float]:
    return [each.arrived_monotonic for each in deliveries]


def exceeds(times: Sequence[float], apart_s: float, under_way_s: float) -> bool:
    """Whether any of these times are closer than a limit of one in `apart_s` allows, although each
    may be so much later than it seems.
    """
    return any(
        later - earlier < HELD * apart_s * steps - under_way_s
        for steps in range(1, len(times))
        for earlier, later in zip(times, times[steps:], strict=False)
    )
