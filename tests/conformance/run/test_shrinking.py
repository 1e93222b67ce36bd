"""The pass that looks for smaller requests: over a stand-in, and in a whole run against a faulty
server.
"""

import json
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.model.check_registry import Check, CheckContext, all_checks
from hookproof.conformance.model.evidence import Evidence, Exchange, Observation
from hookproof.conformance.model.judgement import Judgement
from hookproof.conformance.model.ledger import Entry, Finding, Ledger
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.results.run_file import NAME, read_run
from hookproof.conformance.run.regrading import regrade_run
from hookproof.conformance.run.shrinking import (
    Shrinking,
    ShrinkLimits,
    finding_key,
    prove,
    reapply_shrinking,
    replace_proofs,
)
from tests.conformance.canned_evidence import CannedObservation, context, exchange, intake
from tests.conformance.canned_run import finding, requirement
from tests.conformance.command import check
from tests.conformance.reference_server import reference_server
from tests.conformance.run.test_runner import PROJECTS, runner
from tests.conformance.run.test_whole_runs import requirements, target_file
from tests.conformance.scripted_target import empty_page, response, stand_in
from tests.source_tree import ROOT

QUERY = {"perPage": "12345", "sort": "ASC", "type": "http", "provider": "github"}
# One that shows in any broadcast, and one that takes a certain body.
FAULTS = ("flag_in_words", "invalid_text_breaks")


async def lists(context: ExperimentContext) -> AsyncIterator[Evidence]:
    trial = context.trial("list")
    await trial.call("listSources", role="list", query=QUERY)
    yield trial.observe(CannedObservation)


def breaks_on(*parts: bytes) -> object:
    """A target that answers 500 to any request whose first line holds all of these."""
    return lambda head: (
        response(500)
        if all(part in head.partition(b"\r\n")[0] for part in parts)
        else empty_page(head)
    )


def server_error(check: Check, observation: Observation) -> Finding:
    judgements = check.judgements(observation, context())
    judgement = next(each for each in judgements if each.verdict is Verdict.FAIL)
    return Finding(
        requirement=judgement.requirement,
        check=check.name,
        message=judgement.message,
        expected=judgement.expected,
        actual=judgement.actual,
        exchanges=judgement.exchanges,
        deliveries=(),
        count=1,
        experiment=observation.experiment,
        case=observation.name,
        cause="listSources is answered with 500",
    )


def ledger_of(*findings: Finding) -> Ledger:
    entries = (
        Entry(requirement=requirement(each.requirement), verdict=Verdict.FAIL, findings=(each,))
        for each in findings
    )
    return Ledger(entries=tuple(entries))


ORACLE = next(
    each for each in all_checks() if each.name == "no_request_is_answered_with_a_server_error"
)


def shrunk(
    answer: object,
    limits: ShrinkLimits = ShrinkLimits(),  # noqa: B008
) -> tuple[list[Finding], Sequence[int], str | None]:
    """The smaller findings of a run against this target, the requests sent, and any error."""
    with stand_in(answer) as url, runner(url, lists) as run:  # type: ignore[arg-type]
        run.open()
        taken = intake(lambda _: None, *(project.api_key for project in PROJECTS))
        run.begin(taken, keep_open=True)
        (observation,) = run.gathered("lists").observations
        shrinking = Shrinking(
            checks=[ORACLE], context=context(), projects=PROJECTS, intake=taken, limits=limits
        )
        follow_up = shrinking.follow_up(ledger_of(server_error(ORACLE, observation)))
        assert follow_up is not None
        error = run.run_follow_up(follow_up)
        findings = [each.finding for each in shrinking.shrunk]
        return findings, [each.requests for each in shrinking.shrunk], error


def target_of(found: Finding) -> str:
    return found.exchanges[0].url.partition("?")[2]


def test_a_request_is_cut_down_to_what_the_target_trips_over() -> None:
    ((found,), (requests,), broke) = shrunk(breaks_on(b"sort="))
    assert (target_of(found), found.shrunk, broke) == ("sort=", True, None)
    assert (found.message, found.actual) == ("listSources is answered with a server error", "500")
    assert requests < 20


