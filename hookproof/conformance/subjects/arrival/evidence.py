"""Broadcasts to endpoints that all answer with success at once (sections 1, 2.3, 4.8 and 6)."""

from dataclasses import dataclass, replace
from typing import Final, Self

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.deliveries import SignedDeliveries
from hookproof.conformance.observations.destinations import Destination, Event
from hookproof.process.encoded_credentials import is_distinctive, is_unmistakable, may_be_word
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.model import Dialect
from hookproof.target.masking.known_credentials import KnownCredentials

FORMAT_NOT_GIVEN: Final = "format not given"
# Endpoints whose URL ends in a way that not every service takes, and those that stand in for them.
WITHOUT_TYPE: Final = "without content type"
JSON_TYPE: Final = "json"
FORM_TYPE: Final = "form"
AT_A_PLAIN_URL: Final = {
    name: f"{name}, at a plain URL" for name in (WITHOUT_TYPE, JSON_TYPE, FORM_TYPE)
}


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyLeak:
    """A delivery that carries the API key of its broadcast; `token` and `sequence` name it."""

    token: str
    sequence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredBroadcasts(SignedDeliveries):
    """Events to endpoints that all answer with success at once.

    `key_leaks` are the deliveries that contain the API key that the broadcasts were sent with.
    """

    key_leaks: tuple[KeyLeak, ...] = ()

    def examined(self, dialect: Dialect) -> Self:
        """The observation with its signatures read and its API keys looked for."""
        keys = {key for event in self.events if (key := self._key_of(event, dialect))}
        leaks = tuple(
            KeyLeak(token=delivery.token, sequence=delivery.sequence)
            for delivery in self.deliveries
            if any(_shows_key(delivery, key) for key in keys)
        )
        return replace(SignedDeliveries.examined(self, dialect), key_leaks=leaks)

    def is_authorized(self, event: Event) -> bool:
        """Whether the event was broadcast with an API key."""
        return bool(_authorization(self.exchange(event.name)))

    def leaks_key(self, delivery: ReceivedDelivery) -> bool:
        """Whether a header or the body of this delivery contains the API key."""
        return KeyLeak(token=delivery.token, sequence=delivery.sequence) in self.key_leaks

    def _key_of(self, event: Event, dialect: Dialect) -> str:
        before, _, after = dialect.authentication.key_format.partition("{key}")
        return _authorization(self.exchange(event.name)).removeprefix(before).removesuffix(after)


@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadBroadcasts(AnsweredBroadcasts):
    """Events with payloads and headers of many kinds, to endpoints with any content type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BroadcastFlood(AnsweredBroadcasts):
    """Many events, several at a time, to one endpoint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SigningFormats(AnsweredBroadcasts):
    """Events to endpoints that differ in signature format and in who generated the secret."""

    @property
    def with_default_format(self) -> tuple[Destination, ...]:
        """The endpoints that were created without advanced_signatures."""
        return tuple(
            destination
            for destination in self.destinations
            if "advanced_signatures" not in destination.settings
        )

    @property
    def format_is_required(self) -> bool:
        """Whether advanced_signatures was sent even where the experiment would leave it out."""
        return any(
            "advanced_signatures" in destination.settings
            for destination in self.destinations_named(FORMAT_NOT_GIVEN)
        )

    @property
    def with_generated_secret(self) -> tuple[Destination, ...]:
        """The endpoints whose secret the service was to generate."""
        return tuple(
            destination for destination in self.destinations if "secret" not in destination.settings
        )


def _authorization(exchange: Exchange | None) -> str:
    return dict(exchange.request_headers).get("Authorization", "") if exchange else ""


def _shows_key(delivery: ReceivedDelivery, key: str) -> bool:
    """Whether a delivery carries the key, in any spelling; one that may be part of anything, as the
    value of a header or behind the name of a scheme; a word, in Authorization alone.
    """
    if may_be_word(key):
        return key in (delivery.header("Authorization") or "").split()
    if not (is_distinctive(key) or is_unmistakable(key)):
        return any(key in value.split() for _, value in delivery.headers)
    known = KnownCredentials()
    known.add([(key, "")])
    return known.content(delivery.body) != delivery.body or any(
        known.header(value) != value for _, value in delivery.headers
    )
