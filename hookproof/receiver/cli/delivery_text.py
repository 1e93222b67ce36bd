"""The text that describes a delivery to a person.

What senders write is untrusted: control characters never reach the terminal.
"""

from datetime import UTC, datetime
from typing import Final

from hookproof.process.terminal_text import printable as escaped
from hookproof.receiver.cli.delivery_watch import JudgedDelivery
from hookproof.receiver.inbox.delivery import ReceivedDelivery

# The most characters shown of a text of a sender.
LONGEST: Final = 80


def delivery_line(judged_delivery: JudgedDelivery) -> str:
    """One delivery in one line, with its verdict if it was verified."""
    time, token, number, request, size, answer, verdict = cells(judged_delivery)
    line = f"{time} {token} #{number} {request} {size} bytes, {answer}"
    return f"{line}, {verdict}" if verdict else line


def cells(judged_delivery: JudgedDelivery) -> tuple[str, ...]:
    """The columns of one delivery, safe to print."""
    delivery = judged_delivery.delivery
    arrived = datetime.fromtimestamp(delivery.arrived_at, UTC)
    verdict = ""
    if judged_delivery.judgement is not None:
        verdict = (
            f"verified: {judged_delivery.judgement.sentence}"
            if judged_delivery.judgement.verified
            else _unverified_text(judged_delivery)
        )
    return (
        f"{arrived:%H:%M:%S}.{arrived.microsecond // 1000:03d}",
        printable(delivery.token),
        str(delivery.sequence),
        f"{printable(delivery.method)} {printable(delivery.path)}",
        str(len(delivery.body)),
        _answer_text(delivery),
        verdict,
    )


def _answer_text(delivery: ReceivedDelivery) -> str:
    if delivery.status is not None:
        return f"answered {delivery.status}"
    ended = delivery.closed_monotonic is not None
    return "broke off before its answer" if ended else "not answered yet"


def _unverified_text(judged_delivery: JudgedDelivery) -> str:
    judgement = judged_delivery.judgement
    assert judgement is not None
    assert judgement.diagnosis is not None
    return f"not verified: {judgement.reason}: {printable(judgement.diagnosis.cause, 400)}"


def printable(text: str, longest: int = LONGEST) -> str:
    """At most `longest` characters of a text; unprintable ones are written as escapes."""
    shown = escaped(text[: longest + 1])
    return shown if len(shown) <= longest else shown[: longest - 1] + "\u2026"
