"""Finds the runs in a folder: of `hookproof check`, packed or not, and of `hookproof load`."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hookproof.commands.trend.load_runs import EMBEDDED, LoadRun, read_load_run
from hookproof.conformance.results.run_file import NAME, NotARun, Run, read_run
from hookproof.load.reports.comparison import REPORT, NoReport

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
