"""The pass that looks for smaller requests, against a scripted target, and in a whole run against a
faulty server.
"""

import json
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from hookproof.conformance.checks import all_checks
from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.model.check_registry import Check, CheckContext
from hookproof.conformance.model.evidence import Evidence, Exchange, Observation
from hookproof.conformance.model.judgement import Judgement
from hookproof.conformance.model.ledger import Entry, Finding, FindingKey, Ledger
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.results.run_file import NAME, read_run
from hookproof.conformance.run.regrading import regrade_run
from hookproof.conformance.run.shrinking import (
    Shrinking,
    ShrinkLimits,
    prove,
    reapply_shrinking,
    replace_proofs,
)
from tests.conformance.canned_evidence import CannedObservation, context, exchange, intake
from tests.conformance.canned_run import finding, requirement
from tests.conformance.command import check, reported_requirements
from tests.conformance.reference_server import reference_server, write_target_file
from tests.conformance.run.experiment_runner import PROJECTS, runner
from tests.conformance.scripted_target import Answer, empty_page, response, stand_in
from tests.source_tree import ROOT

QUERY = {"perPage": "12345", "sort": "ASC", "type": "http", "provider": "github"}
# The first shows in any broadcast, the second only with a certain body.
FAULTS = ("flag_in_words", "invalid_text_breaks")


async def lists(context: ExperimentContext) -> AsyncIterator[Evidence]:
    trial = context.trial("list")
    await trial.call("listSources", role="list", query=QUERY)
    yield trial.observe(CannedObservation)


def fails_on(*parts: bytes) -> Answer:
    """A target that answers 500 to any request whose first line holds all of these."""

    def answer(head: bytes) -> bytes:
        line = head.partition(b"\r\n")[0]
        return response(500) if all(part in line for part in parts) else empty_page(head)

    return answer


def server_error(check: Check, observation: Evidence) -> Finding:
    assert isinstance(observation, Observation)
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
    answer: Answer,
    limits: ShrinkLimits = ShrinkLimits(),  # noqa: B008
) -> tuple[list[Finding], Sequence[int], str | None]:
    """The smaller findings of a run against this target, the requests sent, and any error."""
    with stand_in(answer) as url, runner(url, lists) as run:
        run.open()
        run.begin(intake(), keep_open=True)
        (observation,) = run.gathered("lists").observations
        shrinking = Shrinking(
            checks=[ORACLE],
            context=context(),
            projects=PROJECTS,
            limits=limits,
        )
        follow_up = shrinking.follow_up(ledger_of(server_error(ORACLE, observation)))
        assert follow_up is not None
        error = run.run_follow_up(follow_up)
        findings = [each.finding for each in shrinking.shrunk]
        return findings, [each.requests for each in shrinking.shrunk], error


def query_of(smaller: Finding) -> str:
    return smaller.exchanges[0].url.partition("?")[2]


def test_a_request_is_cut_down_to_the_part_that_causes_the_failure() -> None:
    ((smaller,), (requests,), error) = shrunk(fails_on(b"sort="))
    assert (query_of(smaller), smaller.shrunk, error) == ("sort=", True, None)
    assert (smaller.message, smaller.actual) == (
        "listSources is answered with a server error",
        "500",
    )
    assert requests < 20


def test_a_failure_that_two_parameters_cause_keeps_both() -> None:
    ((smaller,), _, _) = shrunk(fails_on(b"sort=", b"perPage=1"))
    assert query_of(smaller) == "perPage=1&sort="


def test_the_same_target_gives_the_same_smaller_request() -> None:
    assert shrunk_query_and_requests() == shrunk_query_and_requests()


def shrunk_query_and_requests() -> tuple[str, int]:
    ((smaller,), (requests,), _) = shrunk(fails_on(b"sort="))
    return query_of(smaller), requests


