"""Broadcasts with custom headers that must not reach an endpoint as sent (sections 4.8 and 6)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import refused
from hookproof.conformance.observations.deliveries import Attempts, SignedDeliveries
from hookproof.conformance.observations.sentinel import DeliveriesBeforeSentinel
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.model import Dialect

TOO_MANY_REQUESTS: Final = 429


@dataclass(frozen=True, slots=True, kw_only=True)
class SentHeader:
    """A custom header, and the event that was broadcast with it."""

    event: str
    name: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveriesWithHeaders(DeliveriesBeforeSentinel):
    """Events with a custom header each, and a sentinel without any."""

    def decided(
        self, headers: tuple[SentHeader, ...], dialect: Dialect
    ) -> Iterator[tuple[SentHeader, Exchange, Attempts]]:
        """Each of these headers with its broadcast and what shows how it was treated.

        That is the delivery of an accepted broadcast; of a refused one it is that of the sentinel,
        which shows that a broadcast without the header is accepted and delivered.
        """
        sentinels = self.sentinels(dialect)
        for header in headers:
            broadcast = self.exchange(header.event)
            if broadcast is None:
                continue
            proof = self.deliveries_with(header, dialect) if broadcast.succeeded else sentinels
            if proof and (broadcast.succeeded or refused_for_itself(broadcast)):
                yield header, broadcast, proof

    def deliveries_with(
        self, header: SentHeader, dialect: Dialect, *, advanced: bool | None = None
    ) -> Attempts:
        """What arrived of its event, at the endpoints of one format if that is given."""
        return tuple(
            delivery
            for destination in self.destinations
            if advanced is None or destination.advanced is advanced
            for delivery in self.attempts_at(destination, header.event, dialect)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class HostileHeaders(SignedDeliveries, DeliveriesWithHeaders):
    """Events with custom headers that the service sets itself (`reserved`), and with line breaks in
    a custom header (`broken`), to endpoints of both signature formats, and a sentinel.

    `injected` is the header that a line break is to add.
    """

    reserved: tuple[SentHeader, ...]
    broken: tuple[SentHeader, ...]
    injected: str

    @property
    def requests(self) -> tuple[ReceivedDelivery, ...]:
        """Everything that arrived at the endpoints."""
        return tuple(
            delivery
            for destination in self.destinations
            for delivery in self.arrived_at(destination.token)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgedCredentials(DeliveriesWithHeaders):
    """Endpoints with credentials, and for each an event with a custom header of the name under
    which it gets them; `forged` has these by the names of the endpoints.
    """

    forged: Mapping[str, SentHeader]


def refused_for_itself(broadcast: Exchange) -> bool:
    """Whether it was refused, and not because of how many requests there were (RFC 6585)."""
    return refused(broadcast) and broadcast.status != TOO_MANY_REQUESTS


def reserved_headers(dialect: Dialect) -> tuple[str, ...]:
    """The headers that the service sets on a delivery, by its dialect and by HTTP, and those that
    the dialect treats alike; each once.
    """
    delivery, signatures = dialect.delivery, dialect.signatures
    named = (
        signatures.simple.header,
        signatures.advanced.header,
        signatures.simple.timestamp_header,
        signatures.advanced.timestamp_header,
        delivery.event_id_header,
        delivery.attempt_header,
        "Host",
        "Content-Length",
        "Content-Type",
        "Transfer-Encoding",
        *delivery.further_reserved_headers,
    )
    return tuple(dict.fromkeys(name for name in named if name is not None))