def test_what_two_parameters_cause_is_left_with_both() -> None:
    ((found,), _, _) = shrunk(breaks_on(b"sort=", b"perPage=1"))
    assert target_of(found) == "perPage=1&sort="


def test_the_same_target_gives_the_same_smaller_request() -> None:
    told = {
        (target_of(found), requests)
        for ((found,), (requests,), _) in (shrunk(breaks_on(b"sort=")) for _ in "ab")
    }
    assert len(told) == 1


def test_requests_are_bounded_and_what_was_found_by_then_is_kept() -> None:
    assert shrunk(breaks_on(b"sort="), ShrinkLimits(requests=0)) == ([], [], None)
    ((found,), (requests,), _) = shrunk(breaks_on(b"sort="), ShrinkLimits(requests_each=3))
    assert requests <= 3
    assert target_of(found) not in ("sort=", "")


def test_time_is_bounded() -> None:
    assert shrunk(breaks_on(b"sort="), ShrinkLimits(total_s=0)) == ([], [], None)


def test_what_happened_once_and_no_more_keeps_its_proof() -> None:
    count = iter(range(1000))
    # Two requests come before the experiment's own: one for each key that is tried.
    assert shrunk(lambda head: response(500) if next(count) == 2 else empty_page(head))[0] == []


async def updates(context: ExperimentContext) -> AsyncIterator[Evidence]:
    trial = context.trial("update")
    await trial.call(
        "updatePortalLink",
        role="update",
        path={"portalLinkID": "l1"},
        body={"name": "n", "owner_id": "o"},
    )
    yield trial.observe(CannedObservation)


def test_a_portal_link_is_put_back_after_smaller_updates() -> None:
    asked: list[bytes] = []

    def answer(head: bytes) -> bytes:
        asked.append(head)
        if head.startswith(b"PUT"):
            return response(500)
        link = {"uid": "l1", "name": "as it was", "owner_id": "owner-1"}
        return response(200, json.dumps({"status": True, "message": "", "data": link}).encode())

    with stand_in(answer) as url, runner(url, updates) as run:
        run.open()
        taken = intake(lambda _: None, *(project.api_key for project in PROJECTS))
        run.begin(taken, keep_open=True)
        (observation,) = run.gathered("updates").observations
        found = replace(
            server_error(ORACLE, observation), cause="updatePortalLink is answered with 500"
        )
        shrinking = Shrinking(checks=[ORACLE], context=context(), projects=PROJECTS, intake=taken)
        follow_up = shrinking.follow_up(ledger_of(found))
        assert follow_up is not None
        assert run.run_follow_up(follow_up) is None
    assert shrinking.shrunk[0].finding.exchanges[0].request_body == b"{}"
    assert asked[-1].startswith(b"PUT")
    assert b"Content-Length: %d" % len(b'{"name":"as it was","owner_id":"owner-1"}') in asked[-1]


def test_an_error_of_the_follow_up_is_reported_and_costs_nothing_else() -> None:
    async def broken(_contexts: object) -> None:
        raise KeyError("data")

    with stand_in(empty_page) as url, runner(url, lists) as run:
        run.open()
        run.begin(intake(), keep_open=True)
        assert run.gathered("lists").observations
        assert (run.run_follow_up(broken) or "").startswith("KeyError: 'data' (test_shrinking.py:")
        assert run.cut is None


def test_nothing_is_done_once_the_run_is_over() -> None:
    async def never(_contexts: object) -> None:
        raise AssertionError

    with stand_in(empty_page) as url, runner(url, lists) as run:
        run.open()
        run.begin(intake(), keep_open=True)
        assert run.gathered("lists").observations
        run.stop("enough")
        assert run.run_follow_up(never) is None


def flags(evidence: Exchange, _context: CheckContext) -> Iterator[Judgement]:
    yield Judgement(requirement="4.1-2", verdict=Verdict.FAIL, message="it", exchanges=(evidence,))


STATEFUL = Check(
    name="what_was_sent_comes_back",
    requirements=("4.1-2",),
    evidence=(CannedObservation,),
    judge=flags,
)
ALONE = replace(STATEFUL, evidence=(Exchange,))


