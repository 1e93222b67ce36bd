import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.model.evidence import (
    Evidence,
    NotObserved,
    Observation,
    PreconditionFailed,
)
from hookproof.conformance.model.experiment_registry import Experiment, Gather
from hookproof.conformance.model.gathered_evidence import Ending, Gathered
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.run.plan import RunPlan
from hookproof.conformance.run.runner import BUSY_AT_ONCE, Runner
from hookproof.conformance.target.definition import Budgets, Project, Target
from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.receiver.http.authority import Authority
from hookproof.target.settings import ReceiverSettings
from tests.conformance.canned_evidence import CannedObservation, context, intake
from tests.conformance.scripted_target import closed_port, empty_page, stand_in

PROJECTS = (Project(id="p1", api_key="k1"), Project(id="p2", api_key="k2"))


@contextmanager
def runner(
    url: str,
    *gathers: Gather,
    alone: Sequence[str] = (),
    busy: Sequence[str] = (),
    total_s: float = 120,
    ca: Path | None = None,
) -> Any:
    """A runner for these experiments, not open yet."""
    check_context = context()
    names = [gather.__name__ for gather in gathers]
    settings = (
        ReceiverSettings()
        if ca is None
        else ReceiverSettings(ca=ca / "ca.pem", ca_key=ca / "ca.key")
    )
    plan = RunPlan(
        subject=Target(
            base_url=url,
            projects=PROJECTS,
            dialect=check_context.dialect,
            receiver=settings,
            budgets=Budgets(request_s=5, total_s=total_s),
        ),
        experiments=[
            Experiment(
                name=name,
                gather=gather,
                observes=(Observation,),
                profile=Profile.QUICK,
                alone=name in alone,
                busy=name in busy,
            )
            for name, gather in zip(names, gathers, strict=True)
        ],
        every_experiment=names,
        dialect=check_context.dialect,
        contract=check_context.contract,
        profile=Profile.QUICK,
        seed=3,
        nonce="run",
    )
    with Runner(plan) as run:
        yield run


def results(
    *gathers: Gather, **options: Any
) -> tuple[dict[str, Gathered], list[Evidence], str | None]:
    """The evidence of each experiment, all evidence in order of arrival, and why it was cut."""
    taken: list[Evidence] = []
    with stand_in(empty_page) as url, runner(url, *gathers, **options) as run:
        run.open()
        run.begin(intake(taken.append))
        return (
            {gather.__name__: run.gathered(gather.__name__) for gather in gathers},
            taken,
            run.cut,
        )


def reason_of(evidence: Evidence) -> str:
    return evidence.reason if isinstance(evidence, NotObserved) else ""


async def lists(context: ExperimentContext) -> AsyncIterator[Evidence]:
    trial = context.trial("list")
    await trial.call("listSources", role="list")
    yield trial.observe(CannedObservation)


async def lacks_a_portal_link(context: ExperimentContext) -> AsyncIterator[Evidence]:
    yield context.trial("first").observe(CannedObservation)
    raise PreconditionFailed("no portal link")


async def crashes(context: ExperimentContext) -> AsyncIterator[Evidence]:
    yield context.trial("first").observe(CannedObservation)
    raise KeyError("data")


async def waits(context: ExperimentContext) -> AsyncIterator[Evidence]:
    yield context.trial("first").observe(CannedObservation)
    await asyncio.Event().wait()


async def listens(context: ExperimentContext) -> AsyncIterator[Evidence]:
    trial = context.trial("first")
    token = await context.receiver.new_token()
    await trial.arrivals(token.token, count=1, timeout_s=0)
    yield trial.observe(CannedObservation)


def test_evidence_of_a_complete_experiment_is_kept() -> None:
    gathered, taken, cut = results(lists)
    assert gathered["lists"].ending is Ending.COMPLETE
    assert [
        exchange.status
        for observation in gathered["lists"].observations
        for exchange in observation.exchanges
    ] == [200]
    assert taken == list(gathered["lists"].observations)
    assert cut is None


def test_a_failed_precondition_ends_its_experiment_with_evidence_that_states_why() -> None:
    gathered, taken, _ = results(lacks_a_portal_link)
    assert [reason_of(evidence) for evidence in gathered["lacks_a_portal_link"].observations] == [
        "",
        "no portal link",
    ]
    assert gathered["lacks_a_portal_link"].ending is Ending.COMPLETE
    assert len(taken) == 2


def test_an_experiment_that_breaks_keeps_its_evidence_and_disturbs_no_other() -> None:
    gathered, _, cut = results(crashes, lists)
    assert (gathered["crashes"].ending, len(gathered["crashes"].observations)) == (
        Ending.CRASHED,
        1,
    )
    assert gathered["crashes"].reason.startswith(
        "The experiment crashes broke: KeyError: 'data' (test_runner.py:"
    )
    assert gathered["lists"].ending is Ending.COMPLETE
    assert cut is None


def test_the_time_budget_cuts_what_is_not_done() -> None:
    gathered, _, cut = results(waits, lists, total_s=4)
    assert cut == "the time budget of 4 s is over"
    assert (
        gathered["waits"].ending,
        gathered["waits"].reason,
        len(gathered["waits"].observations),
    ) == (
        Ending.CUT,
        cut,
        1,
    )


