"""The runs of a folder by what they tested, in the order of time, each with what changed.

Written for people (`trend_lines`) and for programs (`trend_json`).
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

from hookproof.commands.trend.runs import (
    COUNTS,
    PERCENTILES,
    RATES,
    CheckRun,
    FigureChange,
    FoundRun,
    LoadRun,
    UnreadableRun,
    cut_short,
    differing_conditions,
    figure_changes,
    other_conditions,
    verdict_changes,
)
from hookproof.conformance.cli.stored_run import verdict_line
from hookproof.conformance.reports.behaviour.json import change_json, run_json
from hookproof.conformance.reports.summary import SHOWN_ORDER
from hookproof.conformance.results.comparison import Change, Difference
from hookproof.load.figures import FIGURES

R = TypeVar("R", bound=CheckRun | LoadRun)
K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckStep:
    """A run, and what changed since the one before it of the same target."""

    run: CheckRun
    changes: tuple[Difference, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadStep:
    """A load run, and what changed since the one before it of the same target and profile."""

    run: LoadRun
    changes: tuple[FigureChange, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """All runs; those of each target, and those of each profile and target."""

    check: dict[str, list[CheckStep]]
    load: dict[tuple[str, str], list[LoadStep]]
    left_out: tuple[UnreadableRun, ...]


def history_of(found: Iterable[FoundRun]) -> History:
    runs = list(found)
    checks = [each for each in runs if isinstance(each, CheckRun)]
    loads = [each for each in runs if isinstance(each, LoadRun)]
    return History(
        check={
            target: [_check_step(before, run) for before, run in in_time]
            for target, in_time in _by(checks, lambda run: run.target).items()
        },
        load={
            key: [_load_step(before, run) for before, run in in_time]
            for key, in_time in _by(loads, lambda run: (run.target, run.profile)).items()
        },
        left_out=tuple(each for each in runs if isinstance(each, UnreadableRun)),
    )


def _by(runs: list[R], key: Callable[[R], K]) -> dict[K, list[tuple[R | None, R]]]:
    """The runs with an equal key in the order of time, each with the one before it."""
    groups: defaultdict[K, list[R]] = defaultdict(list)
    for run in sorted(runs, key=lambda run: (run.started_at, run.place)):
        groups[key(run)].append(run)
    return {name: list(zip([None, *group], group, strict=False)) for name, group in groups.items()}


def _check_step(before: CheckRun | None, run: CheckRun) -> CheckStep:
    notes = [] if before is None else list(differing_conditions(before, run))
    return CheckStep(
        run=run,
        changes=() if before is None else tuple(verdict_changes(before, run)),
        notes=(*notes, *cut_short(run)),
    )


def _load_step(before: LoadRun | None, run: LoadRun) -> LoadStep:
    return LoadStep(
        run=run,
        changes=() if before is None else tuple(figure_changes(before, run)),
        notes=() if before is None else tuple(other_conditions(before, run)),
    )


INDENT: Final = " " * 4
# How many requirements are named for each direction of change; compare names them all.
MOST_NAMED: Final = 20


def trend_lines(history: History) -> Iterator[str]:
    for target, steps in history.check.items():
        yield f"check {target}: {_counted(len(steps))}"
        for step in steps:
            yield from _check_lines(step)
    for (target, profile), loads in history.load.items():
        yield f"load {target}, profile {profile}: {_counted(len(loads))}"
        for load in loads:
            yield from _load_lines(load)
    for each in history.left_out:
        yield f"Note: {each.place} is left out: {each.why}."


def _check_lines(step: CheckStep) -> Iterator[str]:
    run = step.run.run
    verdict = verdict_line(run.ledger, strict=run.header.strict)
    yield f"  {_time(step.run.started_at)}  {verdict}  {step.run.place}"
    yield from (f"{INDENT}Note: {note}." for note in step.notes)
    for change in (Change.WORSE, Change.BETTER):
        changed = [each for each in step.changes if each.change is change]
        if changed:
            yield f"{INDENT}{change.value}: {_named(changed)}"
    others = sum(each.change is Change.OTHER for each in step.changes)
    if others:
        yield f"{INDENT}other changes: {others}"


def _named(changed: Sequence[Difference]) -> str:
    words = [f"{each.entry.requirement.id} ({each.words})" for each in changed[:MOST_NAMED]]
    more = len(changed) - len(words)
    return ", ".join(words) + (f", and {more} more" if more else "")


def _load_lines(step: LoadStep) -> Iterator[str]:
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


def _counted(runs: int) -> str:
    return "1 run" if runs == 1 else f"{runs} runs"


def trend_json(history: History) -> dict[str, Any]:
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


def _check_json(step: CheckStep) -> dict[str, Any]:
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


def _load_json(step: LoadStep) -> dict[str, Any]:
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
