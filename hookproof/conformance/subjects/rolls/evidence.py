"""Secrets that are rolled while broadcasts go on (section 4.3)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hookproof.conformance.model.check_registry import CheckContext
from hookproof.conformance.observations.deliveries import DeliveryObservation
from hookproof.conformance.observations.destinations import Destination, Event, Roll
from hookproof.conformance.observations.secret_windows import Window, requested_window, shown_window
from hookproof.conformance.observations.signature_reading import SignatureReading
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.receiver.signatures.signed_message import Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedDelivery:
    """A delivery to an endpoint whose secret was rolled, and what its signature showed."""

    destination: Destination
    event: Event
    delivery: ReceivedDelivery
    signature: SignatureReading

    @property
    def roll(self) -> Roll:
        return self.destination.rolls[0]

    def is_signed_by(self, secret: str) -> bool:
        return secret in self.signature.secrets


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretsOfDelivery:
    """A delivery to an endpoint that is rolled several times, and its secrets when it was signed.

    `rolls` is how many rolls were over before its event was sent. `valid` and `expired` are the
    replaced secrets that certainly were the one or the other, by the number of their roll;
    `newest` is None where a further roll may have been carried out before it was signed.
    """

    signed: SignedDelivery
    rolls: int
    valid: Mapping[int, str]
    expired: Mapping[int, str]
    newest: str | None

    @property
    def all_known(self) -> bool:
        """Whether it is certain of each of the secrets whether it may sign."""
        return self.newest is not None and len(self.valid) + len(self.expired) == self.rolls

    @property
    def newest_alone(self) -> bool:
        """Whether certainly all that were replaced have expired."""
        return self.all_known and not self.valid


@dataclass(frozen=True, slots=True, kw_only=True)
class RollsUnderTraffic(DeliveryObservation):
    """Endpoints whose secrets were rolled, once or more often, and events before, between and
    after.
    """

    def signed_deliveries(
        self, context: CheckContext, *, rolls: int, advanced: bool
    ) -> Iterator[SignedDelivery]:
        """Each delivery to an endpoint with so many rolls and this signature format."""
        for destination in self.destinations:
            if len(destination.rolls) != rolls or destination.advanced is not advanced:
                continue
            for event in self.events:
                for delivery in self.attempts(destination, event, context.dialect):
                    yield SignedDelivery(
                        destination=destination,
                        event=event,
                        delivery=delivery,
                        signature=self.signature(delivery, context),
                    )

    def deliveries_between_rolls(
        self, context: CheckContext, *, advanced: bool
    ) -> Iterator[SecretsOfDelivery]:
        """Each delivery after the first roll of an endpoint that is rolled more than once."""
        most = max((len(destination.rolls) for destination in self.destinations), default=0)
        for rolls in range(2, most + 1):
            for signed in self.signed_deliveries(context, rolls=rolls, advanced=advanced):
                secrets = self._secrets_of(signed, context)
                if secrets.rolls:
                    yield secrets

    def _secrets_of(self, signed: SignedDelivery, context: CheckContext) -> SecretsOfDelivery:
        over = [
            (roll, window)
            for roll, window in zip(
                signed.destination.rolls, self.windows_of(signed.destination, context), strict=True
            )
            if window is not None and not window.precedes_roll(self, signed.event)
        ]
        later = map(self.exchange, (roll.role for roll in signed.destination.rolls[len(over) :]))
        is_certain = all(
            roll is not None and roll.sent_at > signed.delivery.arrived_at for roll in later
        )
        return SecretsOfDelivery(
            signed=signed,
            rolls=len(over),
            valid={
                number: roll.old_secret
                for number, (roll, window) in enumerate(over, start=1)
                if window.is_valid(self, signed.event, signed.delivery)
            },
            expired={
                number: roll.old_secret
                for number, (roll, window) in enumerate(over, start=1)
                if window.is_expired(self, signed.event)
            },
            newest=over[-1][0].new_secret if over and is_certain else None,
        )

    def deliveries_with_both_secrets(
        self, context: CheckContext, *, advanced: bool
    ) -> Iterator[SignedDelivery]:
        """Those that were certainly signed after a single roll while the old secret was valid."""
        for signed in self.signed_deliveries(context, rolls=1, advanced=advanced):
            window = requested_window(self, signed.roll, context.dialect)
            if window is not None and window.is_valid(self, signed.event, signed.delivery):
                yield signed

    def deliveries_after_expiry(self, context: CheckContext) -> Iterator[SignedDelivery]:
        """Those in the advanced format of events that were sent after the old secret's expiry."""
        for signed in self.signed_deliveries(context, rolls=1, advanced=True):
            window = requested_window(self, signed.roll, context.dialect)
            if window is not None and window.is_expired(self, signed.event):
                yield signed

    def deliveries_whatever_was_rolled(
        self, context: CheckContext
    ) -> Iterator[tuple[Destination, ReceivedDelivery]]:
        """Those whose signature cannot be wrong for a roll.

        They had arrived when the first roll was sent, or carry no signature at all.
        """
        for destination in self.destinations:
            rolls = [self.exchange(roll.role) for roll in destination.rolls]
            rolled_at = [roll.sent_at for roll in rolls if roll is not None]
            for event in self.events if rolled_at and destination.secret else ():
                for delivery in self.attempts(destination, event, context.dialect):
                    unsigned = self.signature(delivery, context).reason is Reason.MISSING_HEADER
                    if unsigned or delivery.arrived_at < min(rolled_at):
                        yield destination, delivery

    def windows_of(
        self, destination: Destination, context: CheckContext
    ) -> tuple[Window | None, ...]:
        """The windows that the rolls of an endpoint asked for, in order."""
        return tuple(requested_window(self, roll, context.dialect) for roll in destination.rolls)

    def shown_window_of(self, signed: SignedDelivery, context: CheckContext) -> Window | None:
        """The window that the answer to the endpoint's roll shows, if any."""
        return shown_window(self, signed.roll, context.dialect)
