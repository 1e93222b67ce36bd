"""Text from a target without control characters, for terminals, pages and XML files."""

from typing import Final

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.reports.texts.laid_out import laid_out
from hookproof.process.terminal_text import printable, printable_lines
from hookproof.receiver.inbox.delivery import ReceivedDelivery

# In characters; the rest of a longer body is only in run.jsonl.
LONGEST_BODY: Final = 4000


def body_shown(body: bytes) -> str:
    """A body as text, JSON laid out, its beginning if it is long; bytes that are not UTF-8 become
    escapes.
    """
    as_sent = body.decode("utf-8", "backslashreplace")
    text = laid_out(as_sent)
    note = "" if text == as_sent else "\n[laid out; run.jsonl has it as it was sent]"
    if len(text) > LONGEST_BODY:
        text, note = text[:LONGEST_BODY], f"\n[{len(body)} bytes; the rest is in run.jsonl]"
    return printable_lines(text) + note


def request_shown(exchange: Exchange) -> str:
    """The request of an exchange as it went over the wire."""
    return _message(
        f"{exchange.method} {exchange.url}", exchange.request_headers, exchange.request_body or b""
    )


def response_shown(exchange: Exchange) -> str:
    """The response of an exchange as it was received, or why there is none."""
    if exchange.status is None:
        return printable(f"no answer: {exchange.problem}")
    return _message(str(exchange.status), exchange.response_headers, exchange.response_body)


def delivery_shown(delivery: ReceivedDelivery) -> str:
    return _message(f"{delivery.method} {delivery.path}", delivery.headers, delivery.body)


def _message(first: str, headers: tuple[tuple[str, str], ...], body: bytes) -> str:
    lines = [printable(first), *(printable(f"{name}: {value}") for name, value in headers)]
    return "\n".join([*lines, "", body_shown(body)] if body else lines)
