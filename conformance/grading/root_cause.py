"""What else the proof of a failure shows to be wrong, so that one defect of a target makes one
finding.

A server that signs the wrong bytes breaks whatever the document says about signatures, and one that
answers 500 breaks whatever it was asked. A cause is named only where the proof itself shows it.
"""

import re
from collections.abc import Sequence
from typing import Final

from hookproof.conformance.model.check_registry import CheckContext
from hookproof.conformance.model.evidence import Case, Exchange
from hookproof.conformance.model.verdict import Judgement
from hookproof.conformance.observations.answer import SERVER_ERRORS
from hookproof.conformance.observations.delivery_signature import signature
from hookproof.conformance.observations.dispatch import destinations
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.receiver.signatures.verification import Unverified

# Whether a message is about signatures: a delivery that came too soon is no better signed for it.
ABOUT_SIGNATURES: Final = re.compile(r"\bsign", re.IGNORECASE)


def cause(judgement: Judgement, case: Case, context: CheckContext) -> str:
    """The cause of a failure in a few words, or nothing if the proof shows none beside the failure
    itself.
    """
    broken = _broken_answer(judgement.exchanges)
    if broken or not ABOUT_SIGNATURES.search(judgement.message):
        return broken
    return _unsigned(judgement.deliveries, case, context)


def _broken_answer(exchanges: Sequence[Exchange]) -> str:
    """What the last exchange, at which a proof ends, has to do with a target that broke."""
    last = exchanges[-1] if exchanges else None
    if last is None or last.operation_id is None:
        return ""
    if last.status is None:
        return f"{last.operation_id} is not answered"
    return (
        f"{last.operation_id} is answered with {last.status}"
        if last.status in SERVER_ERRORS
        else ""
    )


def _unsigned(deliveries: Sequence[ReceivedDelivery], case: Case, context: CheckContext) -> str:
    """Why none of these deliveries verifies with any secret that its endpoint ever had; nothing if
    one does.
    """
    known = {destination.token: destination for destination in destinations(case)}
    reasons: list[str] = []
    for delivery in deliveries:
        destination = known.get(delivery.token)
        found = (
            signature(delivery, destination, context)
            if destination and destination.secrets
            else None
        )
        if not isinstance(found, Unverified):
            return ""
        reasons.append(str(found.reason))
    return f"deliveries are not validly signed: {reasons[0]}" if reasons else ""
