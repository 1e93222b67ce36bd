"""When an old secret lives and when it is dead, as far as that can be told from outside (section
4.3).

A service rolls at some moment between the request and its answer, and signs at some moment between
the broadcast and the arrival. What lies between the two bounds is not judged.
"""

from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.tolerances import EXPIRY_S, SKEW_S
from hookproof.conformance.observations.case import Case
from hookproof.conformance.observations.destinations import Event, Roll
from hookproof.conformance.observations.timestamp import unix_seconds
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.model import Dialect


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The time of an old secret after the roll that replaced it, in unix seconds of our clock."""

    rolled_at: float
    alive_until: float
    dead_from: float

    def before(self, case: Case, event: Event) -> bool:
        """Whether the event was sent before the roll was answered, so that it tells nothing."""
        return _sent_at(case, event) < self.rolled_at

    def alive(self, case: Case, event: Event, delivery: ReceivedDelivery) -> bool:
        """Whether the delivery was certainly signed after the roll and before the old secret
        expired.
        """
        return not self.before(case, event) and delivery.arrived_at < self.alive_until

    def dead(self, case: Case, event: Event) -> bool:
        """Whether every delivery of the event was certainly signed after the old secret had
        expired.
        """
        return not self.before(case, event) and _sent_at(case, event) > self.dead_from


def asked_window(case: Case, roll: Roll, dialect: Dialect) -> Window | None:
    """The window that `expiration` asked for, in the dialect's unit."""
    exchange = case.exchange(roll.role)
    if exchange is None:
        return None
    length_s = roll.expiration * dialect.rolling.expiration_unit.in_seconds
    answered_at = exchange.sent_at + exchange.duration_s
    return Window(
        rolled_at=answered_at,
        alive_until=exchange.sent_at + length_s - EXPIRY_S,
        dead_from=answered_at + length_s + EXPIRY_S,
    )


def shown_window(case: Case, roll: Roll, dialect: Dialect) -> Window | None:
    """The window that the answer shows as the old secret's expires_at, or None if it shows none."""
    exchange = case.exchange(roll.role)
    if exchange is None or not isinstance(exchange.data, dict):
        return None
    secrets = exchange.data.get("secrets")
    shown = (
        [one for one in secrets if _has(one, roll.old_secret)] if isinstance(secrets, list) else []
    )
    form = dialect.representation.timestamp
    expires_at = (
        unix_seconds(shown[0].get("expires_at"), form.value) if shown and form.decided else None
    )
    if expires_at is None:
        return None
    ours = expires_at - skew_s(exchange)
    return Window(
        rolled_at=exchange.sent_at + exchange.duration_s,
        alive_until=ours - EXPIRY_S,
        dead_from=ours + EXPIRY_S,
    )


def skew_s(exchange: Exchange) -> float:
    """How far the target's clock is ahead of ours, by the Date of a response; small differences
    count as none.
    """
    try:
        told = parsedate_to_datetime(exchange.response_header("Date") or "").timestamp()
    except ValueError:
        return 0.0
    skew = told - exchange.sent_at
    return skew if abs(skew) > SKEW_S + exchange.duration_s else 0.0


def _sent_at(case: Case, event: Event) -> float:
    exchange = case.exchange(event.name)
    return exchange.sent_at if exchange else 0.0


def _has(secret: Any, value: str) -> bool:
    return isinstance(secret, dict) and secret.get("value") == value
