"""The signature status of a delivery by its token's current secrets, as a row of the page shows it.

`SignatureJudgement` is different: it judges one delivery by secrets, formats and a tolerance that
the user gives.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from hookproof.receiver.inbox.delivery import ReceivedDelivery


class SignatureVerdict(StrEnum):
    """Whether a delivery is signed; `UNCHECKED` while no secret of its token is known."""

    VERIFIED = "verified"
    UNVERIFIED = "unverified"
    UNCHECKED = "unchecked"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignatureStatus:
    """A verdict, with a short `reason` and a `detail` sentence if it is unverified."""

    verdict: SignatureVerdict
    reason: str | None = None
    detail: str | None = None


class SignatureStatuses(Protocol):
    def status(self, delivery: ReceivedDelivery) -> SignatureStatus:
        """The status of one delivery; fast enough for every row of the page."""
        ...

    def explain(self, delivery: ReceivedDelivery) -> str | None:
        """What the sender of an unverified delivery signed instead, or None.

        May be slow, and is called in a thread.
        """
        ...