def test_a_run_can_be_stopped_and_keeps_what_it_has() -> None:
    with stand_in(empty_page) as url, runner(url, waits) as run:
        run.open()
        run.begin(intake(lambda _: run.stop("enough")))
        assert run.gathered("waits").reason == "enough"


def test_an_experiment_that_goes_on_after_the_end_reaches_the_target_no_more() -> None:
    asked = []

    async def stubborn(context: ExperimentContext) -> AsyncIterator[Evidence]:
        trial = context.trial("only")
        yield trial.observe(CannedObservation)
        try:
            await asyncio.Event().wait()
        finally:
            await trial.call("listPortalLinks", role="late")

    def answer(head: bytes) -> bytes:
        asked.append(head)
        return empty_page(head)

    with stand_in(answer) as url, runner(url, stubborn, total_s=4) as run:
        run.open()
        run.begin(intake())
        assert run.gathered("stubborn").ending is Ending.CUT
    assert not [head for head in asked if b"portal-links" in head]


def test_a_run_that_never_began_ends_too() -> None:
    with stand_in(empty_page) as url, runner(url, waits) as run:
        run.open()
    assert run.gathered("waits").ending is Ending.CRASHED


def test_a_target_out_of_reach_is_refused_before_anything_begins() -> None:
    with (
        closed_port() as url,
        runner(url, lists) as run,
        pytest.raises(CommandError, match="unreachable") as refused,
    ):
        run.open()
    assert refused.value.exit_code is ExitCode.UNREACHABLE


def test_nothing_can_be_received_from_a_target_that_cannot_know_our_ca() -> None:
    gathered, _, _ = results(listens)
    (evidence,) = gathered["listens"].observations
    assert "`hookproof ca DIR`" in reason_of(evidence)


def test_a_target_that_trusts_our_ca_is_listened_to(tmp_path: Path) -> None:
    Authority(tmp_path)
    gathered, _, _ = results(listens, ca=tmp_path)
    assert [reason_of(evidence) for evidence in gathered["listens"].observations] == [""]


def test_experiments_that_must_be_alone_come_after_all_others_and_one_by_one() -> None:
    running: list[str] = []
    seen: dict[str, list[str]] = {}
    together = asyncio.Event()

    def pausing(name: str) -> Gather:
        async def gather(context: ExperimentContext) -> AsyncIterator[Evidence]:
            running.append(name)
            if {"c", "d"} <= set(running):
                together.set()
            if name in {"c", "d"}:
                await asyncio.wait_for(together.wait(), 60)
            else:
                await asyncio.sleep(0.02)  # long enough for another to begin meanwhile
            seen[name] = list(running)
            running.remove(name)
            yield context.trial("only").observe(CannedObservation)

        gather.__name__ = name
        return gather

    results(*(pausing(name) for name in "abcd"), alone=("a", "b"))
    assert (seen["a"], seen["b"]) == (["a"], ["b"])
    assert together.is_set()


def test_few_busy_experiments_run_at_once_and_the_others_beside_them() -> None:
    running: set[str] = set()
    most = 0
    names = [f"busy {number}" for number in range(2 * BUSY_AT_ONCE)]
    all_busy, waiting = asyncio.Event(), asyncio.Event()

    def named(name: str) -> Gather:
        async def gather(context: ExperimentContext) -> AsyncIterator[Evidence]:
            nonlocal most
            running.add(name)
            most = max(most, len(running))
            if len(running) == BUSY_AT_ONCE:
                all_busy.set()
            await asyncio.wait_for(all_busy.wait(), 60)
            await asyncio.wait_for(waiting.wait(), 60)
            running.remove(name)
            yield context.trial("only").observe(CannedObservation)

        gather.__name__ = name
        return gather

    async def waits_too(context: ExperimentContext) -> AsyncIterator[Evidence]:
        await asyncio.wait_for(all_busy.wait(), 60)
        waiting.set()
        yield context.trial("only").observe(CannedObservation)

    gathered, _, _ = results(*map(named, names), waits_too, busy=names)
    assert {each.ending for each in gathered.values()} == {Ending.COMPLETE}
    assert most == BUSY_AT_ONCE


def test_experiments_are_named_as_they_end_until_the_awaited_one_has() -> None:
    go_on = threading.Event()

    async def last(context: ExperimentContext) -> AsyncIterator[Evidence]:
        await asyncio.get_running_loop().run_in_executor(None, go_on.wait, 60)
        yield context.trial("only").observe(CannedObservation)

    with stand_in(empty_page) as url, runner(url, lists, lacks_a_portal_link, last) as run:
        run.open()
        run.begin(intake())
        named = []
        for name in run.meanwhile("last"):
            named.append(name)
            if len(named) == 2:
                go_on.set()
        assert sorted(named) == ["lacks_a_portal_link", "lists"]
        assert run.gathered("last").ending is Ending.COMPLETE
        assert list(run.meanwhile("lists")) == []


def test_chance_is_seeded_for_each_experiment_apart() -> None:
    drawn: list[tuple[str, float]] = []

    async def first(context: ExperimentContext) -> AsyncIterator[Evidence]:
        drawn.append((context.experiment, context.random.random()))
        yield context.trial("only").observe(CannedObservation)

    async def second(context: ExperimentContext) -> AsyncIterator[Evidence]:
        drawn.append((context.experiment, context.random.random()))
        yield context.trial("only").observe(CannedObservation)

    results(first, second)
    results(first, second)
    assert len(set(drawn)) == 2
    assert len({number for _, number in drawn}) == 2