def test_requests_are_bounded_and_the_smallest_by_then_is_kept() -> None:
    assert shrunk(fails_on(b"sort="), ShrinkLimits(requests=0)) == ([], [], None)
    ((smaller,), (requests,), _) = shrunk(fails_on(b"sort="), ShrinkLimits(requests_each=3))
    assert requests <= 3
    assert query_of(smaller) not in ("sort=", "")


def test_time_is_bounded() -> None:
    assert shrunk(fails_on(b"sort="), ShrinkLimits(total_s=0)) == ([], [], None)


def test_a_failure_that_does_not_happen_again_keeps_its_proof() -> None:
    numbers = count()

    def answer(head: bytes) -> bytes:
        # The experiment's own request is the first one with a query.
        return response(500) if b"sort=" in head and not next(numbers) else empty_page(head)

    smaller, _, _ = shrunk(answer)
    assert smaller == []


async def updates(context: ExperimentContext) -> AsyncIterator[Evidence]:
    trial = context.trial("update")
    await trial.call(
        "updatePortalLink",
        role="update",
        path={"portalLinkID": "l1"},
        body={"name": "n", "owner_id": "o"},
    )
    yield trial.observe(CannedObservation)


def test_a_portal_link_is_restored_after_smaller_updates() -> None:
    heads: list[bytes] = []

    def answer(head: bytes) -> bytes:
        if head.startswith(b"PUT"):
            heads.append(head)
            return response(500)
        if b"/endpoints/" in head:
            return empty_page(head)
        link = {"uid": "l1", "name": "as it was", "owner_id": "owner-1"}
        return response(200, json.dumps({"status": True, "message": "", "data": link}).encode())

    with stand_in(answer) as url, runner(url, updates) as run:
        run.open()
        run.begin(intake(), keep_open=True)
        (observation,) = run.gathered("updates").observations
        failure = replace(
            server_error(ORACLE, observation), cause="updatePortalLink is answered with 500"
        )
        shrinking = Shrinking(checks=[ORACLE], context=context(), projects=PROJECTS)
        follow_up = shrinking.follow_up(ledger_of(failure))
        assert follow_up is not None
        assert run.run_follow_up(follow_up) is None
    assert shrinking.shrunk[0].finding.exchanges[0].request_body == b"{}"
    restoring_body = b'{"name":"as it was","owner_id":"owner-1"}'
    assert b"Content-Length: %d" % len(restoring_body) in heads[-1]


def test_an_error_of_the_follow_up_is_reported_and_does_not_cut_the_run() -> None:
    async def broken(_contexts: object) -> None:
        raise KeyError("data")

    with stand_in(empty_page) as url, runner(url, lists) as run:
        run.open()
        run.begin(intake(), keep_open=True)
        assert run.gathered("lists").observations
        assert (run.run_follow_up(broken) or "").startswith("KeyError: 'data' (test_shrinking.py:")
        assert run.cut is None


def test_no_follow_up_runs_once_the_run_is_over() -> None:
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


OF_OBSERVATIONS = Check(
    name="what_was_sent_comes_back",
    requirements=("4.1-2",),
    evidence=(CannedObservation,),
    judge=flags,
)
OF_EXCHANGES = replace(OF_OBSERVATIONS, evidence=(Exchange,))


@pytest.mark.parametrize(
    ("judging", "changes"),
    {
        "a check of an experiment": (
            OF_OBSERVATIONS,
            {"exchanges": (exchange(request={"name": "it"}),)},
        ),
        "two exchanges": (OF_EXCHANGES, {}),
        "a delivery beside": (OF_EXCHANGES, {"exchanges": (exchange(request={"name": "it"}),)}),
        "no answer": (
            OF_EXCHANGES,
            {"exchanges": (exchange(request={"a": 1}, problem="gone"),), "deliveries": ()},
        ),
        "nothing to leave out": (
            OF_EXCHANGES,
            {"exchanges": (exchange("fetch", "getEndpoint"),), "deliveries": ()},
        ),
        "bytes that no client sends": (
            OF_EXCHANGES,
            {"exchanges": (exchange("unfinished", request={"a": 1}),), "deliveries": ()},
        ),
        "smaller already": (
            OF_EXCHANGES,
            {"exchanges": (exchange(request={"a": 1}),), "deliveries": (), "shrunk": True},
        ),
    }.values(),
)
def test_a_finding_that_cannot_be_shrunk_is_left_alone(
    judging: Check, changes: dict[str, object]
) -> None:
    unshrinkable = replace(finding(), **changes)  # type: ignore[arg-type]
    shrinking = Shrinking(checks=[judging], context=context(), projects=PROJECTS)
    assert shrinking.follow_up(ledger_of(unshrinkable)) is None


