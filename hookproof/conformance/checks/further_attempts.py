"""Whether the observation of a delivery went on until its next attempt was due (section 1)."""

from typing import Final

from hookproof.conformance.model.evidence import NotExaminedError
from hookproof.conformance.model.tolerances import BACKLOG_FACTOR, slack_s
from hookproof.conformance.observations.deliveries import (
    STILL_ARRIVING,
    Attempts,
    DeliveryObservation,
)
from hookproof.conformance.observations.destinations import ended
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.retry_schedule import wait_before

STILL_OPEN: Final = (
    "the service still waited for the answer to an attempt when the observation ended, so that"
    " nothing says what follows it; a shorter http_timeout or a longer delivery_s in the budgets of"
    " target.yaml shows that"
)


def require_next_attempt_due(
    observed: DeliveryObservation, attempts: Attempts, dialect: Dialect
) -> None:
    """Raise NotExaminedError if the attempt after these may have been on its way at the end, or the
    last of these was not over yet, and Undecided if the dialect does not say when it is due.

    A service that is behind with its deliveries is behind with further attempts too, and one that
    made a connection in vain since then may have made the attempt with it.
    """
    wait_s = wait_before(dialect.retry, len(attempts) + 1).longest_s
    if observed.ended_at is None:
        return
    last, over_at = attempts[-1], over_at_the_latest(observed, attempts[-1], dialect)
    if over_at is None or observed.ended_at < over_at:
        raise NotExaminedError(STILL_OPEN)
    longest_s = wait_s + behind_anywhere_s(observed, last.token)
    if observed.ended_at - over_at < longest_s + slack_s(observed) or was_in_vain_since(
        observed, over_at
    ):
        raise NotExaminedError(STILL_ARRIVING)


def over_at_the_latest(
    observed: DeliveryObservation, attempt: ReceivedDelivery, dialect: Dialect
) -> float | None:
    """When an attempt was over, in Unix seconds; where that was not seen, when its time-out was, if
    that is known.
    """
    over = ended(attempt)
    if over is not None:
        return attempt.arrived_at + over - attempt.arrived_monotonic
    open_s = observed.may_be_open_s(observed.destination_at(attempt.token), dialect)
    return None if open_s is None else attempt.arrived_at + open_s


def was_in_vain_since(observed: DeliveryObservation, since: float) -> bool:
    """Whether a connection on which no request came ended after this moment, in Unix seconds."""
    if observed.unused_s is None or observed.ended_at is None:
        return False
    return observed.ended_at - observed.unused_s > since


def behind_s(observed: DeliveryObservation, token: str) -> float:
    """How much later than due something may arrive at a token, by what arrived there late."""
    return BACKLOG_FACTOR * observed.backlog_s.get(token, 0.0)


def behind_anywhere_s(observed: DeliveryObservation, token: str) -> float:
    """The same by what arrived late there, or at any other destination that has no limit."""
    unlimited = [each.token for each in observed.destinations if "rate_limit" not in each.settings]
    return max(behind_s(observed, each) for each in (token, *unlimited))
