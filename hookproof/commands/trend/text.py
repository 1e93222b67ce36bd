"""A trend for people."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from hookproof.commands.trend.history import CheckStep, History, LoadStep
from hookproof.commands.trend.load_runs import COUNTS, PERCENTILES, RATES, LoadRun
from hookproof.conformance.cli.stored_run import verdict_line
from hookproof.conformance.results.comparison import Change, Difference
from hookproof.load.figures import FIGURES

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
