"""Large evidence is taken in beside the event loop, and to its end; small evidence at once."""

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest

from hookproof.conformance.model.evidence import Evidence
from hookproof.conformance.model.experiment_registry import Experiment
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.run.experiment_run import LARGE, ExperimentRun
from tests.conformance.canned_evidence import CannedObservation, delivery, exchange, observation

PATIENCE_S = 30
LARGE_BODY = b"x" * (LARGE + 1)


class WaitingIntake:
    """Takes evidence in when the event loop has done something else meanwhile, and notes where."""

    def __init__(self) -> None:
        self.begun, self.may_go_on = threading.Event(), threading.Event()
        self.thread: threading.Thread | None = None

    def take(self, evidence: Evidence) -> Evidence:
        self.begun.set()
        self.thread = threading.current_thread()
        assert self.may_go_on.wait(PATIENCE_S)
        return evidence

    examined = take


class Answering:
    """A target that never fails."""

    outages: tuple[Any, ...] = ()

    async def confirm(self, _evidence: Evidence) -> None:
        """It answers."""


def running(seen: Evidence, intake: WaitingIntake, *, tentative: bool = False) -> ExperimentRun:
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
    target: Any = Answering()
    return ExperimentRun(experiment, cast("Any", intake), target, tentative=tentative)


@pytest.mark.parametrize("tentative", [False, True])
@pytest.mark.parametrize("role", ["answer", "request"])
def test_evidence_is_taken_in_while_the_event_loop_goes_on(role: str, tentative: bool) -> None:
    body = {"request_body": LARGE_BODY} if role == "request" else {"body": LARGE_BODY}
    seen = observation(CannedObservation, exchange(**body))
    intake = WaitingIntake()
    run = running(seen, intake, tentative=tentative)

    async def gather() -> None:
        gathering = asyncio.ensure_future(run.gather(cast("Any", None)))
        asyncio.get_running_loop().call_soon(intake.may_go_on.set)
        await gathering

    asyncio.run(gather())
    assert run.observations == [seen]


def test_small_evidence_is_taken_in_without_a_thread() -> None:
    seen, intake = observation(CannedObservation, exchange()), WaitingIntake()
    intake.may_go_on.set()
    run = running(seen, intake)
    asyncio.run(run.gather(cast("Any", None)))
    assert (run.observations, intake.thread) == ([seen], threading.current_thread())


def test_what_is_taken_in_as_the_run_is_cut_counts() -> None:
    seen = observation(CannedObservation, deliveries=[delivery(body=LARGE_BODY)])
    intake = WaitingIntake()

    async def cut(run: ExperimentRun) -> None:
        gathering = asyncio.ensure_future(run.gather(cast("Any", None)))
        assert await asyncio.to_thread(intake.begun.wait, PATIENCE_S)
        gathering.cancel()
        asyncio.get_running_loop().call_soon(intake.may_go_on.set)
        with pytest.raises(asyncio.CancelledError):
            await gathering

    run = running(seen, intake)
    asyncio.run(cut(run))
    assert run.observations == [seen]
