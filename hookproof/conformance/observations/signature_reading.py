"""Which secrets signed a delivery, read once, since stored secrets are masked (section 6)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import SENDER
from hookproof.conformance.observations.destinations import Destination
from hookproof.conformance.observations.shown_secret import secret_values
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.receiver.signatures.diagnosis import Diagnosis, KnownValues, diagnose
from hookproof.receiver.signatures.schemes.request_parts import RequestLine
from hookproof.receiver.signatures.signed_message import Reason
from hookproof.receiver.signatures.verification import Unverified, Verified, verify
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.signing_key import signs_by_itself

# Times of earlier attempts that are tried as the one that was signed.
MOST_TIMES: Final = 8

# Deliveries of one observation whose bad signature is searched for its cause: each search may
# take some 40 ms, and where one is bad mostly all are, for the same cause. As many again are
# searched where they are the first of their endpoint that are refused for their reason.
MOST_DIAGNOSED: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class SignatureReading:
    """What the signature of one delivery showed under the dialect of the run.

    `token` and `sequence` name the delivery. `secrets` are those of its endpoint that signed it,
    `known_secrets` those of all endpoints of the observation. `in_order` holds for each of the
    header's signatures the secret that made it, or None. `signed_at` is the signed time in Unix
    seconds, if there is one. Where no secret of the endpoint signed, `reason` and `detail` are the
    verifier's report, and `cause` is what the sender did instead, as far as it was searched for.
    `wrong_steps` are the steps of signing that are wrong, of this delivery or, where it was not
    searched, of another one with the same reason.
    """

    token: str
    sequence: int
    secrets: tuple[str, ...] = ()
    known_secrets: tuple[str, ...] = ()
    in_order: tuple[str | None, ...] = ()
    signed_at: float | None = None
    reason: Reason | None = None
    detail: str = ""
    cause: str = ""
    wrong_steps: tuple[str, ...] = ()

    @property
    def verified(self) -> bool:
        """Whether a secret of its endpoint signed the delivery."""
        return self.reason is None

    @property
    def why_unverified(self) -> str:
        """One line for a reader."""
        if self.reason is None:
            return "signed"
        return f"{self.reason}: {self.detail}" + (f"; {self.cause}" if self.cause else "")


# The secrets that a delivery is verified with, each with the secret that is reported for it.
Names = Mapping[str, str]


def secrets_shown_instead(
    destination: Destination, exchange: Callable[[str], Exchange | None], dialect: Dialect
) -> Names:
    """The secrets that answers show where others were given, each with the one that was given.

    That a given secret is stored is a requirement of its own (section 2.3); deliveries are judged
    by what the service says that it signs with. `exchange` finds an exchange by its role.
    """
    given = {roll.role: roll.new_secret for roll in destination.rolls}
    if destination.secret:
        given = {destination.name: destination.secret, **given}
    known = {*destination.secrets, dialect.representation.mask}
    instead: dict[str, str] = {}
    for role, secret in given.items():
        answer = exchange(role)
        values = secret_values(answer) if answer is not None else ()
        others = [value for value in values if value not in known]
        if secret not in values and others:
            instead[others[-1]] = secret
            known.add(others[-1])
    return instead


def read_signatures(
    destinations: Sequence[Destination],
    deliveries: Sequence[ReceivedDelivery],
    dialect: Dialect,
    instead: Mapping[str, Names] | None = None,
) -> tuple[SignatureReading, ...]:
    """The readings of all deliveries to destinations of which a secret is known.

    `instead` holds by token what `secrets_shown_instead` returns.
    """
    by_token = {
        destination.token: destination for destination in destinations if destination.secrets
    }
    names_of = {
        token: {
            **{secret: secret for secret in destination.secrets},
            **(instead or {}).get(token, {}),
        }
        for token, destination in by_token.items()
    }
    every_name = {secret: name for names in names_of.values() for secret, name in names.items()}
    diagnoses = Diagnoses(destinations=destinations, deliveries=deliveries, dialect=dialect)
    readings: list[SignatureReading] = []
    for delivery in deliveries:
        destination = by_token.get(delivery.token)
        if destination is None:
            continue
        names = names_of[delivery.token]
        own = _verified(delivery, destination, dialect, tuple(names))
        known = _verified(delivery, destination, dialect, tuple(every_name))
        reading = _reading(delivery, own, known, tuple(names.values()), tuple(every_name.values()))
        if signs_by_itself(dialect, advanced=destination.advanced):
            reading = replace(reading, secrets=(), known_secrets=(), in_order=())
        if isinstance(own, Unverified):
            cause, wrong_steps = diagnoses.of(delivery, destination, own.reason)
            reading = replace(reading, cause=cause, wrong_steps=wrong_steps)
        readings.append(reading)
    return tuple(readings)


def _reading(
    delivery: ReceivedDelivery,
    own: Verified | Unverified,
    known: Verified | Unverified,
    names: Sequence[str],
    every_name: Sequence[str],
) -> SignatureReading:
    signers = _distinct(every_name, known.secrets) if isinstance(known, Verified) else ()
    if isinstance(own, Unverified):
        return SignatureReading(
            token=delivery.token,
            sequence=delivery.sequence,
            known_secrets=signers,
            reason=own.reason,
            detail=own.detail,
        )
    return SignatureReading(
        token=delivery.token,
        sequence=delivery.sequence,
        secrets=_distinct(names, own.secrets),
        known_secrets=signers,
        in_order=tuple(None if place is None else names[place] for place in own.in_order),
        signed_at=own.timestamp,
    )


def _distinct(names: Sequence[str], places: Iterable[int]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names[place] for place in places))


def _verified(
    delivery: ReceivedDelivery, destination: Destination, dialect: Dialect, secrets: Sequence[str]
) -> Verified | Unverified:
    return verify(
        dialect.signatures.scheme(advanced=destination.advanced),
        dialect.signatures.secret,
        secrets,
        delivery.headers,
        dialect.delivery.event_id_header,
        delivery.body,
        delivery.arrived_at,
        _line(delivery, destination),
    )


def _line(delivery: ReceivedDelivery, destination: Destination) -> RequestLine:
    """The URL that the endpoint was given, which its service may sign."""
    return RequestLine(method=delivery.method, url=str(destination.settings.get("url")))


@dataclass(slots=True, kw_only=True)
class Diagnoses:
    """The searches for what is wrong with the signatures of one observation.

    Bodies differ in how much they tell: where all keys are in order, none shows that they were
    sorted. So findings are told apart by the wrong steps, and only people read the words.
    """

    destinations: Sequence[Destination]
    deliveries: Sequence[ReceivedDelivery]
    dialect: Dialect
    _searched: int = 0
    _steps: dict[tuple[str | bool, Reason], tuple[str, ...]] = field(default_factory=dict)

    def of(
        self, delivery: ReceivedDelivery, destination: Destination, reason: Reason
    ) -> tuple[str, tuple[str, ...]]:
        """What the sender did instead, in words if it was searched for, and the wrong steps."""
        at_endpoint, of_format = (destination.token, reason), (destination.advanced, reason)
        most = MOST_DIAGNOSED if at_endpoint in self._steps else 2 * MOST_DIAGNOSED
        if self._searched >= most:
            return "", self._steps.get(at_endpoint, self._steps.get(of_format, ()))
        self._searched += 1
        diagnosis = self._search(delivery, destination)
        if diagnosis is None:  # verified after all
            return "", ()
        steps = tuple(sorted({deviation.aspect.value for deviation in diagnosis.deviations}))
        steps = steps if diagnosis.explained else ()
        self._steps.setdefault(at_endpoint, steps)
        self._steps.setdefault(of_format, steps)
        words = f"{SENDER}{diagnosis.cause}" if diagnosis.explained else str(diagnosis.cause)
        return words, steps

    def _search(self, delivery: ReceivedDelivery, destination: Destination) -> Diagnosis | None:
        return diagnose(
            self.dialect.signatures.scheme(advanced=destination.advanced),
            self.dialect.signatures.secret,
            destination.secrets,
            delivery.headers,
            self.dialect.delivery.event_id_header,
            delivery.body,
            delivery.arrived_at,
            known=_known_values(delivery, destination, self.destinations, self.deliveries),
            line=_line(delivery, destination),
        )


def _known_values(
    delivery: ReceivedDelivery,
    destination: Destination,
    destinations: Sequence[Destination],
    deliveries: Sequence[ReceivedDelivery],
) -> KnownValues:
    """What a sender may have mixed up: other endpoints' secrets, the times of earlier attempts."""
    others = {
        f"the secret of endpoint {other.name!r}": secret
        for other in destinations
        if other.token != destination.token
        for secret in other.secrets
    }
    earlier = [
        attempt.arrived_at
        for attempt in deliveries
        if attempt.token == destination.token and attempt.arrived_at < delivery.arrived_at
    ]
    return KnownValues(secrets=others, times=tuple(earlier[:MOST_TIMES]))
