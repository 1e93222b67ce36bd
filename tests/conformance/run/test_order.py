"""Which experiments begin when, beside which others, and which are gathered again."""

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence

import pytest

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.grading.doubt import Doubt
from hookproof.conformance.model.evidence import Evidence, Exchange, NotObserved
from hookproof.conformance.model.experiment_registry import Sharing
from hookproof.conformance.model.gathered_evidence import Ending
from hookproof.conformance.run import runner as runner_module
from hookproof.conformance.run.runner import UNCONFIRMED
from hookproof.conformance.run.schedule import SENDERS_AT_ONCE
from tests.conformance.canned_evidence import CannedObservation, intake
from tests.conformance.run.experiment_runner import lists, named, results, runner
from tests.conformance.scripted_target import empty_page, stand_in


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


def test_others_begin_when_none_in_their_project_is_loud_any_more() -> None:
    order: list[str] = []
    other_has_ended = asyncio.Event()

    async def loud(context: ExperimentContext) -> None:
        await context.trial("call").call("listSources", role="list")
        order.append("loud")

    async def elsewhere(_context: ExperimentContext) -> None:
        await asyncio.wait_for(other_has_ended.wait(), 60)
        order.append("elsewhere")

    async def other(_context: ExperimentContext) -> None:
        order.append("other")
        other_has_ended.set()

    # Every second one shares a project.
    experiments = [named(each.__name__, each) for each in (loud, elsewhere, other)]
    results(*experiments, busy=["loud", "elsewhere"], total_s=1000)
    assert order == ["loud", "other", "elsewhere"]


def test_those_that_share_a_project_send_a_broadcast_together() -> None:
    shown: dict[str, Exchange] = {}

    async def broadcast(context: ExperimentContext) -> None:
        if context.shared_broadcasts is not None:
            name = context.experiment
            shown[name] = await context.shared_broadcasts.join(name, f"marker of {name}")

    # Every second one shares a project.
    results(*(named(name, broadcast) for name in "abcd"))
    for one, other in ("ac", "bd"):
        assert shown[one] is shown[other]
        data = shown[one].request_json["data"]
        assert data == {"marker": f"marker of {one}", "markers": [f"marker of {other}"]}
    results(named("alone", broadcast))
    assert "alone" not in shown


def test_others_wait_for_loud_ones_no_longer_than_a_share_of_the_time_budget() -> None:
    other_has_ended = asyncio.Event()
    receiving: list[bool] = []

    async def loud(context: ExperimentContext) -> None:
        receiving.append(context.others_receive())
        await other_has_ended.wait()
        receiving.append(context.others_receive())

    async def elsewhere(_context: ExperimentContext) -> None:
        pass

    async def other(_context: ExperimentContext) -> None:
        other_has_ended.set()

    experiments = [named(each.__name__, each) for each in (loud, elsewhere, other)]
    gathered, _, cut = results(*experiments, busy=["loud"], total_s=8)
    assert {each.ending for each in gathered.values()} == {Ending.COMPLETE}
    assert cut is None
    assert receiving == [False, True]


def test_the_crowd_is_over_before_those_that_wait_have_ended() -> None:
    busy_are_over = threading.Event()

    async def busy(context: ExperimentContext) -> None:
        await context.trial("call").call("listSources", role="list")

    async def waiting(_context: ExperimentContext) -> None:
        assert await asyncio.to_thread(busy_are_over.wait, 60)

    gathers = [named(each.__name__, each) for each in (busy, waiting)]
    with stand_in(empty_page) as url, runner(url, *gathers, busy=["busy"]) as run:
        run.open()
        run.begin(intake(lambda _: None))
        run.wait_for_busy_ones()
        assert run.gathered("busy").ending is Ending.COMPLETE
        assert run.under_way() == ("waiting",)
        busy_are_over.set()
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
        run.wait_for_busy_ones()
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


def test_what_was_not_seen_is_gathered_again_side_by_side_and_what_accuses_then_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun: list[str] = []
    both_again = asyncio.Event()

    def doubt_about(evidence: Sequence[Evidence], *_: object) -> Doubt | None:
        names = {each.experiment for each in evidence}
        if any(isinstance(each, NotObserved) for each in evidence):
            return Doubt.UNSEEN
        return Doubt.ACCUSING if names == {"accusing"} else None

    async def evidence_of(context: ExperimentContext) -> Evidence:
        begun.append(context.experiment)
        times = begun.count(context.experiment)
        trial = context.trial("call")
        await trial.call("listSources", role="list")
        if times == 1:
            return trial.not_observed(CannedObservation, "others were in the way")
        if begun.count("accusing") == begun.count("passing") == 2:
            both_again.set()
        await asyncio.wait_for(both_again.wait(), 60)
        return trial.observe(CannedObservation)

    async def accusing(context: ExperimentContext) -> AsyncIterator[Evidence]:
        yield await evidence_of(context)

    async def passing(context: ExperimentContext) -> AsyncIterator[Evidence]:
        yield await evidence_of(context)
        assert begun.count("accusing") <= 2

    monkeypatch.setattr(runner_module, "doubt_about", doubt_about)
    shared = {"accusing": Sharing.CONFIRMED, "passing": Sharing.CONFIRMED}
    found, _, _ = results(accusing, lists, passing, sharing=shared)
    assert (begun.count("accusing"), begun.count("passing")) == (3, 2)
    assert {each.ending for each in found.values()} == {Ending.COMPLETE}


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
        trial = context.trial("first")
        await trial.call("createBroadcastEvent", role="first", body={})
        context.let_others_broadcast(only_marked=True)
        await asyncio.wait_for(broadcast_waits.wait(), 60)
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


def test_others_begin_when_the_early_ones_have_broadcast() -> None:
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

    results(early, lists, second, sharing={"early": Sharing.EARLY, "second": Sharing.FIRST})
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
        if len(running) == SENDERS_AT_ONCE:
            all_busy.set()
        await asyncio.wait_for(all_busy.wait(), 60)
        await asyncio.wait_for(another_began.wait(), 60)
        running.remove(context.experiment)

    async def begin_beside(_context: ExperimentContext) -> None:
        await asyncio.wait_for(all_busy.wait(), 60)
        another_began.set()

    names = [f"busy {number}" for number in range(2 * SENDERS_AT_ONCE)]
    experiments = [named(name, busy) for name in names]
    gathered, _, _ = results(*experiments, named("not busy", begin_beside), busy=names)
    assert {each.ending for each in gathered.values()} == {Ending.COMPLETE}
    assert most_at_once == SENDERS_AT_ONCE


def test_a_run_that_is_cut_waits_until_every_experiment_has_ended() -> None:
    begun = {name: threading.Event() for name in ("at_once", "slowly")}
    ended: list[str] = []

    async def at_once(_context: ExperimentContext) -> None:
        begun["at_once"].set()
        await asyncio.Event().wait()

    async def slowly(_context: ExperimentContext) -> None:
        begun["slowly"].set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.2)  # as long as a process takes to end
            ended.append("slowly")

    gathers = [named(each.__name__, each) for each in (at_once, slowly)]
    with stand_in(empty_page) as url, runner(url, *gathers) as run:
        run.open()
        run.begin(intake(lambda _: None))
        assert all(event.wait(60) for event in begun.values())
        run.stop("enough")
        run.all_gathered()
    assert ended == ["slowly"]
