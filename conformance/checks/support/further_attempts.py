"""Whether the observation of a delivery went on until its next attempt was due (section 1)."""

from hookproof.conformance.model.evidence import NotExaminedError
from hookproof.conformance.model.retry_schedule import wait_before
from hookproof.conformance.model.tolerances import BACKLOG_FACTOR, slack_s
from hookproof.conformance.observations.deliveries import (
    STILL_ARRIVING,
    Attempts,
    DeliveryObservation,
)
from hookproof.conformance.observations.destinations import ended
from hookproof.spec.dialect.model import Dialect


def require_next_attempt_due(
    observed: DeliveryObservation, attempts: Attempts, dialect: Dialect
) -> None:
    """Raise NotExaminedError if the attempt after these may have been on its way at the end.

    A service that is behind with its deliveries is behind with further attempts too.
    """
    last, over = attempts[-1], ended(attempts[-1])
    if over is None or observed.ended_at is None:
        return
    over_at = last.arrived_at + over - last.arrived_monotonic
    longest_s = wait_before(dialect.retry, len(attempts) + 1).longest_s + behind_s(
        observed, last.token
    )
    if observed.ended_at - over_at < longest_s + slack_s(observed):
        raise NotExaminedError(STILL_ARRIVING)


def behind_s(observed: DeliveryObservation, token: str) -> float:
    """How much later than due something may arrive at a token, by what arrived there late."""
    return BACKLOG_FACTOR * observed.backlog_s.get(token, 0.0)
