"""When each experiment of a run goes to the target, and in which projects.

Where each has a project of its own, all begin at once. Where projects are shared, broadcasts reach
the endpoints of others: `Sharing` says what that means for an experiment. Broadcasts of the others
wait for those that go first. Those that must be alone go last, one by one, beside those that
broadcast nothing. What has to be confirmed is gathered again when all have ended.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hookproof.conformance.model.experiment_registry import Experiment, Sharing
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.run.plan import RunPlan
from hookproof.conformance.target.definition import Project
from hookproof.conformance.target.project_assignment import assign_projects

# How long broadcasts are held back at most; what was to be first is gathered again then.
HELD_BACK_S: Final = 6.0

# About how long what runs side by side takes on an otherwise idle machine, with the start and the
# reports, and each that goes last.
BESIDE_S: Final = {Profile.QUICK: 8.0, Profile.STANDARD: 24.0, Profile.DEEP: 75.0}
ALONE_S: Final = {Profile.QUICK: 3.0, Profile.STANDARD: 3.5, Profile.DEEP: 20.0}
# How long the start and the reports take.
AROUND_S: Final = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentSchedule:
    """The projects of each experiment of a run, and how it shares them with others of the run.

    `part` is the share of all experiments that the run has, `requests` about how many requests it
    sends.
    """

    profile: Profile
    experiments: tuple[Experiment, ...]
    projects: Mapping[str, tuple[Project, ...]]
    sharing: Mapping[str, Sharing]
    part: float = 1.0
    requests: float = 0.0

    @property
    def at_once(self) -> tuple[Experiment, ...]:
        """What begins at once; those that go first wait for nothing."""
        return (*self.first, *self.beside)

    @property
    def first(self) -> tuple[Experiment, ...]:
        """Those for which the broadcasts of others wait."""
        return self._of(Sharing.FIRST)

    @property
    def beside(self) -> tuple[Experiment, ...]:
        """Those that run side by side."""
        quiet = () if self.last else (Sharing.QUIET,)
        return self._of(Sharing.CONFIRMED, Sharing.BESIDE, *quiet)

    @property
    def last(self) -> tuple[Experiment, ...]:
        """What begins when those at once have ended, one after the other."""
        return self._of(Sharing.ALONE)

    @property
    def beside_last(self) -> tuple[Experiment, ...]:
        """Those that run side by side meanwhile."""
        return self._of(Sharing.QUIET) if self.last else ()

    @property
    def is_shared(self) -> bool:
        """Whether any two experiments work in the same project."""
        return any(map(self.shares_project, self.projects))

    def shares_project(self, name: str) -> bool:
        """Whether another experiment works in the project of this one."""
        return _is_shared(name, self.projects)

    def is_confirmed(self, experiment: Experiment) -> bool:
        """Whether what speaks against the target has to be gathered again, alone."""
        return self.sharing[experiment.name] in (Sharing.CONFIRMED, Sharing.FIRST)

    def going_first(self, project: Project) -> frozenset[str]:
        """The experiments for which broadcasts of others in this project wait."""
        return frozenset(
            experiment.name
            for experiment in self.first
            if self.projects[experiment.name][0].id == project.id
        )

    def expected_s(self, usual_s: Mapping[str, float], sending_s: float = 0.0) -> float:
        """About how long the run takes if nothing speaks against the target.

        `usual_s` are the durations of experiments in an earlier run. If one is missing, the target
        counts as fast. `sending_s` is how long its requests take by themselves.
        """
        return max(self._expected_s(usual_s), AROUND_S + sending_s)

    def _expected_s(self, usual_s: Mapping[str, float]) -> float:
        if not all(experiment.name in usual_s for experiment in self.experiments):
            beside_s = AROUND_S + self.part * (BESIDE_S[self.profile] - AROUND_S)
            return beside_s + len(self.last) * ALONE_S[self.profile]
        longest_s = max((usual_s[experiment.name] for experiment in self.at_once), default=0.0)
        return AROUND_S + longest_s + sum(usual_s[experiment.name] for experiment in self.last)

    def _of(self, *kinds: Sharing) -> tuple[Experiment, ...]:
        return tuple(each for each in self.experiments if self.sharing[each.name] in kinds)


def schedule_of(plan: RunPlan, projects: Sequence[Project], *, fresh: bool) -> ExperimentSchedule:
    """The schedule of a run in these projects; `fresh` ones are created for this run.

    The projects are divided among all registered experiments, so that a run of a few gets the same
    ones, unless projects are created for the experiments of this run.
    """
    own = [experiment.name for experiment in plan.experiments]
    assigned = assign_projects(projects, own if fresh else plan.every_experiment).projects
    used = {name: assigned[name] for name in own}
    return ExperimentSchedule(
        profile=plan.profile,
        experiments=tuple(plan.experiments),
        projects=used,
        sharing={
            experiment.name: experiment.sharing[plan.profile]
            if _is_shared(experiment.name, used)
            else Sharing.BESIDE
            for experiment in plan.experiments
        },
        part=plan.part,
        requests=plan.requests,
    )


def _is_shared(name: str, projects: Mapping[str, Sequence[Project]]) -> bool:
    """Whether another experiment of the run uses the main project of this one."""
    main = projects[name][0]
    return any(main in used for other, used in projects.items() if other != name)


class Passages:
    """Holds back broadcasts until the experiments that go first in their project let them pass.

    `interrupted` are the experiments that took too long for that. Belongs to one event loop.
    """

    def __init__(self, schedule: ExperimentSchedule, projects: Iterable[Project]) -> None:
        self.interrupted: set[str] = set()
        self._first = {project.id: set(schedule.going_first(project)) for project in projects}
        self._open = {project: asyncio.Event() for project in self._first}
        self._note_open()

    async def passed(self, project: Project) -> None:
        """Wait until broadcasts in this project disturb nothing any more."""
        is_open = self._open.get(project.id)
        if is_open is not None:
            await is_open.wait()

    def release(self, name: str) -> None:
        """Let others broadcast, as far as this experiment is concerned."""
        for names in self._first.values():
            names.discard(name)
        self._note_open()

    def release_all(self) -> None:
        """Let everything pass, whatever it disturbs."""
        for names in self._first.values():
            self.interrupted |= names
            names.clear()
        self._note_open()

    def _note_open(self) -> None:
        for project, names in self._first.items():
            if not names:
                self._open[project].set()
