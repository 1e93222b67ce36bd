"""Which secrets signed a delivery, as the receiver's verifier tells it (section 6)."""

from collections.abc import Sequence
from typing import Final

from hookproof.conformance.model.check_registry import CheckContext
from hookproof.conformance.model.evidence import Case
from hookproof.conformance.observations.credential_names import is_name
from hookproof.conformance.observations.dispatch import Destination, destinations
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.receiver.signatures.diagnosis import KnownValues, diagnose
from hookproof.receiver.signatures.verification import Unverified, Verified, verify

# Times of earlier attempts that are tried as the one that was signed.
MOST_TIMES: Final = 8


def signature(
    delivery: ReceivedDelivery,
    destination: Destination,
    context: CheckContext,
    secrets: Sequence[str] | None = None,
) -> Verified | Unverified:
    """The verifier's word on a delivery in the destination's format, by its own secrets unless
    others are given.
    """
    dialect = context.dialect
    return verify(
        dialect.signatures.scheme(advanced=destination.advanced),
        dialect.signatures.secret,
        destination.secrets if secrets is None else secrets,
        delivery.headers,
        dialect.delivery.event_id_header,
        delivery.body,
        delivery.arrived_at,
    )


def signers(
    delivery: ReceivedDelivery,
    destination: Destination,
    context: CheckContext,
    secrets: Sequence[str] | None = None,
) -> frozenset[str]:
    """The secrets with a valid signature on a delivery."""
    known = destination.secrets if secrets is None else secrets
    found = signature(delivery, destination, context, known)
    return (
        frozenset(known[place] for place in found.secrets)
        if isinstance(found, Verified)
        else frozenset()
    )


def why_unsigned(
    found: Verified | Unverified,
    case: Case,
    delivery: ReceivedDelivery,
    destination: Destination,
    context: CheckContext,
) -> str:
    """One line on a delivery that is not signed as it should be, and what its sender did instead,
    if that is known.
    """
    if isinstance(found, Verified):
        return "signed"
    if any(
        map(is_name, destination.secrets)
    ):  # evidence from a file: nothing can be made of masked secrets
        return f"{found.reason}: {found.detail}"
    dialect = context.dialect
    explained = diagnose(
        dialect.signatures.scheme(advanced=destination.advanced),
        dialect.signatures.secret,
        destination.secrets,
        delivery.headers,
        dialect.delivery.event_id_header,
        delivery.body,
        delivery.arrived_at,
        known=known_beside(case, delivery, destination),
    )
    assert explained is not None, "only a verified delivery has nothing to explain"
    did = "the sender " if explained.explained else ""
    return f"{found.reason}: {found.detail}; {did}{explained.cause}"


def known_beside(case: Case, delivery: ReceivedDelivery, destination: Destination) -> KnownValues:
    """What a sender may have mixed up: secrets of other endpoints, and the times of earlier
    deliveries there.
    """
    others = {
        f"the secret of endpoint {one.name!r}": secret
        for one in destinations(case)
        if one.token != destination.token
        for secret in one.secrets
    }
    earlier = [
        one.arrived_at
        for one in case.arrived_at(destination.token)
        if one.arrived_at < delivery.arrived_at
    ]
    return KnownValues(secrets=others, times=tuple(earlier[:MOST_TIMES]))
