"""When each experiment of a run goes to the target, in which projects, and beside which others.

Where each has a project of its own, all begin at once. Where projects are shared, broadcasts reach
the endpoints of others: `Sharing` says what that means for an experiment. So those go before the
others of their project that send many requests and may broadcast, while no endpoint is active, and
beside them those that broadcast nothing. Then come the early ones, then those that go first, and
when their broadcasts are out, the others. Those that must be alone go last, one by one. What has to
be confirmed is gathered again when all have ended.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from typing import Final, Protocol

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
        return (*self.early, *self.first, *others)

    @property
    def first(self) -> tuple[Experiment, ...]:
        """Those for which the broadcasts of others wait from the beginning."""
        return self._of(Sharing.FIRST)

    @property
    def early(self) -> tuple[Experiment, ...]:
        """Those for whose first broadcasts others wait before they create endpoints."""
        return self._of(Sharing.EARLY)

    @property
    def quiet(self) -> tuple[Experiment, ...]:
        """Those that broadcast nothing, and so need not wait for those that go first."""
        return self._of(Sharing.QUIET)

    @property
    def beside(self) -> tuple[Experiment, ...]:
        return self._of(Sharing.CONFIRMED, Sharing.BESIDE)

    @property
    def busy(self) -> tuple[Experiment, ...]:
        """Those that never wait: until they have ended, everything is busy."""
        return tuple(each for each in self.experiments if each.busy)

    @property
    def senders(self) -> tuple[Experiment, ...]:
        """Those of the busy ones that may broadcast."""
        return tuple(each for each in self.busy if self.sharing[each.name] is not Sharing.QUIET)

    def goes_ahead(self, experiment: Experiment) -> bool:
        """Whether it begins at once: so do busy and quiet ones, and those that generate,
        whose broadcasts are to be out before others create endpoints.
        """
        return experiment in (*self.senders, *self.quiet) or experiment.generates

    def senders_before(self, experiment: Experiment) -> tuple[Experiment, ...]:
        """The busy senders that go before it, in the same main project."""
        if self.goes_ahead(experiment):
            return ()
        return self.senders_in(self.projects[experiment.name][0])

    def senders_in(self, project: Project) -> tuple[Experiment, ...]:
        """The busy senders that have this one as their main project."""
        return tuple(each for each in self.senders if self.projects[each.name][0].id == project.id)

    @property
    def main_projects(self) -> tuple[Project, ...]:
        """The main project of each experiment, each project once."""
        return tuple({used[0].id: used[0] for used in self.projects.values()}.values())

    @property
    def late(self) -> tuple[tuple[Experiment, ...], ...]:
        """What begins when the busy senders have ended: those of each profile side by side, the
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

        after = [each for each in self.at_once if self.senders_before(each)]
        after_s = max(longest_s(after), sum(map(longest_s, self.late)))
        at_once_s = max(longest_s(self.at_once), longest_s(self.senders) + after_s)
        alone_s = sum(usual_s[experiment.name] for experiment in self.last)
        return AROUND_S + at_once_s + alone_s

    def _of(self, *kinds: Sharing) -> tuple[Experiment, ...]:
        return tuple(each for each in self.experiments if self.sharing[each.name] in kinds)


def schedule_of(plan: RunPlan, projects: Sequence[Project], *, fresh: bool) -> ExperimentSchedule:
    """The schedule of a run in these projects; `fresh` ones are created for this run.

    The projects are divided among all registered experiments, so that a run of a few gets the same
    ones, unless projects are created for the experiments of this run.
    """
    divided = plan.experiments if fresh else plan.every_experiment
    assigned = assign_projects(projects, divided).projects
    used = {experiment.name: assigned[experiment.name] for experiment in plan.experiments}
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


# How long broadcasts are held back at most; what was to be first is gathered again then.
HELD_BACK_S: Final = 6.0
# How long the first broadcasts of the early ones are waited for at most.
EARLY_S: Final = 2.0


