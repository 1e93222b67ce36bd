"""What two targets answer and do differently, for people."""

from collections.abc import Iterator, Sequence
from typing import Final

from hookproof.conformance.reports.behaviour.two_runs import TwoBehaviours
from hookproof.conformance.results.behaviour.answers import quantile
from hookproof.conformance.results.behaviour.behaviour import DeliveryBehaviour
from hookproof.conformance.results.behaviour.shapes import FieldShape
from hookproof.process.terminal_text import printable
from hookproof.spec.dialect.writer import answer_text
from hookproof.spec.differing_fields import DifferingField

# In columns.
WIDTH: Final = 38
COLUMN: Final = 38


def dialect_lines(differences: Sequence[DifferingField]) -> Iterator[str]:
    differ = "answer differs" if len(differences) == 1 else "answers differ"
    yield f"dialects: {len(differences) or 'no'} {differ}"
    for difference in differences:
        yield f"  {difference.field.name}"
        yield f"    before  {answer_text(difference.first)}"
        yield f"    after   {answer_text(difference.second)}"


def behaviour_lines(both: TwoBehaviours) -> Iterator[str]:
    yield from _statuses(both)
    yield from _other_statuses(both)
    yield from _shapes(both)
    yield _row("times of accepted requests, in ms", "before", "after", "")
    for name, before, after in both.operations:
        if before.took_s or after.took_s:
            yield _row(name, _times(before.took_s), _times(after.took_s))
    yield _row("deliveries", "before", "after", "")
    first, second = both.deliveries
    yield _row("arrived", f"{first.arrived:,}", f"{second.arrived:,}")
    yield _row("time after their broadcasts, in ms", _times(first.took_s), _times(second.took_s))
    yield _row("in the order of their broadcasts", _order(first), _order(second))


def _statuses(both: TwoBehaviours) -> Iterator[str]:
    yield _row("statuses", "before", "after", "")
    for name, before, after in both.operations:
        for status in sorted({*before.statuses, *after.statuses}):
            counts = before.statuses.get(status, 0), after.statuses.get(status, 0)
            yield _row(f"{name} {status}", *(f"{count:,}" if count else "-" for count in counts))


def _other_statuses(both: TwoBehaviours) -> Iterator[str]:
    count, others = both.other_statuses
    heading = "requests that both runs sent, in the same place and with the same fields"
    yield f"{heading}: {count:,}; with another status: {sum(each.count for each in others):,}"
    for each in others:
        times = "once" if each.count == 1 else f"{each.count:,} times"
        what = f"{each.operation}  {each.before} -> {each.after}  {times}"
        yield printable(f"  {what}, for example in {each.example}")


def _shapes(both: TwoBehaviours) -> Iterator[str]:
    differing = list(both.differing_shapes)
    yield f"fields of answers that differ: {len(differing) or 'none'}"
    for each in differing:
        yield f"  {each.kind}: {each.path or 'as a whole'}"  # names of fields, and no others
        yield f"    before  {_shape(each.before)}"
        yield f"    after   {_shape(each.after)}"


def _shape(shape: FieldShape | None) -> str:
    if shape is None:
        return "never"
    there = "always" if shape.seen == shape.of else f"{shape.seen:,} of {shape.of:,} times"
    types = ", ".join(f"{name} {count:,}" for name, count in sorted(shape.types.items()))
    return f"{there}: {types}"


def _times(took_s: Sequence[float]) -> str:
    if not took_s:
        return "-"
    shown = (f"{name} {_milliseconds(quantile(took_s, share))}" for name, share in _SHARES)
    return f"{', '.join(shown)} ({len(took_s):,})"


_SHARES: Final = (("p50", 0.5), ("p95", 0.95), ("max", 1.0))


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:,.1f}" if seconds < 0.1 else f"{seconds * 1000:,.0f}"  # noqa: PLR2004


def _order(deliveries: DeliveryBehaviour) -> str:
    whole = deliveries.ordered + deliveries.disordered
    return f"{deliveries.ordered:,} of {whole:,}" if whole else "-"


def _row(name: str, before: str, after: str, indent: str = "  ") -> str:
    return printable(f"{indent + name:<{WIDTH}}{before:>{COLUMN}}{after:>{COLUMN}}")
