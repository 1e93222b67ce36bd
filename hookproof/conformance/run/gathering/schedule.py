"""When each experiment of a run goes to the target, and in which projects.

Where each has a project of its own, all begin at once. Where projects are shared, broadcasts reach
the endpoints of others: `Sharing` says what that means for an experiment. So those go before the
others of their project that send many requests and may broadcast, while no endpoint is active, and
beside them those that broadcast nothing and those that take longest. Then the others begin; their
broadcasts wait for those of some of them. Those that must be alone go last, one by one. What has to
be confirmed is gathered again when all have ended.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hookproof.conformance.model.experiment_registry import Experiment, Sharing
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.run.plan import RunPlan
from hookproof.conformance.target.definition import Project
from hookproof.conformance.target.project_assignment import assign_projects

# What speaks against the target in one of these is gathered again.
CONFIRMED_ALONE: Final = (
    Sharing.CONFIRMED,
    Sharing.FIRST,
    Sharing.EARLY,
    Sharing.SECOND,
    Sharing.LATE,
)

# About how long what runs side by side takes on an otherwise idle machine, with the start and the
# reports, and each that goes last.
BESIDE_S: Final = {Profile.QUICK: 7.0, Profile.STANDARD: 23.0, Profile.DEEP: 75.0}
ALONE_S: Final = {Profile.QUICK: 0.5, Profile.STANDARD: 0.5, Profile.DEEP: 20.0}
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
        """What begins at once, in this order: those that wait long before those that are busy."""
        others = sorted((*self.quiet, *self.beside), key=lambda each: each.busy)
        return (*self.first, *self.early, *others)

    @property
    def first(self) -> tuple[Experiment, ...]:
        """Those for which the broadcasts of others wait from the beginning."""
        return self._of(Sharing.FIRST)

    @property
    def early(self) -> tuple[Experiment, ...]:
        """Those that take longest, and whose first broadcasts wait for nothing."""
        return self._of(Sharing.EARLY)

    @property
    def second(self) -> tuple[Experiment, ...]:
        """Those that begin then, and for which the broadcasts of others wait as well."""
        return self._of(Sharing.SECOND)

    @property
    def quiet(self) -> tuple[Experiment, ...]:
        """Those that broadcast nothing, and so need not wait for those that go first."""
        return self._of(Sharing.QUIET)

    @property
    def beside(self) -> tuple[Experiment, ...]:
        """Those that run side by side."""
        return self._of(Sharing.CONFIRMED, Sharing.BESIDE)

    @property
    def crowd(self) -> tuple[Experiment, ...]:
        """Those that never wait: until they have ended, everything is busy."""
        return tuple(each for each in self.experiments if each.busy)

    @property
    def loud(self) -> tuple[Experiment, ...]:
        """Those of the crowd that may broadcast."""
        return tuple(each for each in self.crowd if self.sharing[each.name] is not Sharing.QUIET)

    def loud_before(self, experiment: Experiment) -> tuple[Experiment, ...]:
        """The loud ones that go before it, in the same main project."""
        if experiment in (*self.loud, *self.quiet, *self.early):
            return ()
        return self.loud_in(self.projects[experiment.name][0])

    def loud_in(self, project: Project) -> tuple[Experiment, ...]:
        """The loud ones that have this one as their main project."""
        return tuple(each for each in self.loud if self.projects[each.name][0].id == project.id)

    @property
    def main_projects(self) -> tuple[Project, ...]:
        """The main project of each experiment, each project once."""
        return tuple({used[0].id: used[0] for used in self.projects.values()}.values())

    @property
    def late(self) -> tuple[tuple[Experiment, ...], ...]:
        """What begins when the loud ones have ended: those of each profile side by side, the
        lightest profile first.
        """
        by_profile = (
            [each for each in self._of(Sharing.LATE) if each.profile is profile]
            for profile in Profile
        )
        return tuple(tuple(alike) for alike in by_profile if alike)

    @property
    def last(self) -> tuple[Experiment, ...]:
        """What begins when all others have ended, one after the other."""
        return self._of(Sharing.ALONE)

    @property
    def is_shared(self) -> bool:
        """Whether any two experiments work in the same project."""
        return any(map(self.shares_project, self.projects))

    def shares_project(self, name: str) -> bool:
        """Whether another experiment works in the project of this one."""
        return _is_shared(name, self.projects)

    def is_confirmed(self, experiment: Experiment) -> bool:
        """Whether what speaks against the target has to be gathered again, alone."""
        return self.sharing[experiment.name] in CONFIRMED_ALONE

    def is_confirmed_if_stated(self, experiment: Experiment) -> bool:
        """Whether that holds where it shows that the target breaks the document's own word.

        Generated requests would be other ones then, and might not show it again.
        """
        return self.shares_project(experiment.name) and not experiment.generates

    def sharing_in(self, project: Project, *kinds: Sharing) -> frozenset[str]:
        """The experiments that share this project as their main one in one of these ways."""
        return frozenset(
            experiment.name
            for experiment in self._of(*kinds)
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

        def longest_s(experiments: Iterable[Experiment]) -> float:
            return max((usual_s[experiment.name] for experiment in experiments), default=0.0)

        after = [each for each in (*self.at_once, *self.second) if self.loud_before(each)]
        after_s = max(longest_s(after), sum(map(longest_s, self.late)))
        at_once_s = max(longest_s((*self.at_once, *self.second)), longest_s(self.loud) + after_s)
        alone_s = sum(usual_s[experiment.name] for experiment in self.last)
        return AROUND_S + at_once_s + alone_s

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
