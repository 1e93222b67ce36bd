"""The judgement of a check on one requirement, from one observation or exchange."""

import json
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.verdict import Verdict
from hookproof.receiver.inbox.delivery import ReceivedDelivery

LIMIT: Final = 300
# How the words begin that say what a sender did instead of signing as it should.
SENDER: Final = "the sender "
# From how many equal characters on two texts are shown around their first difference, and how many
# characters of them, some of which are equal.
ALIKE: Final = 40
BEFORE: Final = 16
WINDOW: Final = 60
# How much of what differs is repeated after them.
PART: Final = 24


# What masks the values that are quoted by whoever judges now. They are cut to their beginning, and
# of a credential at the cut the beginning could not be recognised later.
_as_quoted: ContextVar[Callable[[Any], Any]] = ContextVar("as_quoted", default=lambda value: value)


@contextmanager
def quoting(mask: Callable[[Any], Any]) -> Iterator[None]:
    """Let judgements quote values as this gives them."""
    token = _as_quoted.set(mask)
    try:
        yield
    finally:
        _as_quoted.reset(token)


def as_quoted(value: Any) -> Any:
    """A value as it is quoted now, before it is cut."""
    return _as_quoted.get()(value)


class Subject(StrEnum):
    """What a judgement is about, and so where its cause may be.

    What becomes of a request before it is answered has no cause in the answer.
    """

    ANSWER = "answer"
    REQUEST = "request"
    SIGNATURE = "signature"


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """The parts of a delivery that are wrong, for reports: `texts` of its headers, and the bytes of
    its `body` from the first of these places to before the second.
    """

    texts: tuple[str, ...] = ()
    body: tuple[int, int] | None = None


