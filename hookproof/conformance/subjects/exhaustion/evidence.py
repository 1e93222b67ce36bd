"""Deliveries to an endpoint that always fails (sections 1, 3 and 6)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.deliveries import Attempts, DeliveryObservation
from hookproof.conformance.observations.destinations import ended
from hookproof.spec.dialect.model import Dialect

FAILING: Final = "failing"
LAST_EVENT: Final = "event"
BEFORE: Final = "before"
AFTER: Final = "after"


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedDeliveries(DeliveryObservation):
    """Events to an endpoint that always fails.

    `exhausted` is how many deliveries in a row were given up. `contact` is the receiver's token
    that stands for the contact of the endpoint.
    """

    contact: str
    exhausted: int

    @property
    def created(self) -> Exchange | None:
        return self.exchange(FAILING)

    @property
    def messages(self) -> Attempts:
        """What arrived at the contact."""
        return self.arrived_at(self.contact)

    def last_attempts(self, dialect: Dialect) -> Iterator[Attempts]:
        """The attempts at the last event, if any has arrived."""
        last_events = self.events_named(LAST_EVENT)
        for _, _, attempts in self.arrived_events(self.destinations, last_events, dialect):
            yield attempts

    def lacks_an_attempt(self, dialect: Dialect) -> bool:
        """Whether an attempt at an event was not seen, or was not over yet, so that fewer
        deliveries may have been exhausted.
        """
        fewest = min(dialect.retry.attempts.allowed, default=1)
        arrived = self.arrived_events(self.destinations_named(FAILING), self.events, dialect)
        exhausted = [
            attempts
            for _, _, attempts in arrived
            if len(attempts) >= fewest and ended(attempts[fewest - 1]) is not None
        ]
        return len(exhausted) < len(self.events)

    def exhausted_at(self, deliveries: int, dialect: Dialect) -> float:
        """When so many deliveries were exhausted at the earliest, on the monotonic clock.

        Events of other experiments fail there too, so that whatever arrived there counts.
        """
        attempts = min(dialect.retry.attempts.allowed) * deliveries
        arrived = self.arrived_at(self.destinations_named(FAILING)[0].token)
        *_, last = islice(arrived, attempts)
        return last.arrived_monotonic


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatNotifications(FailedDeliveries):
    """The endpoint has a slack_webhook_url."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MailNotifications(FailedDeliveries):
    """The endpoint has a support_email, whose mail arrives at the receiver.

    `mails` is how many mails came to the receiver at all, from whatever endpoint.
    """

    mails: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExhaustedDeliveries(FailedDeliveries):
    """No other experiment has events for the endpoint, whose contact is a slack_webhook_url, and
    which was fetched before and after the last one.
    """

    @property
    def fetched_before(self) -> Exchange | None:
        """The endpoint before the last event was broadcast."""
        return self.exchange(BEFORE)

    @property
    def fetched_after(self) -> Exchange | None:
        """The endpoint after the last event was given up."""
        return self.exchange(AFTER)

    def exhausted_at(self, deliveries: int, dialect: Dialect) -> float:
        """When so many events had arrived for the last time, on the monotonic clock."""
        ends = sorted(
            attempts[-1].arrived_monotonic
            for _, _, attempts in self.arrived_events(self.destinations, self.events, dialect)
        )
        return ends[min(deliveries, len(ends)) - 1]
