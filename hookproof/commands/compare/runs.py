"""Reads runs of `hookproof check` and `hookproof load`: named ones, and those in a folder."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import Any, Final

from hookproof.conformance.results.run_file import NAME, NotARun, Run, read_run, run_path
from hookproof.load.reports.comparison import REPORT, NoReport, read_report
from hookproof.process.exit_codes import CommandError

RATES: Final = ("ingest_rps", "delivery_rps", "knee")
PERCENTILES: Final = tuple(
    f"{what}_{quantile}" for what in ("ingest", "delivery") for quantile in ("p50", "p95", "p99")
)
COUNTS: Final = ("lost", "duplicated", "out_of_order", "refused")
SHOWN: Final = (*RATES, *PERCENTILES, *COUNTS)
# What was asked of the target: runs with other conditions are hard to compare.
CONDITIONS: Final = ("dialect", "rate", "duration_s", "users", "workers")
# It listens at another port in each run.
EMBEDDED: Final = "the embedded server"
PACKED: Final = ".zip"
# How far below a folder runs are looked for.
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
class UnreadableRun:
    """What looks like a run and cannot be read, and why."""

    place: str
    why: str


FoundRun = CheckRun | LoadRun | UnreadableRun


def named_places(words: Sequence[str]) -> list[tuple[str, Path]]:
    """Of each word, such as ours=runs/a, the name or none, and where the run is."""
    return [_named(word) for word in words]


def _named(word: str) -> tuple[str, Path]:
    name, sign, place = word.partition("=")
    return ("", Path(word)) if not sign or Path(word).exists() else (name, Path(place))


def read_check_run(place: Path) -> Run:
    """The finished run in a folder or a pack; raises CommandError."""
    try:
        return read_run(run_path(place))
    except NotARun as error:
        raise CommandError(str(error)) from None


def read_check_runs(place: Path) -> list[Run]:
    """The finished run at a place, or those in a folder that holds runs; raises CommandError."""
    if place.is_dir() and not (place / NAME).exists():
        found = [each.run for each in runs_in(place) if isinstance(each, CheckRun)]
        if found:
            return found
    return [read_check_run(place)]


def load_report_at(place: Path) -> Mapping[str, Any] | None:
    """The report of a load run in a folder or a file, None if there is none.

    A report of `hookproof check` counts through its run.jsonl.
    """
    if (place / NAME).exists() or not (place.suffix == ".json" or (place / REPORT).exists()):
        return None
    try:
        return read_report(str(place))
    except NoReport as problem:
        raise CommandError(str(problem)) from None


def runs_in(place: Path) -> Iterator[FoundRun]:
    """The run at a place, or every run in a folder and those in it, in the order of their names.

    Links to folders are not followed. Raises CommandError for a place that is none.
    """
    if place.is_file():
        yield _check_run(place, str(place))
    elif not place.is_dir():
        raise CommandError(f"{place} is no folder; name one that holds a run, or folders of runs")
    for here, inner, files in os.walk(place):
        inner.sort()
        if len(Path(here).relative_to(place).parts) >= DEEPEST:
            inner.clear()
        if NAME in files:
            yield _check_run(Path(here, NAME), here)
        elif REPORT in files:
            yield _load_run(here)
        for file in sorted(files):
            if file.endswith(PACKED):
                yield _check_run(Path(here, file), str(Path(here, file)))


def _check_run(path: Path, place: str) -> FoundRun:
    try:
        return CheckRun(place=place, run=read_run(path))
    except NotARun as problem:
        return UnreadableRun(place=place, why=str(problem))


def _load_run(folder: str) -> FoundRun:
    try:
        report = read_report(folder)
        figures = {
            name: _number(value)
            for name in SHOWN
            if (value := report["figures"].get(name)) is not None
        }
        return LoadRun(
            place=folder,
            # The first and last hours that a text can name raise OverflowError in UTC.
            started_at=datetime.fromisoformat(report["started_at"]).astimezone(UTC).timestamp(),
            target=EMBEDDED if report.get("embedded") is True else str(report["target"]),
            profile=str(report["profile"]),
            verdict=str(report["verdict"]),
            figures=figures,
            conditions={name: report.get(name) for name in CONDITIONS},
        )
    except NoReport as problem:
        return UnreadableRun(place=folder, why=str(problem))
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        why = f"{folder} has a report that cannot be read: {type(error).__name__}: {error}"
        return UnreadableRun(place=folder, why=why)


def _number(value: object) -> float:
    if isinstance(value, int | float) and isfinite(value):
        return float(value)
    raise ValueError(f"a figure is {value!r}")
