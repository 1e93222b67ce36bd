"""The judgement of a check on one requirement, from one observation or exchange."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.verdict import Verdict
from hookproof.receiver.inbox.delivery import ReceivedDelivery


class Subject(StrEnum):
    """What a judgement is about, and so where its cause may be.

    What becomes of a request before it is answered has no cause in the answer.
    """

    ANSWER = "answer"
    REQUEST = "request"
    SIGNATURE = "signature"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A judgement on one requirement, with the exchanges and deliveries that prove it.

    `verdict` is PASS, FAIL or NOT_APPLICABLE; `expected` and `actual` are one line each, for
    people. `stored` names the wrong value that was stored with a resource, where that is all that
    is wrong: any answer that shows it again shows the same failure. A pass needs a proof as a
    failure does.
    """

    requirement: str
    verdict: Verdict
    message: str = ""
    expected: str = ""
    actual: str = ""
    exchanges: tuple[Exchange, ...] = ()
    deliveries: tuple[ReceivedDelivery, ...] = ()
    subject: Subject = Subject.ANSWER
    stored: str = ""

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
    return Judgement(
        requirement=requirement,
        verdict=Verdict.FAIL,
        message=message,
        expected=shown(expected),
        actual=shown(actual),
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
    """The document does not require it of this target, or the dialect leaves the gap undecided."""
    return Judgement(requirement=requirement, verdict=Verdict.NOT_APPLICABLE, message=reason)


def shown(value: Any, limit: int = 300) -> str:
    """A value in one line of at most `limit` characters."""
    text = value if isinstance(value, str) else repr(value)
    text = " ".join(text.split())
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _present(exchanges: Iterable[Exchange | None]) -> tuple[Exchange, ...]:
    return tuple(filter(None, exchanges))
