"""Whether the service stopped waiting for an endpoint that does not answer (section 8)."""

from typing import Final

from hookproof.conformance.model.evidence import NotExaminedError
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.model.tolerances import (
    EARLY_S,
    LATE_S,
    for_attempt,
    require_punctual,
)
from hookproof.conformance.observations.deliveries import Attempts, DeliveryObservation
from hookproof.conformance.observations.delivery.attempts.timeouts import waited_s

STILL_WAITING: Final = (
    "the attempt arrived so late that the observation ended before it had to be given up; a longer"
    " delivery_s in the budgets of target.yaml waits for more"
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
    """Whether the first of these attempts at a destination was given up in time.

    Raises NotExaminedError where it may have been after the end of the observation.
    """
    waited = waited_s(attempts, timeout_s, for_attempt(EARLY_S, observed))
    latest_s = timeout_s + for_attempt(LATE_S, observed)
    in_time = waited is not None and waited <= latest_s
    if not in_time:
        require_punctual(observed.late_s)
    if waited is None and (
        observed.ended_at is not None and observed.ended_at - attempts[0].arrived_at < latest_s
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
