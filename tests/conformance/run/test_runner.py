"""Experiments run concurrently, end for a reason, and keep the evidence that they have gathered."""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.model.evidence import Evidence, NotObserved, PreconditionFailed
from hookproof.conformance.model.experiment_registry import Gather, Sharing
from hookproof.conformance.model.gathered_evidence import Ending, Gathered
from hookproof.conformance.run.gathering.order import LOUD_AT_ONCE
from hookproof.conformance.run.runner import UNCONFIRMED
from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.receiver.http.authority import Authority
from tests.conformance.canned_evidence import CannedObservation, intake
from tests.conformance.run.experiment_runner import runner
from tests.conformance.scripted_target import closed_port, empty_page, stand_in


def results(
    *gathers: Gather, **options: Any
) -> tuple[dict[str, Gathered], list[Evidence], str | None]:
    """The evidence of each experiment, all evidence in order of arrival, and why it was cut."""
    arrived: list[Evidence] = []
    with stand_in(empty_page) as url, runner(url, *gathers, **options) as run:
        run.open()
        run.begin(intake(arrived.append))
        return (
            {gather.__name__: run.gathered(gather.__name__) for gather in gathers},
            arrived,
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
    gathered, arrived, cut = results(lists)
    assert gathered["lists"].ending is Ending.COMPLETE
    assert [
        exchange.status
        for observation in gathered["lists"].observations
        for exchange in observation.exchanges
    ] == [200]
    assert arrived == list(gathered["lists"].observations)
    assert cut is None


def test_a_failed_precondition_ends_its_experiment_with_evidence_that_states_why() -> None:
    gathered, arrived, _ = results(lacks_a_portal_link)
    assert [reason_of(evidence) for evidence in gathered["lacks_a_portal_link"].observations] == [
        "",
        "no portal link",
    ]
    assert gathered["lacks_a_portal_link"].ending is Ending.COMPLETE
    assert len(arrived) == 2


def test_an_experiment_that_breaks_keeps_its_evidence_and_disturbs_no_other() -> None:
    gathered, _, cut = results(crashes, lists)
    assert gathered["crashes"].ending is Ending.CRASHED
    assert len(gathered["crashes"].observations) == 1
    assert gathered["crashes"].reason.startswith(
        "The experiment crashes broke: KeyError: 'data' (test_runner.py:"
    )
    assert gathered["lists"].ending is Ending.COMPLETE
    assert cut is None


def test_the_time_budget_cuts_what_is_not_done() -> None:
    gathered, _, cut = results(waits, lists, total_s=4)
    assert cut == "the time budget of 4 s is over; it leaves out waits"
    assert (gathered["waits"].ending, gathered["waits"].reason) == (Ending.CUT, cut)
    assert len(gathered["waits"].observations) == 1


def test_a_run_can_be_stopped_and_keeps_what_it_has() -> None:
    with stand_in(empty_page) as url, runner(url, waits) as run:
        run.open()
        run.begin(intake(lambda _: run.stop("enough")))
        assert run.gathered("waits").reason == "enough"


def test_an_experiment_that_continues_after_the_end_does_not_reach_the_target() -> None:
    heads = []

    async def stubborn(context: ExperimentContext) -> AsyncIterator[Evidence]:
        trial = context.trial("only")
        yield trial.observe(CannedObservation)
        try:
            await asyncio.Event().wait()
        finally:
            await trial.call("listPortalLinks", role="late")

    def answer(head: bytes) -> bytes:
        heads.append(head)
        return empty_page(head)

    with stand_in(answer) as url, runner(url, stubborn, total_s=4) as run:
        run.open()
        run.begin(intake())
        assert run.gathered("stubborn").ending is Ending.CUT
    assert not [head for head in heads if b"portal-links" in head]


def test_a_run_that_was_never_begun_ends_too() -> None:
    with stand_in(empty_page) as url, runner(url, waits) as run:
        run.open()
    assert run.gathered("waits").ending is Ending.CUT


def test_an_unreachable_target_is_refused_before_anything_begins() -> None:
    with (
        closed_port() as url,
        runner(url, lists) as run,
        pytest.raises(CommandError, match="unreachable") as refused,
    ):
        run.open()
    assert refused.value.exit_code is ExitCode.UNREACHABLE


def test_without_a_ca_that_the_target_can_trust_nothing_can_be_received() -> None:
    gathered, _, _ = results(listens)
    (evidence,) = gathered["listens"].observations
    assert "`hookproof ca DIR`" in reason_of(evidence)


def test_with_a_ca_that_the_target_can_trust_deliveries_can_be_received(tmp_path: Path) -> None:
    Authority(tmp_path)
    gathered, _, _ = results(listens, ca=tmp_path)
    assert [reason_of(evidence) for evidence in gathered["listens"].observations] == [""]


def named(name: str, work: Callable[[ExperimentContext], Awaitable[None]]) -> Gather:
    """An experiment of this name that does this work before it observes something."""

    async def gather(context: ExperimentContext) -> AsyncIterator[Evidence]:
        await work(context)
        yield context.trial("only").observe(CannedObservation)

    gather.__name__ = name
    return gather


def test_experiments_that_must_be_alone_come_after_all_others_and_one_by_one() -> None:
    running: list[str] = []
    beside: dict[str, list[str]] = {}
    both_others_began = asyncio.Event()

    async def work(context: ExperimentContext) -> None:
        running.append(context.experiment)
        if {"c", "d"} <= set(running):
            both_others_began.set()
        if context.experiment in {"c", "d"}:
            await asyncio.wait_for(both_others_began.wait(), 60)
        else:
            # Whatever starts together with this experiment begins before the target answers it.
            await context.trial("call").call("listSources", role="list")
        beside[context.experiment] = list(running)
        running.remove(context.experiment)

    gathered, _, _ = results(
        *(named(name, work) for name in "abcd"), sharing=dict.fromkeys("ab", Sharing.ALONE)
    )
    assert {each.ending for each in gathered.values()} == {Ending.COMPLETE}
    assert (beside["a"], beside["b"]) == (["a"], ["b"])


def test_late_ones_begin_when_no_other_is_busy() -> None:
    order: list[str] = []
    late_has_ended = asyncio.Event()

    async def busy(context: ExperimentContext) -> None:
        await context.trial("call").call("listSources", role="list")
        order.append("busy")

    async def waiting(_context: ExperimentContext) -> None:
        await asyncio.wait_for(late_has_ended.wait(), 60)
        order.append("waiting")

    async def late(_context: ExperimentContext) -> None:
        order.append("late")
        late_has_ended.set()

    experiments = [named(each.__name__, each) for each in (busy, waiting, late)]
    results(*experiments, sharing={"late": Sharing.LATE}, busy=["busy"])
    assert order == ["busy", "late", "waiting"]


def test_the_crowd_is_over_before_those_that_wait_have_ended() -> None:
    crowd_is_over = threading.Event()

    async def busy(context: ExperimentContext) -> None:
        await context.trial("call").call("listSources", role="list")

    async def waiting(_context: ExperimentContext) -> None:
        assert await asyncio.to_thread(crowd_is_over.wait, 60)

    gathers = [named(each.__name__, each) for each in (busy, waiting)]
    with stand_in(empty_page) as url, runner(url, *gathers, busy=["busy"]) as run:
        run.open()
        run.begin(intake(lambda _: None))
        run.wait_for_crowd()
        assert run.gathered("busy").ending is Ending.COMPLETE
        assert run.under_way() == ("waiting",)
        crowd_is_over.set()
        assert run.gathered("waiting").ending is Ending.COMPLETE


def test_a_run_that_is_stopped_has_no_crowd() -> None:
    async def endless(_context: ExperimentContext) -> None:
        await asyncio.Event().wait()

    with (
        stand_in(empty_page) as url,
        runner(url, named("endless", endless), busy=["endless"]) as run,
    ):
        run.open()
        run.begin(intake(lambda _: None))
        run.stop("it was enough")
        run.wait_for_crowd()
        assert run.gathered("endless").ending is Ending.CUT


def test_what_accuses_beside_others_is_gathered_again_without_them() -> None:
    begun: list[str] = []

    async def accused(context: ExperimentContext) -> AsyncIterator[Evidence]:
        begun.append("accused")
        trial = context.trial("call")
        await trial.call("listSources", role="list")
        if begun.count("accused") == 1:
            yield trial.not_observed(CannedObservation, "others were in the way")
        else:
            yield trial.observe(CannedObservation)

    async def last(context: ExperimentContext) -> AsyncIterator[Evidence]:
        begun.append("last")
        yield context.trial("first").observe(CannedObservation)

    # Of two projects the first and the third experiment share one.
    gathered, arrived, _ = results(
        accused, lists, last, sharing={"accused": Sharing.CONFIRMED, "last": Sharing.ALONE}
    )
    assert begun == ["accused", "last", "accused"]
    (observed,) = gathered["accused"].observations
    assert isinstance(observed, CannedObservation)
    assert len(arrived) == 3


def test_what_was_to_be_gathered_again_is_no_evidence_when_the_run_ends_before() -> None:
    async def accused(context: ExperimentContext) -> AsyncIterator[Evidence]:
        trial = context.trial("call")
        await trial.call("listSources", role="list")
        yield trial.not_observed(CannedObservation, "others were in the way")

    async def last(context: ExperimentContext) -> AsyncIterator[Evidence]:
        yield context.trial("first").observe(CannedObservation)
        await asyncio.Event().wait()

    sharing = {"accused": Sharing.CONFIRMED, "last": Sharing.ALONE}
    gathered, arrived, _ = results(accused, lists, last, sharing=sharing, total_s=4)
    assert gathered["accused"].ending is Ending.CUT
    assert gathered["accused"].observations == ()
    assert gathered["accused"].reason.endswith(UNCONFIRMED)
    assert "accused" not in {evidence.experiment for evidence in arrived}


def test_broadcasts_wait_for_those_that_go_first() -> None:
    order: list[str] = []
    broadcast_waits = asyncio.Event()

    async def first(context: ExperimentContext) -> AsyncIterator[Evidence]:
        await asyncio.wait_for(broadcast_waits.wait(), 60)
        trial = context.trial("first")
        await trial.call("createBroadcastEvent", role="first", body={})
        order.append("first")
        context.let_others_broadcast()
        yield trial.observe(CannedObservation)

    async def other(context: ExperimentContext) -> AsyncIterator[Evidence]:
        trial = context.trial("other")
        broadcast_waits.set()
        await trial.call("createBroadcastEvent", role="other", body={})
        order.append("other")
        yield trial.observe(CannedObservation)

    results(first, lists, other, sharing={"first": Sharing.FIRST})
    assert order == ["first", "other"]


def test_the_second_ones_begin_when_the_early_ones_have_broadcast() -> None:
    order: list[str] = []

    async def early(context: ExperimentContext) -> AsyncIterator[Evidence]:
        trial = context.trial("early")
        await trial.call("createBroadcastEvent", role="early", body={})
        order.append("early")
        context.let_others_broadcast()
        await trial.call("createBroadcastEvent", role="later", body={})
        order.append("later")
        yield trial.observe(CannedObservation)

    async def second(context: ExperimentContext) -> AsyncIterator[Evidence]:
        trial = context.trial("second")
        order.append("second begins")
        await trial.call("listSources", role="list")
        order.append("second ends")
        yield trial.observe(CannedObservation)

    results(early, lists, second, sharing={"early": Sharing.EARLY, "second": Sharing.SECOND})
    assert order == ["early", "second begins", "second ends", "later"]


def test_late_ones_begin_while_quiet_ones_are_busy() -> None:
    late_has_ended = asyncio.Event()

    async def quiet(_context: ExperimentContext) -> None:
        await asyncio.wait_for(late_has_ended.wait(), 60)

    async def late(_context: ExperimentContext) -> None:
        late_has_ended.set()

    gathered, _, _ = results(
        *(named(each.__name__, each) for each in (quiet, late)),
        lists,
        sharing={"quiet": Sharing.QUIET, "late": Sharing.LATE},
        busy=["quiet"],
    )
    assert {each.ending for each in gathered.values()} == {Ending.COMPLETE}


def test_only_a_few_busy_experiments_run_at_once_and_the_others_run_beside_them() -> None:
    running: set[str] = set()
    most_at_once = 0
    all_busy, another_began = asyncio.Event(), asyncio.Event()

    async def busy(context: ExperimentContext) -> None:
        nonlocal most_at_once
        running.add(context.experiment)
        most_at_once = max(most_at_once, len(running))
        if len(running) == LOUD_AT_ONCE:
            all_busy.set()
        await asyncio.wait_for(all_busy.wait(), 60)
        await asyncio.wait_for(another_began.wait(), 60)
        running.remove(context.experiment)

    async def begin_beside(_context: ExperimentContext) -> None:
        await asyncio.wait_for(all_busy.wait(), 60)
        another_began.set()

    names = [f"busy {number}" for number in range(2 * LOUD_AT_ONCE)]
    experiments = [named(name, busy) for name in names]
    gathered, _, _ = results(*experiments, named("not busy", begin_beside), busy=names)
    assert {each.ending for each in gathered.values()} == {Ending.COMPLETE}
    assert most_at_once == LOUD_AT_ONCE


def test_experiments_are_named_as_they_end_until_the_awaited_one_has() -> None:
    may_end = threading.Event()

    async def wait(_context: ExperimentContext) -> None:
        await asyncio.to_thread(may_end.wait, 60)

    last = named("last", wait)
    with stand_in(empty_page) as url, runner(url, lists, lacks_a_portal_link, last) as run:
        run.open()
        run.begin(intake())
        reported = []
        for name in run.meanwhile("last"):
            reported.append(name)
            if len(reported) == 2:
                may_end.set()
        assert sorted(reported) == ["lacks_a_portal_link", "lists"]
        assert run.gathered("last").ending is Ending.COMPLETE
        assert list(run.meanwhile("lists")) == []


def test_randomness_is_seeded_separately_for_each_experiment() -> None:
    drawn: list[tuple[str, float]] = []

    async def draw(context: ExperimentContext) -> None:
        drawn.append((context.experiment, context.random.random()))

    for _ in range(2):
        results(named("first", draw), named("second", draw))
    assert len(drawn) == 4
    assert len(set(drawn)) == 2
    assert len({number for _, number in drawn}) == 2
