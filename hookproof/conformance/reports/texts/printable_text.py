"""Text from a target without control characters, for terminals, pages and XML files."""

import json
import re
from collections.abc import Iterator
from typing import Final

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import NO_MARKS, Marks
from hookproof.conformance.reports.texts.difference import Part, marked_in
from hookproof.process.terminal_text import printable, printable_lines
from hookproof.receiver.inbox.delivery import ReceivedDelivery

_WORD: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')
OPENING: Final = frozenset("{[")
CLOSING: Final = frozenset("}]")
INDENT: Final = "  "
# A deeper body would be laid out beyond every margin.
DEEPEST: Final = 20


def laid_out(text: str) -> str:
    """A JSON object or array with a line for each member; any other text as it is."""
    if not text.lstrip().startswith(("{", "[")) or not _is_json(text):
        return text
    words = _WORD.findall(text)
    return text if _depth(words) > DEEPEST else "".join(_lines(words))


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _depth(words: list[str]) -> int:
    depth = deepest = 0
    for word in words:
        depth += (word in OPENING) - (word in CLOSING)
        deepest = max(deepest, depth)
    return deepest


def _lines(words: list[str]) -> Iterator[str]:
    depth, before = 0, ""
    for word in words:
        is_empty = before in OPENING and word in CLOSING
        depth -= word in CLOSING
        if not is_empty and (before in OPENING or before == "," or word in CLOSING):
            yield f"\n{INDENT * depth}"
        yield f"{word} " if word == ":" else word
        depth += word in OPENING
        before = word


# In characters; the rest of a longer body is only in run.jsonl.
LONGEST_BODY: Final = 4000


def body_shown(body: bytes) -> str:
    """A body as text, JSON laid out, its beginning if it is long; bytes that are not UTF-8 become
    escapes.
    """
    as_sent = _as_text(body)
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


def delivery_shown(delivery: ReceivedDelivery, marks: Marks = NO_MARKS) -> list[Part]:
    """A delivery as it was received, in parts, of which those differ that are marked."""
    body = delivery.body
    head = _head(f"{delivery.method} {delivery.path}", delivery.headers)
    parts = marked_in(head, map(printable, marks.texts))
    if not body:
        return parts
    parts.append(Part(text="\n\n", differs=False))
    shown = body_shown(body)
    first, end = (_place_in(shown, body, at) for at in marks.body or (0, 0))
    wrong = shown[first:end].rstrip()
    if wrong:
        return [
            *parts,
            Part(text=shown[:first], differs=False),
            Part(text=wrong, differs=True),
            Part(text=shown[first + len(wrong) :], differs=False),
        ]
    return [*parts, Part(text=shown, differs=False)]


def _place_in(shown: str, body: bytes, at: int) -> int:
    """Where the byte of a body stands in the text that shows it, which has other spaces."""
    before = sum(not c.isspace() for c in printable_lines(_as_text(body[:at])))
    for place, c in enumerate(shown):
        if not c.isspace():
            if not before:
                return place
            before -= 1
    return len(shown)


def _message(first: str, headers: tuple[tuple[str, str], ...], body: bytes) -> str:
    head = _head(first, headers)
    return f"{head}\n\n{body_shown(body)}" if body else head


def _head(first: str, headers: tuple[tuple[str, str], ...]) -> str:
    return "\n".join(
        [printable(first), *(printable(f"{name}: {value}") for name, value in headers)]
    )


def _as_text(body: bytes) -> str:
    return body.decode("utf-8", "backslashreplace")
