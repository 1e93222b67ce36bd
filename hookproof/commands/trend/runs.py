"""Finds runs of `hookproof check` and `hookproof load` in a folder, and tells what changed."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import Final

from hookproof.conformance.results.comparison import Difference, differences, differing_settings
from hookproof.conformance.results.run_file import NAME, NotARun, Run, read_run
from hookproof.load.figures import FIGURES
from hookproof.load.reports.comparison import REPORT, NoReport, better_or_worse, change, read_report

RATES: Final = ("ingest_rps", "delivery_rps", "knee")
PERCENTILES: Final = tuple(
    f"{what}_{quantile}" for what in ("ingest", "delivery") for quantile in ("p50", "p95", "p99")
)
COUNTS: Final = ("lost", "duplicated", "out_of_order", "refused")
# It listens at another port in each run.
EMBEDDED: Final = "the embedded server"
SHOWN: Final = (*RATES, *PERCENTILES, *COUNTS)
# What was asked of the target: runs with other conditions are hard to compare.
CONDITIONS: Final = ("dialect", "rate", "duration_s", "users", "workers")
# A smaller change of a figure, as a share, is what a busy machine does, too.
NOTABLE: Final = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadRun:
    """A finished run of `hookproof load`, and where it is; figures that it has not are left out."""

    place: str
    started_at: float
    target: str
    profile: str
    verdict: str
    figures: Mapping[str, float]
    conditions: Mapping[str, object]


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


def read_load_run(folder: Path) -> LoadRun:
    """Read the report in a folder; raises NoReport."""
    report = read_report(str(folder))
    try:
        figures = {
            name: _number(value)
            for name in SHOWN
            if (value := report["figures"].get(name)) is not None
        }
        return LoadRun(
            place=str(folder),
            # The first and last hours that a text can name raise OverflowError in UTC.
            started_at=datetime.fromisoformat(report["started_at"]).astimezone(UTC).timestamp(),
            target=EMBEDDED if report.get("embedded") is True else str(report["target"]),
            profile=str(report["profile"]),
            verdict=str(report["verdict"]),
            figures=figures,
            conditions={name: report.get(name) for name in CONDITIONS},
        )
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise NoReport(
            f"{folder} has a report that cannot be read: {type(error).__name__}: {error}"
        ) from None


def _number(value: object) -> float:
    if isinstance(value, int | float) and isfinite(value):
        return float(value)
    raise ValueError(f"a figure is {value!r}")


def figure_changes(before: LoadRun, after: LoadRun) -> Iterator[FigureChange]:
    """The figures that became notably better or worse."""
    for name in SHOWN:
        if name not in before.figures or name not in after.figures:
            continue
        old, new = before.figures[name], after.figures[name]
        direction = better_or_worse(name, old, new)
        if direction and abs(new - old) > NOTABLE * abs(old):
            yield FigureChange(name=name, change=direction, before=old, after=new)


def other_conditions(before: LoadRun, after: LoadRun) -> Iterator[str]:
    """What makes two runs hard to compare, in words."""
    for name in CONDITIONS:
        values = before.conditions[name], after.conditions[name]
        if values[0] != values[1]:
            yield f"the {name} differs: {values[0]}, then {values[1]}"


PACKED: Final = ".zip"
# How far below the folder runs are looked for.
DEEPEST: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRun:
    """A finished run of `hookproof check`, and where it is."""

    place: str
    run: Run

    @property
    def started_at(self) -> float:
        return self.run.header.started_at

    @property
    def target(self) -> str:
        header = self.run.header
        return EMBEDDED if header.embedded else header.target


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadableRun:
    """What looks like a run and cannot be read, and why."""

    place: str
    why: str


FoundRun = CheckRun | LoadRun | UnreadableRun


def found_runs(folder: Path) -> Iterator[FoundRun]:
    """Every run in a folder and those in it, in the order of their names.

    Links to folders are not followed. A report of `hookproof check` counts through its run.jsonl.
    """
    for place, inner, files in os.walk(folder):
        here = Path(place)
        inner.sort()
        if len(here.relative_to(folder).parts) >= DEEPEST:
            inner.clear()
        if NAME in files:
            yield _check_run(here / NAME, str(here))
        elif REPORT in files:
            yield _load_run(here)
        for file in sorted(files):
            if file.endswith(PACKED):
                yield _check_run(here / file, str(here / file))


def _check_run(path: Path, place: str) -> FoundRun:
    try:
        return CheckRun(place=place, run=read_run(path))
    except NotARun as problem:
        return UnreadableRun(place=place, why=str(problem))


def _load_run(folder: Path) -> FoundRun:
    try:
        return read_load_run(folder)
    except NoReport as problem:
        return UnreadableRun(place=str(folder), why=str(problem))


SETTINGS: Final = ("tool_version", "dialect", "profile", "seed", "strict")


def verdict_changes(before: CheckRun, after: CheckRun) -> list[Difference]:
    strict = after.run.header.strict
    return list(differences(before.run.ledger, after.run.ledger, strict=strict))


def differing_conditions(before: CheckRun, after: CheckRun) -> Iterator[str]:
    """What makes two runs hard to compare, in words."""
    yield from differing_settings(before.run, after.run, SETTINGS)
    if before.run.header.everything != after.run.header.everything:
        yield "the selection of requirements differs"


def cut_short(run: CheckRun) -> Iterator[str]:
    if run.run.footer.cut:
        yield f"it ended early: {run.run.footer.cut}"