def divides_by_zero(_evidence: Exchange, _context: CheckContext) -> Iterator[Judgement]:
    raise ZeroDivisionError


def test_a_proof_counts_only_if_the_check_says_the_same_of_it() -> None:
    small = exchange(request={"name": ""})
    plain = replace(finding(), message="it", deliveries=())
    proven = prove(plain, small, OF_EXCHANGES, context())
    assert proven is not None
    assert (proven.exchanges, proven.count, proven.shrunk) == ((small,), 3, True)
    other_message = replace(plain, message="something else")
    assert prove(other_message, small, OF_EXCHANGES, context()) is None
    assert prove(replace(plain, cause="another"), small, OF_EXCHANGES, context()) is None
    broken_check = replace(OF_EXCHANGES, judge=divides_by_zero)
    assert prove(plain, small, broken_check, context()) is None


def test_a_server_without_findings_is_sent_nothing_more() -> None:
    whole = Ledger(
        entries=(Entry(requirement=requirement("7-8"), verdict=Verdict.PASS, exercised=3),)
    )
    shrinking = Shrinking(checks=[ORACLE], context=context(), projects=PROJECTS)
    assert shrinking.follow_up(whole) is None


def test_a_smaller_proof_changes_nothing_but_the_proof() -> None:
    plain = replace(
        finding(), message="it", deliveries=(), exchanges=(exchange(request={"name": "it"}),)
    )
    stored = replace(plain, exchanges=(exchange(request={}),), shrunk=True)
    before = ledger_of(plain, finding("4.1-9"))
    after = reapply_shrinking(
        before, [stored, replace(stored, message="of another run")], [OF_EXCHANGES], context()
    )
    assert after.entries[0].findings[0].exchanges == stored.exchanges
    assert after.entries[1] == before.entries[1]
    assert [entry.verdict for entry in after.entries] == [entry.verdict for entry in before.entries]
    assert replace_proofs(before, []) == before


def test_a_faulty_servers_findings_show_small_requests_and_regrading_agrees(
    tmp_path: Path,
) -> None:
    faults = tuple(word for fault in FAULTS for word in ("--fault", fault))
    with reference_server(tmp_path, ROOT, "p1", "p2", "p3", "p4", options=faults) as ready:
        target = write_target_file(tmp_path, ready["api"], "p1", "p2", "p3", "p4")
        only = ("--only", "6-2", "--only", "7-8", "--only", "4.6-*")
        done = check(tmp_path, "--target", target, "--profile", "quick", *only)
    assert done.code == 1, done.out
    (flag_finding,) = reported_requirements(tmp_path)["6-2"]["findings"]
    assert """--data-raw '{"event_type":"","data":{}}'""" in flag_finding["curl"]
    run = read_run(tmp_path / "hookproof-report" / NAME)
    small = shrunk_findings(run.entries)
    assert {"6-2", "7-8"} == {key.requirement for key in small}
    assert all(len(each.exchanges[0].request_body or b"") < 40 for each in small.values())
    assert "with a smaller request since" in done.out
    again = regrade_run(tmp_path / "hookproof-report").ledger
    assert [entry.verdict for entry in again.entries] == [entry.verdict for entry in run.entries]
    assert shrunk_findings(again.entries) == small


def shrunk_findings(entries: Sequence[Entry]) -> dict[FindingKey, Finding]:
    findings = [each for entry in entries for each in entry.findings]
    return {each.key: each for each in findings if each.shrunk}
