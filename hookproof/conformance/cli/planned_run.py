"""What a run will do, when, and how long that takes, for people."""

import textwrap
from collections.abc import Iterator
from itertools import chain
from typing import Final

from hookproof.conformance.model.experiment_registry import Experiment
from hookproof.conformance.run.schedule import ExperimentSchedule
from hookproof.conformance.target.project_assignment import projects_needed

WIDTH: Final = 96
# From which part of the time budget on a run is near it.
NEAR: Final = 0.8


def plan_lines(schedule: ExperimentSchedule, budget_s: float, expected_s: float) -> Iterator[str]:
    """The plan of a run with this time budget that is expected to take so long."""
    experiments = _counted(len(schedule.experiments), "experiment")
    used = {project.id for projects in schedule.projects.values() for project in projects}
    projects = _counted(len(used), "project")
    yield f"{experiments} in {projects}, about {expected_s:.0f} s on an otherwise idle machine:"
    for when, planned in (
        ("before", schedule.loud if schedule.is_shared else ()),
        ("quietly", schedule.quiet),
        ("early", schedule.early),
        ("first", schedule.first),
        ("side by side", _others(schedule)),
        *(("later", alike) for alike in schedule.late),
        ("then alone", schedule.last),
    ):
        names = ", ".join(experiment.name for experiment in planned)
        yield from textwrap.wrap(
            names, WIDTH, initial_indent=f"  {when:<14}", subsequent_indent=" " * 16
        )
    confirmed = [each.name for each in schedule.experiments if schedule.is_confirmed(each)]
    if confirmed:
        words = (
            f"What speaks against the target is gathered again, alone: {', '.join(confirmed)}; and"
            " of the others what the document states, generated requests aside."
        )
        yield from textwrap.wrap(words, WIDTH)
    if schedule.is_shared:
        needed = projects_needed(len(schedule.experiments))
        yield f"With {needed} projects in the target file no two experiments share one."
    if too_long := budget_warning(schedule, budget_s, expected_s):
        yield from textwrap.wrap(f"{too_long[0].upper()}{too_long[1:]}.", WIDTH)


def budget_warning(schedule: ExperimentSchedule, budget_s: float, expected_s: float) -> str | None:
    """That the run is near its time budget or beyond it, if it is, and what is left out first."""
    if expected_s < budget_s * NEAR:
        return None
    late = ", ".join(experiment.name for experiment in (*chain(*schedule.late), *schedule.last))
    first_of_all = f" (first of all {late})" if late else ""
    return (
        f"the run takes about {expected_s:.0f} s, and its time budget is {budget_s:g} s: what is"
        f" not done by then is left out{first_of_all}; --budget gives more time"
    )


def _others(schedule: ExperimentSchedule) -> tuple[Experiment, ...]:
    before = schedule.loud if schedule.is_shared else ()
    return tuple(experiment for experiment in schedule.beside if experiment not in before)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
