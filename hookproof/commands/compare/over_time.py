"""Runs by what they tested, in the order of time, each with what changed since the one before."""

import json
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Final, Generic, TypeVar

from hookproof.commands.compare.runs import (
    CONDITIONS,
    COUNTS,
    PERCENTILES,
    RATES,
    SHOWN,
    CheckRun,
    FoundRun,
    LoadRun,
    UnreadableRun,
)
from hookproof.commands.compare.two_runs import differing_conditions
from hookproof.conformance.cli.stored_run import verdict_line
from hookproof.conformance.reports.behaviour.json import change_json, run_json
from hookproof.conformance.reports.summary import SHOWN_ORDER
from hookproof.conformance.results.comparison import Change, Difference, differences
from hookproof.load.figures import FIGURES
from hookproof.load.reports.comparison import better_or_worse, change
from hookproof.process.exit_codes import CommandError
from hookproof.process.terminal_text import counted

# A smaller change of a figure, as a share, is what a busy machine does, too.
NOTABLE: Final = 0.1
INDENT: Final = " " * 4
# How many requirements are named for each direction of change; two runs alone show them all.
MOST_NAMED: Final = 20

R = TypeVar("R", bound=CheckRun | LoadRun)
C = TypeVar("C")
K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureChange:
    """A figure that changed notably from one run to the next."""

    name: str
    change: str
    before: float
    after: float

    @property
    def words(self) -> str:
        shown = FIGURES[self.name].unit.shown
        share = change(self.before, self.after)
        return f"{self.name} {shown(self.before)} -> {shown(self.after)} ({share})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step(Generic[R, C]):
    """A run, what changed since the one before it, and what makes the two hard to compare."""

    run: R
    changes: tuple[C, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The runs of each target, those of each target and profile, and what cannot be read."""

    check: dict[str, list[Step[CheckRun, Difference]]]
    load: dict[tuple[str, str], list[Step[LoadRun, FigureChange]]]
    left_out: tuple[UnreadableRun, ...]


def history_of(found: Iterable[FoundRun]) -> History:
    runs = list(found)
    checks = [each for each in runs if isinstance(each, CheckRun)]
    loads = [each for each in runs if isinstance(each, LoadRun)]
    return History(
        check=_steps(checks, lambda run: run.target, _verdict_changes, _check_notes),
        load=_steps(loads, lambda run: (run.target, run.profile), figure_changes, _load_notes),
        left_out=tuple(each for each in runs if isinstance(each, UnreadableRun)),
    )


def _steps(
    runs: Iterable[R],
    key: Callable[[R], K],
    changes: Callable[[R, R], Iterable[C]],
    notes: Callable[[R, R], Iterable[str]],
) -> dict[K, list[Step[R, C]]]:
    """The runs with an equal key in the order of time."""
    groups: defaultdict[K, list[Step[R, C]]] = defaultdict(list)
    for run in sorted(runs, key=lambda run: (run.started_at, run.place)):
        group = groups[key(run)]
        before = group[-1].run if group else run
        changed = tuple(changes(before, run))
        group.append(Step(run=run, changes=changed, notes=tuple(notes(before, run))))
    return dict(groups)


def _verdict_changes(before: CheckRun, after: CheckRun) -> Iterator[Difference]:
    yield from differences(before.run.ledger, after.run.ledger, strict=after.run.header.strict)


def _check_notes(before: CheckRun, after: CheckRun) -> Iterator[str]:
    yield from differing_conditions(before.run, after.run)
    if after.run.footer.cut:
        yield f"it ended early: {after.run.footer.cut}"


def figure_changes(before: LoadRun, after: LoadRun) -> Iterator[FigureChange]:
    """The figures that became notably better or worse."""
    for name in SHOWN:
        if name not in before.figures or name not in after.figures:
            continue
        old, new = before.figures[name], after.figures[name]
        direction = better_or_worse(name, old, new)
        if direction and abs(new - old) > NOTABLE * abs(old):
            yield FigureChange(name=name, change=direction, before=old, after=new)


def _load_notes(before: LoadRun, after: LoadRun) -> Iterator[str]:
    for name in CONDITIONS:
        values = before.conditions[name], after.conditions[name]
        if values[0] != values[1]:
            yield f"the {name} differs: {values[0]}, then {values[1]}"


def history_text(history: History, form: str, places: str) -> str:
    """The history as text or JSON; raises CommandError if there is no run, with the reason."""
    if not history.check and not history.load:
        why = f"; {history.left_out[0].why}" if history.left_out else ""
        raise CommandError(f"{places} holds no finished run of check or load{why}")
    if form == "json":
        return f"{json.dumps(_document(history), indent=1)}\n"
    return "".join(f"{line}\n" for line in _lines(history))


def _lines(history: History) -> Iterator[str]:
    for target, steps in history.check.items():
        yield f"check {target}: {counted(len(steps), 'run')}"
        for step in steps:
            yield from _check_lines(step)
    for (target, profile), loads in history.load.items():
        yield f"load {target}, profile {profile}: {counted(len(loads), 'run')}"
        for load in loads:
            yield from _load_lines(load)
    for each in history.left_out:
        yield f"Note: {each.place} is left out: {each.why}."


def _check_lines(step: Step[CheckRun, Difference]) -> Iterator[str]:
    run = step.run.run
    verdict = verdict_line(run.ledger, strict=run.header.strict)
    yield f"  {_time(step.run.started_at)}  {verdict}  {step.run.place}"
    yield from (f"{INDENT}Note: {note}." for note in step.notes)
    for direction in (Change.WORSE, Change.BETTER):
        changed = [each for each in step.changes if each.change is direction]
        if changed:
            yield f"{INDENT}{direction.value}: {_named(changed)}"
    others = sum(each.change is Change.OTHER for each in step.changes)
    if others:
        yield f"{INDENT}other changes: {others}"


def _named(changed: Sequence[Difference]) -> str:
    words = [f"{each.entry.requirement.id} ({each.words})" for each in changed[:MOST_NAMED]]
    more = len(changed) - len(words)
    return ", ".join(words) + (f", and {more} more" if more else "")


def _load_lines(step: Step[LoadRun, FigureChange]) -> Iterator[str]:
    run = step.run
    yield f"  {_time(run.started_at)}  {run.verdict.upper()}  {run.place}"
    for names in (RATES, PERCENTILES, COUNTS):
        if shown := _figures(run, names):
            yield f"{INDENT}{shown}"
    yield from (f"{INDENT}Note: {note}." for note in step.notes)
    for direction in (Change.WORSE.value, Change.BETTER.value):
        words = [each.words for each in step.changes if each.change == direction]
        if words:
            yield f"{INDENT}{direction}: {', '.join(words)}"


def _figures(run: LoadRun, names: Sequence[str]) -> str:
    return " · ".join(
        f"{name} {FIGURES[name].unit.shown(run.figures[name])}"
        for name in names
        if name in run.figures
    )


def _time(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"


def _document(history: History) -> dict[str, Any]:
    return {
        "check": [
            {"target": target, "runs": [_check_json(step) for step in steps]}
            for target, steps in history.check.items()
        ],
        "load": [
            {"target": target, "profile": profile, "runs": [_load_json(step) for step in steps]}
            for (target, profile), steps in history.load.items()
        ],
        "left_out": [asdict(each) for each in history.left_out],
    }


def _check_json(step: Step[CheckRun, Difference]) -> dict[str, Any]:
    totals = step.run.run.ledger.totals
    return {
        "place": step.run.place,
        **run_json(step.run.run),
        "totals": {
            level.value: {verdict.key: counts[verdict] for verdict in SHOWN_ORDER}
            for level, counts in totals.items()
        },
        "changes": [change_json(each) for each in step.changes],
        "notes": list(step.notes),
    }


def _load_json(step: Step[LoadRun, FigureChange]) -> dict[str, Any]:
    run = step.run
    return {
        "place": run.place,
        "started_at": run.started_at,
        "verdict": run.verdict,
        "conditions": dict(run.conditions),
        "figures": dict(run.figures),
        "changes": [asdict(each) for each in step.changes],
        "notes": list(step.notes),
    }
