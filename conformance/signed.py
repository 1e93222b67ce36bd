"""Which secrets signed a delivery, as the receiver's verifier tells it (section 6)."""

from collections.abc import Sequence

from conformance.checks.registry import Yardstick
from conformance.dispatch import Destination
from receiver.delivery import ReceivedDelivery
from receiver.verification import Unverified, Verified, verify


def signature(
    delivery: ReceivedDelivery, destination: Destination, yardstick: Yardstick, secrets: Sequence[str] | None = None
) -> Verified | Unverified:
    """The verifier's word on a delivery in the destination's format, by its own secrets unless others are given."""
    dialect = yardstick.dialect
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
    delivery: ReceivedDelivery, destination: Destination, yardstick: Yardstick, secrets: Sequence[str] | None = None
) -> frozenset[str]:
    """The secrets with a valid signature on a delivery."""
    known = destination.secrets if secrets is None else secrets
    found = signature(delivery, destination, yardstick, known)
    return frozenset(known[place] for place in found.secrets) if isinstance(found, Verified) else frozenset()


def why_unsigned(found: Verified | Unverified) -> str:
    """One line on a delivery that is not signed as it should be."""
    return f"{found.reason}: {found.detail}" if isinstance(found, Unverified) else "signed"
