"""What takes long runs beside the event loop, and comes to its end."""

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest

from hookproof.conformance.model.evidence import Evidence
from hookproof.conformance.model.experiment_registry import Experiment
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.run.gathering.experiment_run import ExperimentRun
from hookproof.conformance.run.gathering.threads import run_in_thread
from tests.conformance.canned_evidence import CannedObservation, observation

PATIENCE_S = 30


class WaitingIntake:
    """Takes evidence in when the event loop has done something else meanwhile."""

    def __init__(self) -> None:
        self.may_go_on = threading.Event()

    def take(self, evidence: Evidence) -> Evidence:
        assert self.may_go_on.wait(PATIENCE_S)
        return evidence

    masked = take


class Answering:
    """A target that never fails."""

    outages: tuple[Any, ...] = ()

    async def confirm(self, _evidence: Evidence) -> None:
        """It answers."""


@pytest.mark.parametrize("tentative", [False, True])
def test_evidence_is_taken_in_while_the_event_loop_goes_on(tentative: bool) -> None:
    seen = observation(CannedObservation)

    async def observe(_context: Any) -> AsyncIterator[Evidence]:
        yield seen

    experiment = Experiment(
        name="one",
        gather=observe,
        observes=(CannedObservation,),
        profile=Profile.QUICK,
        busy=False,
        sharing={},
    )
    intake = WaitingIntake()
    run = ExperimentRun(
        experiment, cast("Any", intake), cast("Any", Answering()), tentative=tentative
    )

    async def gather() -> None:
        gathering = asyncio.ensure_future(run.gather(cast("Any", None)))
        asyncio.get_running_loop().call_soon(intake.may_go_on.set)
        await gathering

    asyncio.run(gather())
    assert run.observations == [seen]


def test_what_has_begun_comes_to_its_end_although_it_is_cancelled() -> None:
    begun, may_go_on, ended = threading.Event(), threading.Event(), list[str]()

    def work() -> None:
        begun.set()
        assert may_go_on.wait(PATIENCE_S)
        ended.append("work")

    async def cancel() -> None:
        working = asyncio.ensure_future(run_in_thread(work))
        assert await asyncio.to_thread(begun.wait, PATIENCE_S)
        working.cancel()
        asyncio.get_running_loop().call_soon(may_go_on.set)
        with pytest.raises(asyncio.CancelledError):
            await working
        ended.append("task")

    asyncio.run(cancel())
    assert ended == ["work", "task"]


def test_what_it_raises_is_raised() -> None:
    def broken() -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        asyncio.run(run_in_thread(broken))