class Passages:
    """Lets broadcasts pass when they disturb nothing any more.

    Those of the busy ones never wait, nor do generated ones before others have begun, nor the first
    broadcasts of the early ones. Those of most others wait for the first ones. Broadcasts
    that have the `marker` of the run, so that their deliveries can be told from anything else, may
    pass before others. `interrupted` are the experiments that took too long. Belongs to one event
    loop.
    """

    def __init__(
        self, schedule: ExperimentSchedule, projects: Iterable[Project], marker: bytes
    ) -> None:
        def sharing(kind: Sharing) -> dict[str, set[str]]:
            return {project.id: set(schedule.sharing_in(project, kind)) for project in known}

        known = tuple(projects)
        self.interrupted: set[str] = set()
        self._senders = {experiment.name for experiment in schedule.senders}
        self._generating = {each.name for each in schedule.experiments if each.generates}
        self._marker = marker
        self._first = sharing(Sharing.FIRST)
        self._early = sharing(Sharing.EARLY)
        by_weight = [each.name for each in sorted(schedule.early, key=_endpoints_per_broadcast)]
        self._lighter = {name: {*by_weight[:place]} for place, name in enumerate(by_weight)}
        self._let_marked_pass: set[str] = set()
        self._receiving: set[str] = set()
        self._change = asyncio.Event()

    async def passed(self, name: str, project: Project, body: bytes) -> None:
        """Wait until this experiment may broadcast this body in this project."""
        while self._are_in_the_way(name, project.id, body):
            await self._change.wait()

    async def others_passed(self, name: str, project: Project) -> None:
        """Wait until the broadcasts that come before this experiment in this project are out: the
        first ones of the early ones, and after these what goes first.

        Of the early ones those come first that have the fewest endpoints for their broadcasts.
        """
        while self._early[project.id] & self._lighter.get(name, self._early[project.id]) or (
            name not in self._lighter and self._held(name, project.id)
        ):
            await self._change.wait()

    def note_receivers(self, project: Project) -> None:
        """Note that those begin there for whose endpoints the busy senders went first."""
        self._receiving.add(project.id)

    def others_receive(self, project: Project) -> bool:
        """Whether they have begun, so that each broadcast there is delivered to their endpoints."""
        return project.id in self._receiving

    def release(self, name: str, *, only_marked: bool = False) -> None:
        """Let others broadcast, as far as this experiment is concerned."""
        self._let_marked_pass.add(name)
        for names in () if only_marked else self._all():
            names.discard(name)
        self._note_change()

    def release_early(self, project: Project) -> None:
        """Wait no longer for the early ones there, which are like the others from now on."""
        self._early[project.id].clear()
        self._note_change()

    def release_all(self, project: Project) -> None:
        """Let everything pass there, whatever it disturbs."""
        self.interrupted |= self._first[project.id]
        for names in (self._first[project.id], self._early[project.id]):
            names.clear()
        self._note_change()

    def _are_in_the_way(self, name: str, project: str, body: bytes) -> bool:
        first, early = (names.get(project, set()) for names in (self._first, self._early))
        if name in first | early | self._senders:
            return False
        if name in self._generating and project not in self._receiving:
            return False
        return bool(self._held(name, project) if self._marker in body else first)

    def _held(self, name: str, project: str) -> set[str]:
        """The experiments for which even broadcasts with a marker wait, unless it is one."""
        first = self._first.get(project, set())
        return set() if name in first else first - self._let_marked_pass

    def _all(self) -> Iterable[set[str]]:
        return (*self._first.values(), *self._early.values())

    def _note_change(self) -> None:
        self._change.set()
        self._change = asyncio.Event()


def _endpoints_per_broadcast(experiment: Experiment) -> float:
    return experiment.endpoints / max(1, experiment.broadcasts)


