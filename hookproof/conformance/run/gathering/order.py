"""Gathers the evidence of all experiments in the order of their schedule."""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Final, Protocol

from hookproof.conformance.model.experiment_registry import Experiment
from hookproof.conformance.run.gathering.passages import EARLY_S, HELD_BACK_S, Passages
from hookproof.conformance.run.gathering.schedule import ExperimentSchedule
from hookproof.conformance.target.definition import Project

# So many busy experiments load a target fully: those that may broadcast, for which many others
# wait, and the rest. More would only delay those that mostly wait.
LOUD_AT_ONCE: Final = 6
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
    crowd_is_over: Callable[[], object],
    budget_s: float,
) -> None:
    """Gather once for each experiment; `crowd_is_over` is called when none is busy any more.

    `budget_s` is what the whole run may take.
    """
    side_by_side = _SideBySide(schedule, passages, gather, busy_s=BUSY_SHARE * budget_s)
    await side_by_side.gather_all(crowd_is_over)
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
        self._loud = asyncio.Semaphore(LOUD_AT_ONCE)
        self._quiet = asyncio.Semaphore(QUIET_AT_ONCE)
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def gather_all(self, crowd_is_over: Callable[[], object]) -> None:
        async def note_end_of_crowd() -> None:
            await self._ended(self._schedule.crowd)
            crowd_is_over()

        # Where the run is cut, it waits until each experiment has ended its processes.
        async with asyncio.TaskGroup() as group:
            limits = [
                group.create_task(self._limit_holding(project))
                for project in self._schedule.main_projects
            ]
            for begin, experiments in (
                (self._begin, self._schedule.at_once),
                (self._begin_second, self._schedule.second),
            ):
                for experiment in experiments:
                    self._tasks[experiment.name] = group.create_task(begin(experiment))
            others = (
                *self._tasks.values(),
                group.create_task(self._gather_late()),
                group.create_task(note_end_of_crowd()),
            )
            await asyncio.wait(others)
            for limit in limits:
                limit.cancel()

    async def _limit_holding(self, project: Project) -> None:
        """Let broadcasts in a project wait for those of others no longer than they may."""
        await self._ended(self._schedule.loud_in(project), timeout_s=self._busy_s)
        await asyncio.sleep(EARLY_S)
        self._passages.release_early(project)
        await asyncio.sleep(HELD_BACK_S - EARLY_S)
        self._passages.release_all(project)

    async def _begin(self, experiment: Experiment) -> None:
        await self._ended(self._schedule.loud_before(experiment), timeout_s=self._busy_s)
        async with self._slot(experiment):
            try:
                await self._gather(experiment, beside=True)
            finally:
                self._passages.release(experiment.name)

    async def _begin_second(self, experiment: Experiment) -> None:
        await self._passages.early_ones_passed(self._schedule.projects[experiment.name][0])
        await self._begin(experiment)

    async def _gather_late(self) -> None:
        await self._ended(self._schedule.loud)
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
        return self._loud if experiment in self._schedule.loud else self._quiet
