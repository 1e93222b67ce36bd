"""Gathers the evidence of all experiments in the order of their schedule."""

import asyncio
from collections.abc import Callable
from contextlib import nullcontext
from typing import Final, Protocol

from hookproof.conformance.model.experiment_registry import Experiment
from hookproof.conformance.run.gathering.schedule import (
    HELD_BACK_S,
    ExperimentSchedule,
    Passages,
)

# This many busy experiments load a target fully. More would only delay the start of the others,
# which mostly wait.
BUSY_AT_ONCE: Final = 4


class Gather(Protocol):
    """What gathers the evidence of one experiment, beside others or alone."""

    async def __call__(self, experiment: Experiment, /, *, beside: bool = False) -> None: ...


async def gather_in_order(
    schedule: ExperimentSchedule,
    passages: Passages,
    gather: Gather,
    crowd_is_over: Callable[[], object],
) -> None:
    """Gather once for each experiment; `crowd_is_over` is called when none is busy any more."""
    busy_slots = asyncio.Semaphore(BUSY_AT_ONCE)

    async def gather_beside(experiment: Experiment) -> None:
        async with busy_slots if experiment.busy else nullcontext():
            try:
                await gather(experiment, beside=True)
            finally:
                passages.release(experiment.name)

    tasks = {
        experiment.name: asyncio.ensure_future(gather_beside(experiment))
        for experiment in schedule.at_once
    }

    async def gather_late() -> None:
        if crowd := [tasks[experiment.name] for experiment in schedule.crowd]:
            await asyncio.wait(crowd)
        crowd_is_over()
        for alike in schedule.late:
            await asyncio.gather(*map(gather_beside, alike))

    at_most = asyncio.get_running_loop().call_later(HELD_BACK_S, passages.release_all)
    await asyncio.gather(*tasks.values(), gather_late())
    at_most.cancel()
    for experiment in schedule.last:
        await gather(experiment)
