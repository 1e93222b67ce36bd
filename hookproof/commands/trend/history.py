"""The runs of a folder by what they tested, in the order of time, each with what changed."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from hookproof.commands.trend.check_runs import cut_short, differing_conditions, verdict_changes
from hookproof.commands.trend.found_runs import CheckRun, FoundRun, UnreadableRun
from hookproof.commands.trend.load_runs import (
    FigureChange,
    LoadRun,
    figure_changes,
    other_conditions,
)
from hookproof.conformance.results.comparison import Difference

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
