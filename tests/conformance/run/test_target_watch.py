"""An outage of the target ends the experiments under way, and nothing that it spoils is judged."""

import asyncio
import math
import threading
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from subprocess import DEVNULL

import pytest

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.model.evidence import Evidence, Exchange
from hookproof.conformance.model.experiment_registry import Sharing
from hookproof.conformance.model.gathered_evidence import Ending
from hookproof.conformance.run.target_watch import LISTS, TargetWatch
from hookproof.conformance.target.circuit_breaker import Breaker
from hookproof.conformance.target.client import ApiClient
from hookproof.conformance.target.definition import Project
from tests.conformance.canned_evidence import CannedObservation, exchange, intake, seen
from tests.conformance.canned_evidence import context as canned_context
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


@pytest.mark.parametrize(
    ("answer_took_s", "failure_takes_s", "back_at_s", "ends_at_s"),
    [
        (2.3, 10.0, 45.0, 50.0),
        (2.3, 10.0, math.inf, 80.0),
        (0.05, 10.0, 45.0, 40.0),
        (2.3, 0.001, 45.0, 5.0),
    ],
    ids=["busy", "busy for too long", "dead without a sign", "refused at once"],
)
def test_a_target_that_answered_slowly_before_it_fell_silent_is_waited_for(
    answer_took_s: float, failure_takes_s: float, back_at_s: float, ends_at_s: float
) -> None:
    """Each look asks twice: 20 s where nothing answers within 10."""
    now, given_up = [0.0], list[str]()

    class FadingClient(ApiClient):
        async def call(self, *_: object, **__: object) -> Exchange:
            is_back = now[0] >= back_at_s
            took_s = 0.05 if is_back else failure_takes_s
            now[0] += took_s
            answered = exchange() if is_back else exchange(status=None, problem="nothing came")
            return replace(answered, duration_s=took_s)

    async def sleep(seconds: float) -> None:
        now[0] += seconds

    async def find_outage() -> TargetWatch:
        used, breaker = canned_context(), Breaker()
        breaker.note(200, sent_at=-1.0, took_s=answer_took_s)
        api = FadingClient("http://h", used.contract, used.dialect, timeout_s=10, breaker=breaker)
        project = Project(id="p", api_key="k")
        watch = TargetWatch(api, project, breaker, given_up.append, lambda: now[0], sleep)
        await watch.confirm(seen(exchange(status=None)))
        return watch

    (outage,) = asyncio.run(find_outage()).outages
    assert now[0] == pytest.approx(ends_at_s, abs=1.0)
    assert given_up == ([] if outage.until_s is not None else [outage.words])
    assert (outage.until_s is not None) == (back_at_s < ends_at_s)


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