NO_MARKS = Marks()


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A judgement on one requirement, with the exchanges and deliveries that prove it.

    `verdict` is PASS, FAIL or NOT_APPLICABLE; `expected` and `actual` are one line each, for
    people. `state` names what is wrong with the target itself, where that is all that is wrong,
    such as a wrong value that was stored with a resource: any proof that shows it shows the same
    failure. `marks` are for reports that show the deliveries. `conclusive` is whether further
    evidence could not make the requirement applicable. `tries` is how often it was tried in place,
    which gathering it again would only repeat. A pass needs a proof as a failure does.
    """

    requirement: str
    verdict: Verdict
    message: str = ""
    expected: str = ""
    actual: str = ""
    exchanges: tuple[Exchange, ...] = ()
    deliveries: tuple[ReceivedDelivery, ...] = ()
    subject: Subject = Subject.ANSWER
    state: str = ""
    marks: Marks = NO_MARKS
    conclusive: bool = False
    tries: int = 1

    def __post_init__(self) -> None:
        """Raise ValueError for a pass or a failure without a proof."""
        proved = self.exchanges or self.deliveries or self.verdict is Verdict.NOT_APPLICABLE
        if not proved:
            raise ValueError(f"the judgement of {self.requirement} names no exchange or delivery")


def holds(
    requirement: str,
    *,
    exchanges: Iterable[Exchange | None] = (),
    deliveries: Iterable[ReceivedDelivery] = (),
) -> Judgement:
    """The requirement was exercised and held, as these exchanges and deliveries show."""
    return Judgement(
        requirement=requirement,
        verdict=Verdict.PASS,
        exchanges=_present(exchanges),
        deliveries=tuple(deliveries),
    )


def violated(
    requirement: str,
    message: str,
    *,
    expected: object,
    actual: object,
    exchanges: Iterable[Exchange | None] = (),
    deliveries: Iterable[ReceivedDelivery] = (),
    subject: Subject = Subject.ANSWER,
) -> Judgement:
    """The target broke the requirement, as these exchanges and deliveries show."""
    wanted, found = shown_apart(as_quoted(expected), as_quoted(actual))
    return Judgement(
        requirement=requirement,
        verdict=Verdict.FAIL,
        message=message,
        expected=wanted,
        actual=found,
        exchanges=_present(exchanges),
        deliveries=tuple(deliveries),
        subject=subject,
    )


def judged(
    ok: bool,
    requirement: str,
    message: str,
    *,
    expected: object,
    actual: object,
    exchanges: Iterable[Exchange | None] = (),
    deliveries: Iterable[ReceivedDelivery] = (),
    subject: Subject = Subject.ANSWER,
) -> Judgement:
    """`holds` if ok, else `violated`, with the same proof."""
    if ok:
        return holds(requirement, exchanges=exchanges, deliveries=deliveries)
    return violated(
        requirement,
        message,
        expected=expected,
        actual=actual,
        exchanges=exchanges,
        deliveries=deliveries,
        subject=subject,
    )


def not_applicable(requirement: str, reason: str) -> Judgement:
    """The dialect leaves nothing to judge, whatever further evidence would show."""
    return Judgement(
        requirement=requirement, verdict=Verdict.NOT_APPLICABLE, message=reason, conclusive=True
    )


def not_applicable_here(requirement: str, reason: str) -> Judgement:
    """This evidence leaves nothing to judge, for what the document lets the target choose; other
    evidence may.
    """
    return Judgement(requirement=requirement, verdict=Verdict.NOT_APPLICABLE, message=reason)


def shown(value: Any, limit: int = LIMIT) -> str:
    """A value in one line of at most `limit` characters."""
    text = " ".join(_text(value).split())
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def shown_apart(expected: Any, actual: Any) -> tuple[str, str]:
    """Two values in one line each; where these would look alike, what surrounds the first
    difference, without characters beyond ASCII.
    """
    lines = shown(expected), shown(actual)
    texts = _text(expected), _text(actual)
    pairs = enumerate(zip(*texts, strict=False))
    place = next((at for at, (one, other) in pairs if one != other), min(map(len, texts)))
    is_long = place > 0 and max(map(len, texts)) > LIMIT
    if texts[0] == texts[1] or not (is_long or place >= ALIKE or _is_alike(*lines)):
        return lines
    start = max(0, place - BEFORE)
    end = start + WINDOW
    windows = [
        _quoted(value, text[start:end])
        for value, text in zip((expected, actual), texts, strict=True)
    ]
    same = _same_at_the_end(*(text[place:] for text in texts))
    wanted, found = (
        f"{'…' if start else ''}{window}{'…' if len(text) > end else ''}"
        f" (different from character {place + 1} on: {_differing(text[place : len(text) - same])})"
        for window, text in zip(windows, texts, strict=True)
    )
    return wanted, found


def _same_at_the_end(one: str, other: str) -> int:
    """How many characters at their ends two texts have in common."""
    pairs = enumerate(zip(reversed(one), reversed(other), strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _differing(part: str) -> str:
    """The part of a text that another one has not, in quotes."""
    if not part:
        return "nothing is there"
    return json.dumps(part) if len(part) <= PART else f"{json.dumps(part[:PART])} and so on"


def json_text(value: Any) -> str:
    """A value as it stands in a JSON body, each number with all its digits: `null`, `["x"]`."""
    match value:
        case dict():
            members = [f"{json_text(str(name))}: {json_text(item)}" for name, item in value.items()]
            return f"{{{', '.join(members)}}}"
        case list() | tuple():
            return f"[{', '.join(map(json_text, value))}]"
        case set() | frozenset():
            return json_text(sorted(value, key=str))
        case Decimal():
            return str(value)
        case _:
            return json.dumps(value, ensure_ascii=False, default=str)


def _text(value: Any) -> str:
    """Words as they are, any other value as JSON."""
    try:
        return value if isinstance(value, str) else json_text(value)
    except RecursionError:
        return "a value that is nested too deeply to be shown"


def _quoted(value: Any, part: str) -> str:
    """A part of a shown value in ASCII: as JSON is written, a text that is not JSON in quotes."""
    if isinstance(value, str) and not value.lstrip().startswith(("{", "[")):
        return json.dumps(part)
    return "".join(c if c.isascii() and c.isprintable() else json.dumps(c)[1:-1] for c in part)


def _is_alike(one: str, other: str) -> bool:
    """Whether two lines look the same, be it that their characters are composed otherwise."""
    return unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", other)


def _present(exchanges: Iterable[Exchange | None]) -> tuple[Exchange, ...]:
    return tuple(filter(None, exchanges))
