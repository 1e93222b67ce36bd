"""The verdicts, their order, and the judgements that they are combined from."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from hookproof.conformance.model.evidence import Case, Exchange
from hookproof.receiver.inbox.delivery import ReceivedDelivery


class Verdict(IntEnum):
    """What is known of a requirement. Higher wins: a requirement's verdict is the maximum over its
    judgements.
    """

    NOT_APPLICABLE = 0
    PASS = 1
    NOT_EXERCISED = 2
    FAIL = 3
    ERROR = 4

    @property
    def key(self) -> str:
        """The word used in files."""
        return self.name.lower()

    @property
    def words(self) -> str:
        """The word for a reader."""
        return self.key.replace("_", " ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What one check says of one requirement after looking at one case or exchange.

    `verdict` is PASS, FAIL or NOT_APPLICABLE; `expected` and `actual` are for people, in one line
    each. `cause` is what else the proof showed to be wrong, where that was found out while the
    evidence was whole (`cause.py`).
    """

    requirement: str
    verdict: Verdict
    message: str = ""
    expected: str = ""
    actual: str = ""
    exchanges: tuple[Exchange, ...] = ()
    deliveries: tuple[ReceivedDelivery, ...] = ()
    cause: str | None = None


def holds(requirement: str) -> Judgement:
    """The requirement was exercised, and it held."""
    return Judgement(requirement=requirement, verdict=Verdict.PASS)


def violated(
    requirement: str,
    message: str,
    *,
    expected: object,
    actual: object,
    exchanges: Iterable[Exchange | None] = (),
    deliveries: Iterable[ReceivedDelivery] = (),
) -> Judgement:
    """The target broke the requirement; the exchanges and deliveries named are the proof."""
    return Judgement(
        requirement=requirement,
        verdict=Verdict.FAIL,
        message=message,
        expected=shown(expected),
        actual=shown(actual),
        exchanges=tuple(one for one in exchanges if one is not None),
        deliveries=tuple(deliveries),
    )


def judged(
    ok: bool, requirement: str, message: str, *, expected: object, actual: object, case: Case
) -> Judgement:
    """`holds` when ok, else `violated` with the whole case as proof."""
    if ok:
        return holds(requirement)
    return violated(
        requirement,
        message,
        expected=expected,
        actual=actual,
        exchanges=case.exchanges,
        deliveries=case.deliveries,
    )


def not_applicable(requirement: str, reason: str) -> Judgement:
    """The document allows the target to do without this, or its dialect leaves the gap undecided."""
    return Judgement(requirement=requirement, verdict=Verdict.NOT_APPLICABLE, message=reason)


def shown(value: Any, limit: int = 300) -> str:
    """A value in one line of at most `limit` characters."""
    text = value if isinstance(value, str) else repr(value)
    text = " ".join(text.split())
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
