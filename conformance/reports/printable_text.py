"""Text from a target made harmless: no control character of it reaches a terminal, a page or an XML
file.
"""

from typing import Final

from hookproof.conformance.model.evidence import Exchange
from hookproof.receiver.inbox.delivery import ReceivedDelivery

# In bytes; what a longer body holds beyond that is left to run.jsonl.
LONGEST_BODY: Final = 4000


def printable(text: str) -> str:
    """A text in one line, whose control characters and lone surrogates are written as escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def printable_lines(text: str) -> str:
    """The same for a text that may have several lines and tabs."""
    return "\n".join(
        "\t".join(map(printable, line.split("\t")))
        for line in text.replace("\r\n", "\n").split("\n")
    )


def body_shown(body: bytes) -> str:
    """A body as text, its beginning if it is long; bytes that are no UTF-8 are written as escapes."""
    text = printable_lines(body[:LONGEST_BODY].decode("utf-8", "backslashreplace"))
    return (
        text
        if len(body) <= LONGEST_BODY
        else f"{text}\n[{len(body)} bytes; the rest is in run.jsonl]"
    )


def request_shown(exchange: Exchange) -> str:
    """The request of an exchange as it went over the wire."""
    return _message(
        f"{exchange.method} {exchange.url}", exchange.request_headers, exchange.request_body or b""
    )


def response_shown(exchange: Exchange) -> str:
    """The response of an exchange as it came, or why none did."""
    if exchange.status is None:
        return printable(f"no answer: {exchange.problem}")
    return _message(str(exchange.status), exchange.response_headers, exchange.response_body)


def delivery_shown(delivery: ReceivedDelivery) -> str:
    """A delivery as the receiver saw it."""
    return _message(f"{delivery.method} {delivery.path}", delivery.headers, delivery.body)


def _message(first: str, headers: tuple[tuple[str, str], ...], body: bytes) -> str:
    lines = [printable(first), *(printable(f"{name}: {value}") for name, value in headers)]
    return "\n".join([*lines, "", body_shown(body)] if body else lines)
