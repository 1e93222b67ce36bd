"""What the page shows of a delivery: a row of the list, and the details of an open one."""

import base64
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

from hookproof.receiver.dashboard.curl_command import ReceiverAddresses, curl_command
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.receiver.session import Sessions
from hookproof.receiver.signatures.verification import Verified


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


LONGEST_PATH: Final = 300
# How many characters of the headers the page's search covers.
SEARCHED_HEADERS: Final = 1024
# How many bytes of the body the page's search covers.
SEARCHED_BODY: Final = 1024
# How many bytes of the body the page shows; all of it can be downloaded.
SHOWN_BODY: Final = 256 * 2**10


def row(delivery: ReceivedDelivery, status: SignatureStatus, *, new: bool) -> dict[str, object]:
    """A row of the list; `new` if the delivery arrived just now and the page has no row of it."""
    return {
        "token": delivery.token,
        "sequence": delivery.sequence,
        "new": new,
        "method": delivery.method,
        "path": delivery.path[:LONGEST_PATH],
        "arrived_at": delivery.arrived_at,
        "took_ms": _duration_ms(delivery),
        "status": delivery.status,
        "left": delivery.closed_monotonic is not None,
        "body_bytes": len(delivery.body),
        "verdict": status.verdict,
        "reason": status.reason,
        "text": _searchable_text(delivery),
    }


def lost_row(token: str, sequence: int, *, new: bool) -> dict[str, object]:
    """A row for a delivery that is no longer kept, or never was."""
    return {"token": token, "sequence": sequence, "new": new, "lost": True}


def delivery_detail(
    delivery: ReceivedDelivery,
    status: SignatureStatus,
    diagnosis: str | None,
    addresses: ReceiverAddresses,
) -> dict[str, object]:
    """Everything that the page shows of an open delivery."""
    members = delivery.to_json()
    del members["body_b64"]
    return members | {
        "took_ms": _duration_ms(delivery),
        "left": delivery.closed_monotonic is not None,
        "body_bytes": len(delivery.body),
        "shown_body_b64": base64.b64encode(delivery.body[:SHOWN_BODY]).decode("ascii"),
        "verdict": status.verdict,
        "reason": status.reason,
        "detail": status.detail,
        "bisection": diagnosis if status.verdict is SignatureVerdict.UNVERIFIED else None,
        "curl": curl_command(delivery, addresses),
    }


def _duration_ms(delivery: ReceivedDelivery) -> float | None:
    ended = delivery.completed_monotonic
    if ended is None:
        ended = delivery.closed_monotonic
    return None if ended is None else (ended - delivery.arrived_monotonic) * 1000


def _searchable_text(delivery: ReceivedDelivery) -> str:
    headers = "\n".join(f"{name}: {value}" for name, value in delivery.headers)
    return (
        headers[:SEARCHED_HEADERS] + "\n" + delivery.body[:SEARCHED_BODY].decode("utf-8", "replace")
    )


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
