"""What the page is told of a delivery: a row of the list, and everything when it is opened."""

import base64
from typing import Final

from hookproof.receiver.dashboard.curl_command import Addresses, curl_command
from hookproof.receiver.dashboard.signature_status import Standing, Verdict
from hookproof.receiver.inbox.delivery import ReceivedDelivery

LONGEST_PATH: Final = 300
# Characters of the headers that the page's search sees.
SEARCHED_HEADERS: Final = 1024
# Bytes of the body that the page's search sees.
SEARCHED_BODY: Final = 1024
# Bytes of the body that the page shows; all of it can be downloaded.
SHOWN_BODY: Final = 256 * 2**10


def row(delivery: ReceivedDelivery, standing: Standing, *, new: bool) -> dict[str, object]:
    """A delivery in the list; `new` if it arrived just now, so that the page has no row of it yet."""
    return {
        "token": delivery.token,
        "sequence": delivery.sequence,
        "new": new,
        "method": delivery.method,
        "path": delivery.path[:LONGEST_PATH],
        "arrived_at": delivery.arrived_at,
        "took_ms": _took_ms(delivery),
        "status": delivery.status,
        "left": delivery.closed_monotonic is not None,
        "body_bytes": len(delivery.body),
        "verdict": standing.verdict,
        "reason": standing.reason,
        "text": _searched(delivery),
    }


def lost_row(token: str, sequence: int, *, new: bool) -> dict[str, object]:
    """A delivery that is no longer kept, or never could be."""
    return {"token": token, "sequence": sequence, "new": new, "lost": True}


def opened(
    delivery: ReceivedDelivery, standing: Standing, bisection: str | None, addresses: Addresses
) -> dict[str, object]:
    """A delivery with all that the page shows of it."""
    facts = delivery.to_json()
    del facts["body_b64"]
    return facts | {
        "took_ms": _took_ms(delivery),
        "left": delivery.closed_monotonic is not None,
        "body_bytes": len(delivery.body),
        "shown_body_b64": base64.b64encode(delivery.body[:SHOWN_BODY]).decode("ascii"),
        "verdict": standing.verdict,
        "reason": standing.reason,
        "detail": standing.detail,
        "bisection": bisection if standing.verdict is Verdict.UNVERIFIED else None,
        "curl": curl_command(delivery, addresses),
    }


def _took_ms(delivery: ReceivedDelivery) -> float | None:
    ended = delivery.completed_monotonic or delivery.closed_monotonic
    return None if ended is None else (ended - delivery.arrived_monotonic) * 1000


def _searched(delivery: ReceivedDelivery) -> str:
    headers = "\n".join(f"{name}: {value}" for name, value in delivery.headers)
    return (
        headers[:SEARCHED_HEADERS] + "\n" + delivery.body[:SEARCHED_BODY].decode("utf-8", "replace")
    )
