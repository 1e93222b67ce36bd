"""The deliveries and verdicts of all sessions: the page shows whatever the receiver gets, whoever
asked for it.
"""

from hookproof.receiver.dashboard.signature_status import Standing, Verdict
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.receiver.session import Sessions
from hookproof.receiver.signatures.verification import Verified


class OfSessions:
    """Finds a delivery, and says how it stands, in the session that its token belongs to."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def find(self, token: str, sequence: int) -> ReceivedDelivery | None:
        """A delivery that is still kept; None for any other."""
        return self._sessions.of_token(token).inbox.find(token, sequence)

    def standing(self, delivery: ReceivedDelivery) -> Standing:
        """How one delivery stands by the secrets of its token."""
        outcome = self._sessions.of_token(delivery.token).keyrings.verdict(delivery)
        if outcome is None:
            return Standing(verdict=Verdict.UNCHECKED)
        if isinstance(outcome, Verified):
            return Standing(verdict=Verdict.VERIFIED)
        return Standing(
            verdict=Verdict.UNVERIFIED, reason=outcome.reason.value, detail=outcome.detail
        )

    def explain(self, delivery: ReceivedDelivery) -> str | None:
        """What the sender of an unverified delivery did instead."""
        return self._sessions.of_token(delivery.token).keyrings.explain(delivery)