# So many busy experiments load a target fully: those that may broadcast, for which many others
# wait, and the rest. More would only delay those that mostly wait.
SENDERS_AT_ONCE: Final = 6
QUIET_AT_ONCE: Final = 1
# The share of a run's time budget after which the others begin in any case: a target may be so slow
# that the busy ones never end.
BUSY_SHARE: Final = 1 / 8


class Gather(Protocol):
    """What gathers the evidence of one experiment, beside others or alone."""

    async def __call__(self, experiment: Experiment, /, *, beside: bool = False) -> None: ...


async def gather_in_order(
    schedule: ExperimentSchedule,
    passages: Passages,
    gather: Gather,
    busy_are_over: Callable[[], object],
    budget_s: float,
) -> None:
    """Gather once for each experiment; `busy_are_over` is called when none is busy any more.

    `budget_s` is what the whole run may take.
    """
    side_by_side = _SideBySide(schedule, passages, gather, busy_s=BUSY_SHARE * budget_s)
    await side_by_side.gather_all(busy_are_over)
    for experiment in schedule.last:
        await gather(experiment)


class _SideBySide:
    """Gathers for the experiments that need not be alone."""

    def __init__(
        self, schedule: ExperimentSchedule, passages: Passages, gather: Gather, *, busy_s: float
    ) -> None:
        self._schedule = schedule
        self._passages = passages
        self._gather = gather
        self._busy_s = busy_s
        self._senders = asyncio.Semaphore(SENDERS_AT_ONCE)
        self._quiet = asyncio.Semaphore(QUIET_AT_ONCE)
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def gather_all(self, busy_are_over: Callable[[], object]) -> None:
        async def note_end_of_busy() -> None:
            await self._ended(self._schedule.busy)
            busy_are_over()

        # Where the run is cut, it waits until each experiment has ended its processes.
        async with asyncio.TaskGroup() as group:
            limits = [
                group.create_task(self._limit_holding(project))
                for project in self._schedule.main_projects
            ]
            for experiment in self._schedule.at_once:
                self._tasks[experiment.name] = group.create_task(self._begin(experiment))
            others = (
                *self._tasks.values(),
                group.create_task(self._gather_late()),
                group.create_task(note_end_of_busy()),
            )
            await asyncio.wait(others)
            for limit in limits:
                limit.cancel()

    async def _limit_holding(self, project: Project) -> None:
        """Let broadcasts in a project wait for those of others no longer than they may."""
        await self._ended(self._schedule.senders_in(project), timeout_s=self._busy_s)
        await asyncio.sleep(EARLY_S)
        self._passages.release_early(project)
        await asyncio.sleep(HELD_BACK_S - EARLY_S)
        self._passages.release_all(project)

    async def _begin(self, experiment: Experiment) -> None:
        if not self._schedule.goes_ahead(experiment):
            project = self._schedule.projects[experiment.name][0]
            await self._ended(self._schedule.senders_before(experiment), timeout_s=self._busy_s)
            await self._passages.others_passed(experiment.name, project)
            if experiment not in self._schedule.early:
                self._passages.note_receivers(project)
        async with self._slot(experiment):
            try:
                await self._gather(experiment, beside=True)
            finally:
                self._passages.release(experiment.name)

    async def _gather_late(self) -> None:
        await self._ended(self._schedule.senders)
        for alike in self._schedule.late:
            async with asyncio.TaskGroup() as group:
                for experiment in alike:
                    group.create_task(self._begin(experiment))

    async def _ended(
        self, experiments: Iterable[Experiment], *, timeout_s: float | None = None
    ) -> None:
        if running := [self._tasks[experiment.name] for experiment in experiments]:
            await asyncio.wait(running, timeout=timeout_s)

    def _slot(self, experiment: Experiment) -> AbstractAsyncContextManager[None]:
        if not experiment.busy:
            return nullcontext()
        return self._senders if experiment in self._schedule.senders else self._quiet
