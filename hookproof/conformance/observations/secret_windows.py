"""When an old secret is valid and when it has expired, as far as that can be seen from outside
(section 4.3).

A service rolls at some time between the request and its answer, and signs at some time between the
broadcast and the arrival. What lies between the two bounds is not judged.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

from hookproof.conformance.model.evidence import Exchange, Observation
from hookproof.conformance.model.tolerances import EXPIRY_S, KEPT_DATE_S, SKEW_S
from hookproof.conformance.observations.answer import shown
from hookproof.conformance.observations.destinations import Event, Roll
from hookproof.conformance.observations.timestamp import unix_seconds
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.model import Dialect


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The time of an old secret after the roll that replaced it, in Unix seconds of our clock."""

    rolled_at: float
    valid_until: float
    expired_from: float

    def precedes_roll(self, observation: Observation, event: Event) -> bool:
        """Whether the event was sent before the roll was answered, so that it shows nothing."""
        return _sent_at(observation, event) < self.rolled_at

    def is_valid(self, observation: Observation, event: Event, delivery: ReceivedDelivery) -> bool:
        """Whether the delivery was certainly signed after the roll and before the old secret
        expired.
        """
        return not self.precedes_roll(observation, event) and delivery.arrived_at < self.valid_until

    def is_expired(self, observation: Observation, event: Event) -> bool:
        """Whether every delivery of the event was certainly signed after the old secret had
        expired.
        """
        sent_at = _sent_at(observation, event)
        return not self.precedes_roll(observation, event) and sent_at > self.expired_from


def requested_window(observation: Observation, roll: Roll, dialect: Dialect) -> Window | None:
    """The window that `expiration` asked for, in the dialect's unit."""
    exchange = observation.exchange(roll.role)
    if exchange is None:
        return None
    length_s = roll.expiration * dialect.rolling.expiration_unit.in_seconds
    answered_at = exchange.sent_at + exchange.duration_s
    return Window(
        rolled_at=answered_at,
        valid_until=exchange.sent_at + length_s - EXPIRY_S,
        expired_from=answered_at + length_s + EXPIRY_S,
    )


def shown_window(observation: Observation, roll: Roll, dialect: Dialect) -> Window | None:
    """The window that the answer shows as the old secret's expires_at, or None if it shows none."""
    exchange = observation.exchange(roll.role)
    if exchange is None:
        return None
    old_secret = _shown_secret(exchange, roll.old_secret)
    form = dialect.representation.timestamp
    if old_secret is None or not form.decided:
        return None
    expires_at = unix_seconds(old_secret.get("expires_at"), form.value)
    if expires_at is None:
        return None
    skews = possible_skews_s(exchange)
    return Window(
        rolled_at=exchange.sent_at + exchange.duration_s,
        valid_until=expires_at - max(skews) - EXPIRY_S,
        expired_from=expires_at - min(skews) + EXPIRY_S,
    )


def skew_s(exchange: Exchange) -> float:
    """How far the target's clock is ahead of ours, by the Date of a response; small differences
    count as none.
    """
    try:
        date = parsedate_to_datetime(exchange.response_header("Date") or "").timestamp()
    except ValueError:
        return 0.0
    skew = date - exchange.sent_at
    return skew if abs(skew) > SKEW_S + exchange.duration_s else 0.0


def possible_skews_s(exchange: Exchange) -> tuple[float, ...]:
    """How far the target's clock may be ahead of ours: a Date that is somewhat old may have been
    kept by a server that is too busy to write a new one.
    """
    skew = skew_s(exchange)
    return (skew, 0.0) if -KEPT_DATE_S < skew < 0 else (skew,)


def _sent_at(observation: Observation, event: Event) -> float:
    """When the event was broadcast; without an exchange, a time before every roll."""
    exchange = observation.exchange(event.name)
    return exchange.sent_at if exchange else 0.0


def _shown_secret(exchange: Exchange, value: str) -> Mapping[str, Any] | None:
    """The first secret of this value that the answer shows."""
    secrets = shown(exchange).get("secrets")
    if isinstance(secrets, list):
        for secret in secrets:
            if isinstance(secret, dict) and secret.get("value") == value:
                return secret
    return None
