"""Experiments run concurrently, end for a reason, and keep the evidence that they have gathered."""

import asyncio
import threading
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.grading.doubt import Doubt
from hookproof.conformance.model.evidence import Evidence, NotObserved, PreconditionFailed
from hookproof.conformance.model.gathered_evidence import Ending
from hookproof.conformance.run.runner import Runner
from hookproof.conformance.target.hooks.created_endpoints import CreatedEndpoints
from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.receiver.http.authority import Authority
from hookproof.target.hooks.provision import HookFailures, Provision
from tests.conformance.canned_evidence import CannedObservation, exchange, intake
from tests.conformance.run.experiment_runner import PROJECTS, lists, named, results, runner
from tests.conformance.scripted_target import closed_port, empty_page, stand_in


def reason_of(evidence: Evidence) -> str:
    return evidence.reason if isinstance(evidence, NotObserved) else ""


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


def test_what_an_experiment_made_is_removed_while_others_go_on_in_its_project() -> None:
    removed = asyncio.Event()

    async def remove(_arguments: Mapping[str, Any]) -> None:
        removed.set()

    async def create(context: ExperimentContext) -> None:
        await context.trial("create").call("createEndpoint", role="create", body={})

    async def wait(_context: ExperimentContext) -> None:
        async with asyncio.timeout(30):
            await removed.wait()

    gathered, _, _ = results(
        named("creates", create),
        named("goes_on", wait),
        projects=PROJECTS[:1],
        provision=Provision(hooks={"remove_endpoint": remove}),
    )
    assert gathered["goes_on"].ending is Ending.COMPLETE


@pytest.mark.parametrize("is_over", [True, False])
def test_of_what_is_to_be_gathered_again_late_arrivals_are_still_awaited(is_over: bool) -> None:
    removed = []

    async def remove(_arguments: Mapping[str, Any]) -> None:
        removed.append("endpoint")

    endpoints = CreatedEndpoints()
    endpoints.note(PROJECTS[0], exchange(data={"uid": "e"}), "roll")
    run: Any = SimpleNamespace(
        _unconfirmed={} if is_over else {"roll": Doubt.UNSEEN},
        endpoints=endpoints,
        hook_failures=HookFailures(),
    )
    shared: Any = SimpleNamespace(
        shared_broadcasts="some", provision=Provision(hooks={"remove_endpoint": remove})
    )
    asyncio.run(Runner._tidy(run, "roll", shared))
    assert bool(removed) is is_over


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
    assert gathered["waits"].ending is Ending.CUT
    assert gathered["waits"].reason == "the time budget of 4 s is over"
    assert len(gathered["waits"].observations) == 1
    began_s = gathered["waits"].began_s
    assert began_s is not None
    assert 0 <= began_s <= 4 <= began_s + gathered["waits"].duration_s + 0.01


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


def test_a_run_that_is_stopped_just_before_it_begins_ends_as_stopped() -> None:
    with stand_in(empty_page) as url, runner(url, waits) as run:
        run.open()
        run.stop("enough")
        assert run.gathered("waits").ending is Ending.CUT
        run.begin(intake())
        assert run.gathered("waits").reason == "enough"


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
