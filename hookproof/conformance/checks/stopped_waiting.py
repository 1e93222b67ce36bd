"""Whether the service stopped waiting for an endpoint that does not answer (section 8)."""

from typing import Final

from hookproof.conformance.model.evidence import NotExaminedError
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.model.tolerances import (
    EARLY_S,
    LATE_S,
    PROVEN_S,
    for_attempt,
    require_punctual,
)
from hookproof.conformance.observations.deliveries import Attempts, DeliveryObservation, waited_s

STILL_WAITING: Final = (
    "the attempt was still open, and the observation ended before it had to be given up: it arrived"
    " late, or the service waits longer than it was asked to; the deep profile, or a longer"
    " delivery_s in the budgets of target.yaml, waits for more"
)
TOO_LATE_TO_TELL: Final = (
    "the attempt was given up later than it had to be, by no more than a busy service may need: it"
    " shows neither that the service keeps the time nor that it keeps another one"
)
NOT_GIVEN_UP: Final = "A delivery that was not answered in time was not given up"


def stopped_waiting(
    requirement: str,
    observed: DeliveryObservation,
    timeout_s: float,
    name: str,
    attempts: Attempts,
    message: str = NOT_GIVEN_UP,
) -> Judgement:
    """Whether the first of these attempts at a destination was given up in time: the one that was
    asked for, or the one that the endpoint is shown with.

    Raises NotExaminedError where it may have been after the end of the observation: no verdict on
    one that is still open before the longest time is over that the service was seen to wait, and
    none on one that was given up so late that it may have been by another time.
    """
    (destination,) = observed.destinations_named(name)[:1]
    asked_for = destination.settings.get("http_timeout")
    shown_s = (asked_for and observed.shown_timeout_s(destination)) or 0.0
    timeout_s = max(timeout_s, shown_s)
    waited = waited_s(attempts, timeout_s, for_attempt(EARLY_S, observed))
    tolerance_s = for_attempt(LATE_S, observed)
    latest_s = timeout_s + tolerance_s
    in_time = waited is not None and waited <= latest_s
    if not in_time:
        require_punctual(observed.late_s)
    proven_s = timeout_s + for_attempt(PROVEN_S, observed)
    # Where nobody saw it leave, another attempt shows that it did, some time before.
    if in_time and attempts[0].closed_monotonic and (waited or 0.0) > proven_s:
        raise NotExaminedError(TOO_LATE_TO_TELL)
    open_s = max([timeout_s, *observed.seen_open_s]) + tolerance_s
    if waited is None and (
        observed.ended_at is not None and observed.ended_at - attempts[0].arrived_at < open_s
    ):
        raise NotExaminedError(STILL_WAITING)
    return judged(
        in_time,
        requirement,
        message,
        expected=f"given up after {timeout_s:g} s",
        actual=f"waited {waited:.1f} s" if waited is not None else "neither left nor tried again",
        exchanges=[observed.exchange(name)],
        deliveries=attempts,
    )
