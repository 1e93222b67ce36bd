"""An outage of the target ends the experiments under way, and nothing that it spoils is judged."""

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from subprocess import DEVNULL

import pytest

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.model.evidence import Evidence
from hookproof.conformance.model.experiment_registry import Sharing
from hookproof.conformance.model.gathered_evidence import Ending
from hookproof.conformance.run.target_watch import LISTS
from tests.conformance.canned_evidence import CannedObservation, intake
from tests.conformance.command import check, reported_requirements
from tests.conformance.reference_server import reference_server, write_target_file
from tests.conformance.run.experiment_runner import runner
from tests.conformance.scripted_target import empty_page, response, stand_in
from tests.source_tree import ROOT

AWAY_S = 0.6
DEADLINE_S = 30.0
OUTAGES = {"closes connections": None} | {f"says {status}": status for status in (502, 503, 504)}


class AnsweringTarget:
    """A target that an experiment sends away, for some time or for good."""

    def __init__(self, status: int | None = None) -> None:
        self.is_away = False
        self.missed = threading.Semaphore(0)
        self._status = status

    def answer(self, head: bytes) -> bytes | None:
        if not self.is_away:
            return empty_page(head)
        self.missed.release()
        return None if self._status is None else response(self._status, b"<html></html>")

    def come_back(self) -> None:
        self.is_away = False


async def observed(context: ExperimentContext, name: str) -> Evidence:
    trial = context.trial(name)
    await trial.call("listSources", role="list")
    return trial.observe(CannedObservation)


async def comes_later(context: ExperimentContext) -> AsyncIterator[Evidence]:
    yield await observed(context, "afterwards")


@pytest.mark.parametrize("status", OUTAGES.values(), ids=OUTAGES)
def test_an_outage_cuts_an_experiment_and_leaves_the_later_ones_alone(status: int | None) -> None:
    target = AnsweringTarget(status)

    async def is_under_way(context: ExperimentContext) -> AsyncIterator[Evidence]:
        yield await observed(context, "before")
        target.is_away = True
        context.loop.call_later(AWAY_S, target.come_back)
        yield await observed(context, "during")
        yield await observed(context, "after")

    gathers = (is_under_way, comes_later)
    with (
        stand_in(target.answer) as url,
        runner(
            url, *gathers, sharing=dict.fromkeys(("is_under_way", "comes_later"), Sharing.ALONE)
        ) as run,
    ):
        run.open()
        run.begin(intake())
        cut, later = run.gathered("is_under_way"), run.gathered("comes_later")
        assert run.cut == cut.reason
    assert cut.ending is Ending.CUT
    assert cut.reason.startswith("the target stopped answering after ")
    assert " s and was back after " in cut.reason
    assert [evidence.name for evidence in cut.observations] == ["before"]
    assert later.ending is Ending.COMPLETE
    assert [evidence.name for evidence in later.observations] == ["afterwards"]


def test_an_outage_without_a_call_of_the_experiments_is_noticed() -> None:
    target = AnsweringTarget()

    async def waits_meanwhile(context: ExperimentContext) -> AsyncIterator[Evidence]:
        observation = await observed(context, "waiting for a delivery")
        target.is_away = True
        # A client may try each request twice; the one after these is sent during the outage.
        for _ in range(2 * len(LISTS) + 1):
            assert await asyncio.to_thread(target.missed.acquire, timeout=DEADLINE_S)
        target.come_back()
        yield observation

    with stand_in(target.answer) as url, runner(url, waits_meanwhile) as run:
        run.open()
        run.begin(intake())
        assert run.gathered("waits_meanwhile").ending is Ending.CUT
        assert run.gathered("waits_meanwhile").observations == ()


def test_a_target_that_stays_away_ends_the_run_soon() -> None:
    target = AnsweringTarget()

    async def is_under_way(context: ExperimentContext) -> AsyncIterator[Evidence]:
        target.is_away = True
        while True:
            yield await observed(context, "in vain")

    with stand_in(target.answer) as url, runner(url, is_under_way) as run:
        run.open()
        run.begin(intake())
        gathered = run.gathered("is_under_way")
        assert gathered.reason == run.cut
    assert gathered.observations == ()
    assert gathered.reason.startswith("the target stopped answering after ")
    assert "was back" not in gathered.reason


@pytest.mark.parametrize("answer", [None, response(503)], ids=["closed", "503"])
def test_an_operation_that_fails_alone_is_evidence(answer: bytes | None) -> None:
    async def creates(context: ExperimentContext) -> AsyncIterator[Evidence]:
        trial = context.trial("only")
        await trial.call("createEndpoint", role="create", body={})
        yield trial.observe(CannedObservation)

    def fail_creations(head: bytes) -> bytes | None:
        return answer if head.startswith(b"POST") else empty_page(head)

    with stand_in(fail_creations) as url, runner(url, creates) as run:
        run.open()
        run.begin(intake())
        gathered = run.gathered("creates")
        assert run.cut is None
    assert gathered.ending is Ending.COMPLETE
    assert len(gathered.observations) == 1


def test_a_target_that_does_not_trust_the_ca_is_told_so_and_not_accused(tmp_path: Path) -> None:
    with reference_server(tmp_path, ROOT, "p1", trusts_ca=False, stderr=DEVNULL) as ready:
        target = write_target_file(
            tmp_path, ready["api"], "p1", budgets={"delivery_s": 4, "total_s": 60}
        )
        only = ("--only", "6-3", "--only", "6-6", "--only", "5-4")
        done = check(tmp_path, "--target", target, "--profile", "quick", *only)
    assert done.code == 3, done.out
    assert "does not trust the receiver's CA" in done.out
    assert "`hookproof doctor`" in done.out
    verdicts = {name: each["verdict"] for name, each in reported_requirements(tmp_path).items()}
    assert verdicts == {"5-4": "pass", "6-3": "not_exercised", "6-6": "not_exercised"}