@pytest.mark.parametrize(
    ("case", "given"),
    {
        "a check of an experiment": (STATEFUL, {"exchanges": (exchange(request={"name": "it"}),)}),
        "two exchanges": (ALONE, {}),
        "a delivery beside": (ALONE, {"exchanges": (exchange(request={"name": "it"}),)}),
        "no answer": (
            ALONE,
            {"exchanges": (exchange(request={"a": 1}, problem="gone"),), "deliveries": ()},
        ),
        "nothing to leave out": (
            ALONE,
            {"exchanges": (exchange("fetch", "getEndpoint"),), "deliveries": ()},
        ),
        "bytes that no client sends": (
            ALONE,
            {"exchanges": (exchange("unfinished", request={"a": 1}),), "deliveries": ()},
        ),
        "smaller already": (
            ALONE,
            {"exchanges": (exchange(request={"a": 1}),), "deliveries": (), "shrunk": True},
        ),
    }.values(),
)
def test_what_cannot_be_shrunk_is_left_alone(case: Check, given: dict[str, object]) -> None:
    found = replace(finding(), **given)  # type: ignore[arg-type]
    assert (
        Shrinking(checks=[case], context=context(), projects=PROJECTS, intake=intake()).follow_up(
            ledger_of(found)
        )
        is None
    )


def test_a_proof_counts_only_if_the_check_says_the_same_of_it() -> None:
    small = exchange(request={"name": ""})
    plain = replace(finding(), message="it", deliveries=())
    found = prove(plain, small, ALONE, context())
    assert found is not None
    assert (found.exchanges, found.count, found.shrunk) == ((small,), 3, True)
    assert prove(replace(plain, message="something else"), small, ALONE, context()) is None
    assert prove(replace(plain, cause="another"), small, ALONE, context()) is None
    assert prove(plain, small, replace(ALONE, judge=lambda *_: iter([1 / 0])), context()) is None  # type: ignore[list-item]


def test_a_server_without_findings_is_sent_nothing_more() -> None:
    whole = Ledger(
        entries=(Entry(requirement=requirement("7-8"), verdict=Verdict.PASS, exercised=3),)
    )
    shrinking = Shrinking(checks=[ORACLE], context=context(), projects=PROJECTS, intake=intake())
    assert shrinking.follow_up(whole) is None


def test_a_smaller_proof_changes_nothing_but_the_proof() -> None:
    plain = replace(
        finding(), message="it", deliveries=(), exchanges=(exchange(request={"name": "it"}),)
    )
    stored = replace(plain, exchanges=(exchange(request={}),), shrunk=True)
    before = ledger_of(plain, finding("4.1-9"))
    after = reapply_shrinking(
        before, [stored, replace(stored, message="of another run")], [ALONE], context()
    )
    assert after.entries[0].findings[0].exchanges == stored.exchanges
    assert after.entries[1] == before.entries[1]
    assert [one.verdict for one in after.entries] == [one.verdict for one in before.entries]
    assert replace_proofs(before, []) == before


def test_a_faulty_servers_findings_show_small_requests_and_are_judged_again_alike(
    tmp_path: Path,
) -> None:
    faults = tuple(word for fault in FAULTS for word in ("--fault", fault))
    with reference_server(tmp_path, ROOT, "p1", "p2", "p3", "p4", options=faults) as ready:
        target = target_file(tmp_path, ready["api"], "p1", "p2", "p3", "p4")
        only = ("--only", "6-2", "--only", "7-8", "--only", "4.6-*")
        done = check(tmp_path, "--target", target, "--profile", "quick", *only)
    assert done.code == 1, done.out
    (flag,) = requirements(tmp_path)["6-2"]["findings"]
    assert """--data-raw '{"event_type":"","data":{}}'""" in flag["curl"]
    run = read_run(tmp_path / "hookproof-report" / NAME)
    small = {finding_key(one): one for entry in run.entries for one in entry.findings if one.shrunk}
    assert {"6-2", "7-8"} == {name for name, _, _ in small}
    assert all(len(one.exchanges[0].request_body or b"") < 40 for one in small.values())
    assert "with a smaller request since" in done.out
    again = regrade_run(tmp_path / "hookproof-report").ledger
    assert [entry.verdict for entry in again.entries] == [entry.verdict for entry in run.entries]
    assert {
        finding_key(one): one for entry in again.entries for one in entry.findings if one.shrunk
    } == small
