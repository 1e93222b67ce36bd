"""What every observation of deliveries holds: endpoints, events, and how they were signed."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any, Final, Self

from hookproof.conformance.model.check_registry import CheckContext
from hookproof.conformance.model.evidence import Exchange, NotExaminedError, Observation
from hookproof.conformance.model.tolerances import BACKLOG_FACTOR, BACKLOG_S, slack_s, widened
from hookproof.conformance.observations.answer import sent, shown
from hookproof.conformance.observations.destinations import (
    Destination,
    Event,
    ended,
    named_events,
    shown_events,
)
from hookproof.conformance.observations.signature_reading import (
    SignatureReading,
    read_signatures,
    secrets_shown_instead,
)
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.receiver.signatures.signature_headers import may_be_signed
from hookproof.receiver.signatures.signed_message import Reason
from hookproof.spec.dialect.assumptions import as_acted_on
from hookproof.spec.dialect.model import Dialect
from hookproof.target.shown_number import shown_number

Attempts = tuple[ReceivedDelivery, ...]

STILL_ARRIVING: Final = (
    "deliveries were still arriving when the time to wait for them was over, so that what is"
    " missing may be late; a longer delivery_s in the budgets of target.yaml waits for more"
)

Arrivals = Iterator[tuple[Destination, Event, Attempts]]

TIME_REASONS: Final = (Reason.TIMESTAMP_TOO_OLD, Reason.TIMESTAMP_TOO_FAR_AHEAD)

SUCCESSES: Final = range(200, 300)

# In seconds. The shortest http_timeout that an endpoint can have (section 2.3: a whole number).
SHORTEST_TIMEOUT_S: Final = 1


def timeout_in(endpoint: Mapping[str, Any]) -> float | None:
    """The http_timeout of an endpoint in seconds, if it has one that is no 0."""
    timeout_s = shown_number(endpoint.get("http_timeout"))
    return timeout_s if timeout_s is not None and timeout_s > 0 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryObservation(Observation):
    """Events that were broadcast, the destinations that were to get them, and what arrived.

    Destinations stand in the order of their creation, events in that of their acceptance.
    `signatures` are the readings of all deliveries to destinations of which a secret is known.
    `ended_at` is when the receiver was last asked what had arrived, in Unix seconds; `late_s` is
    how late our own timers or those of the receiver were at most until then, `round_trip_s` how
    long the way to the target and back took when the run began, and `backlog_s` how long events of
    the run waited at most, by the token that they arrived at. `unused_s` is how long before the end
    a connection to the receiver ended on which no request was sent, None if none did.
    """

    destinations: tuple[Destination, ...] = ()
    events: tuple[Event, ...] = ()
    signatures: tuple[SignatureReading, ...] = ()
    ended_at: float | None = None
    late_s: float = 0.0
    round_trip_s: float = 0.0
    backlog_s: Mapping[str, float] = field(default_factory=dict)
    unused_s: float | None = None
    # What `attempts` has read, by the header with the event's uid: every check asks for it.
    _attempts: dict[str | None, Mapping[tuple[str, Event], Attempts]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def examined(self, dialect: Dialect) -> Self:
        """The observation with its signatures read."""
        instead = {
            destination.token: secrets_shown_instead(destination, self.exchange, dialect)
            for destination in self.destinations
        }
        return replace(
            self,
            signatures=read_signatures(self.destinations, self.deliveries, dialect, instead),
        )

    def destinations_named(self, *names: str) -> tuple[Destination, ...]:
        """The destinations of these names, in order of creation."""
        return tuple(destination for destination in self.destinations if destination.name in names)

    def events_named(self, *names: str) -> tuple[Event, ...]:
        """The events of these names, in order of acceptance."""
        return tuple(event for event in self.events if event.name in names)

    def custom_headers(self, event: Event) -> Mapping[str, str]:
        """The custom headers that the event was broadcast with."""
        broadcast = self.exchange(event.name)
        headers: Any = sent(broadcast).get("custom_headers") if broadcast else None
        return headers if isinstance(headers, dict) else {}

    def attempts(self, destination: Destination, event: Event, dialect: Dialect) -> Attempts:
        """Every attempt to deliver the event to the destination, in order of arrival."""
        header = as_acted_on(dialect.delivery).event_id_header
        if header not in self._attempts:
            self._attempts[header] = self._attempts_by_event(dialect)
        return self._attempts[header].get((destination.token, event), ())

    def _attempts_by_event(self, dialect: Dialect) -> Mapping[tuple[str, Event], Attempts]:
        """The attempts by the receiver's token and the event that they show."""
        attempts: dict[tuple[str, Event], Attempts] = {}
        for delivery in self.deliveries:
            for event in dict.fromkeys(shown_events(delivery, self.events, dialect)):
                key = (delivery.token, event)
                attempts[key] = (*attempts.get(key, ()), delivery)
        return attempts

    def named_only(self, destination: Destination, event: Event, dialect: Dialect) -> Attempts:
        """What arrived there with the uid of the event and the content of another.

        It may be an attempt at the event, so that nothing proves that one is missing.
        """
        attempts = self.attempts(destination, event, dialect)
        return tuple(
            delivery
            for delivery in self.arrived_at(destination.token)
            if named_events(delivery, (event,), dialect) and delivery not in attempts
        )

    def attempts_at(self, destination: Destination, event_name: str, dialect: Dialect) -> Attempts:
        """Every attempt to deliver the events of this name to the destination."""
        return tuple(
            delivery
            for event in self.events_named(event_name)
            for delivery in self.attempts(destination, event, dialect)
        )

    def exchanges_of(
        self, destination: Destination, event: Event
    ) -> tuple[Exchange | None, Exchange | None]:
        """The creation of a destination and the broadcast of an event."""
        return self.exchange(destination.name), self.exchange(event.name)

    def attempts_at_each(
        self, destinations: Iterable[Destination], event: Event, dialect: Dialect
    ) -> Arrivals:
        """Each of these destinations with the event and the attempts to deliver it there."""
        for destination in destinations:
            yield destination, event, self.attempts(destination, event, dialect)

    def attempts_anywhere(self, dialect: Dialect, *events: Event) -> Attempts:
        """Every attempt to deliver these events, event by event and destination by destination."""
        return tuple(
            delivery
            for event in events
            for destination in self.destinations
            for delivery in self.attempts(destination, event, dialect)
        )

    def arrived_events(
        self, destinations: Iterable[Destination], events: Iterable[Event], dialect: Dialect
    ) -> Arrivals:
        """Each of these destinations, each of these events that arrived there, and its attempts."""
        expected = tuple(events)
        for destination in destinations:
            for event in expected:
                attempts = self.attempts(destination, event, dialect)
                if attempts:
                    yield destination, event, attempts

    def pending_events(
        self, dialect: Dialect, among: Iterable[Destination] | None = None
    ) -> frozenset[Event]:
        """The events that may still have been on their way when the observation ended.

        A service with a backlog delivers late, and most of the backlog is our own: an event counts
        as missing when it has waited much longer than those that arrived, at all destinations or
        `among` some, when none that was sent as early still arrived in the end, and when no
        connection was made in vain.
        """
        if self.ended_at is None:
            return frozenset()
        lately = self.ended_at - widened(BACKLOG_S, self)
        sent_at = {
            event: broadcast.sent_at
            for event in self.events
            if (broadcast := self.exchange(event.name)) is not None
        }
        firsts = [
            (attempts[0].arrived_at, sent_at[event])
            for _, event, attempts in self.arrived_events(
                self.destinations if among is None else among, sent_at, dialect
            )
        ]
        waits = [arrived_at - at for arrived_at, at in firsts]
        if not waits and any(delivery.arrived_at > lately for delivery in self.deliveries):
            return frozenset(self.events)  # those of other experiments come first
        if self.unused_s is not None and self.unused_s < self.ended_at - lately:
            return frozenset(self.events)
        under_way_since = min((at for arrived_at, at in firsts if arrived_at > lately), default=inf)
        behind_s = [
            self.backlog_s.get(destination.token, 0.0)
            for destination in (self.destinations if among is None else among)
        ]
        longest_s = BACKLOG_FACTOR * max([*waits, *behind_s], default=0.0) + slack_s(self)
        return frozenset(
            event
            for event, at in sent_at.items()
            if self.ended_at - at <= longest_s or at >= under_way_since
        )

    def settled(self, arrivals: Arrivals, dialect: Dialect) -> Arrivals:
        """These destinations, events and attempts, without events that may still come.

        Raises NotExaminedError at the end if there are any.
        """
        pending = self.pending_events(dialect)
        left_out = False
        for destination, event, attempts in arrivals:
            if attempts or event not in pending:
                yield destination, event, attempts
            else:
                left_out = True
        if left_out:
            raise NotExaminedError(STILL_ARRIVING)

    def doubles(self, destination: Destination, attempts: Attempts, dialect: Dialect) -> Attempts:
        """The attempts that came after one that was answered with success in time.

        A service tries again where no answer came within http_timeout (section 8), for which a busy
        receiver is enough.
        """
        for place, attempt in enumerate(attempts[:-1], start=1):
            if attempt.status in SUCCESSES and self.was_answered_in_time(
                destination, attempt, dialect
            ):
                return attempts[place:]
        return ()

    def was_answered_in_time(
        self, destination: Destination, attempt: ReceivedDelivery, dialect: Dialect
    ) -> bool:
        """Whether an attempt was surely answered before its http_timeout was over."""
        default = dialect.delivery.default_timeout_s
        patience_s = destination.settings.get(
            "http_timeout", default.value if default.decided else SHORTEST_TIMEOUT_S
        )
        end = attempt.completed_monotonic
        return (
            attempt.closed_monotonic is None
            and end is not None
            and end - attempt.arrived_monotonic + slack_s(self) < patience_s
        )

    def destination_at(self, token: str) -> Destination | None:
        """The destination whose URL leads to this token."""
        return next((each for each in self.destinations if each.token == token), None)

    def shown_timeout_s(self, destination: Destination) -> float | None:
        """The http_timeout that the answer to the creation shows, or else the one that was sent.

        That another one is shown than was sent is a requirement of its own (section 4.1);
        deliveries are judged by what the service says.
        """
        created = self.exchange(destination.name)
        return timeout_in(shown(created) if created else {}) or timeout_in(destination.settings)

    def may_be_open_s(self, destination: Destination | None, dialect: Dialect) -> float | None:
        """How long an attempt without an answer may stay open; None where nothing says.

        That is the endpoint's http_timeout, or the dialect's default, and as long as the service
        was seen to wait for any answer that did not come.
        """
        known = None if destination is None else self.shown_timeout_s(destination)
        default = dialect.delivery.default_timeout_s
        if known is None and default.decided:
            known = max(default.allowed)
        return None if known is None else max([known, *self.seen_open_s])

    @property
    def seen_open_s(self) -> tuple[float, ...]:
        """How long the service was seen to wait for answers that did not come, or not in time."""
        return tuple(
            delivery.closed_monotonic - delivery.arrived_monotonic
            for delivery in self.deliveries
            if delivery.closed_monotonic is not None
        )

    def signature(self, delivery: ReceivedDelivery, context: CheckContext) -> SignatureReading:
        """The reading of a delivery's signature; raises NotExaminedError if there is none."""
        for reading in self.signatures:
            if (reading.token, reading.sequence) == (delivery.token, delivery.sequence):
                self._require_same_verification(reading, context)
                return reading
        context.require_same_signatures()
        raise NotExaminedError("no secret of the endpoint is known, so no signature was read")

    def _require_same_verification(self, reading: SignatureReading, context: CheckContext) -> None:
        """Raise NotExaminedError or Undecided if the signature was read by rules that are not
        known. No rules explain that deliveries have none.
        """
        advanced = {each.token: each.advanced for each in self.destinations}
        rolled = {each.token for each in self.destinations if each.rolls}
        tokens = {token for token in advanced if advanced[token] is advanced[reading.token]}
        verified = any(each.verified for each in self.signatures if each.token in tokens)
        if not verified and not may_be_signed(
            [(each.headers, each.body) for each in self.deliveries if each.token in tokens]
        ):
            return
        context.require_same_verification(
            advanced=advanced[reading.token],
            several=reading.token in rolled,
            out_of_time=reading.reason in TIME_REASONS,
            verified=verified,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedDeliveries(DeliveryObservation):
    """Deliveries to endpoints that keep their secrets, so that each has to be signed with them."""

    def signed_attempts(self, dialect: Dialect) -> tuple[tuple[Destination, Event, Attempts], ...]:
        """Each destination with a known secret, each event that arrived there, and its attempts."""
        keeping_their_secret = [
            destination
            for destination in self.destinations
            if destination.secret and not destination.rolls
        ]
        return tuple(self.arrived_events(keeping_their_secret, self.events, dialect))

    def is_advanced_unasked(self, destination: Destination) -> bool:
        """Whether the answer to a creation without advanced_signatures shows it as true.

        Its deliveries are in the format that the service says: the default is what is wrong.
        """
        created = self.exchange(destination.name)
        return (
            "advanced_signatures" not in destination.settings
            and created is not None
            and shown(created).get("advanced_signatures") is True
        )


def waited_s(attempts: Attempts, timeout_s: float, early_s: float) -> float | None:
    """From the first arrival until the service left or tried again, in seconds; None if it did
    neither.

    An attempt that comes before the time is over, less the tolerance `early_s`, is a double, and
    does not show that the first one was given up.
    """
    first, *further = attempts
    ends = [ended(first)] + [
        attempt.arrived_monotonic
        for attempt in further
        if attempt.arrived_monotonic - first.arrived_monotonic >= timeout_s - early_s
    ]
    known = [end for end in ends if end is not None]
    return min(known) - first.arrived_monotonic if known else None
