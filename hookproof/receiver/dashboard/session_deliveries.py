"""The deliveries and verdicts of all sessions; the page shows whatever any session receives."""

from hookproof.receiver.dashboard.signature_status import SignatureStatus, SignatureVerdict
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.receiver.session import Sessions
from hookproof.receiver.signatures.verification import Verified


class SessionDeliveries:
    """Finds and verifies deliveries in the session that their token belongs to."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def find(self, token: str, sequence: int) -> ReceivedDelivery | None:
        """A delivery that is still kept, or None."""
        return self._sessions.session_for(token).inbox.find(token, sequence)

    def status(self, delivery: ReceivedDelivery) -> SignatureStatus:
        """The verdict on a delivery by the current secrets of its token."""
        outcome = self._sessions.session_for(delivery.token).secrets.verdict(delivery)
        if outcome is None:
            return SignatureStatus(verdict=SignatureVerdict.UNCHECKED)
        if isinstance(outcome, Verified):
            return SignatureStatus(verdict=SignatureVerdict.VERIFIED)
        return SignatureStatus(
            verdict=SignatureVerdict.UNVERIFIED, reason=outcome.reason.value, detail=outcome.detail
        )

    def explain(self, delivery: ReceivedDelivery) -> str | None:
        """What the sender of an unverified delivery did instead."""
        return self._sessions.session_for(delivery.token).secrets.explain(delivery)
