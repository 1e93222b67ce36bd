from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

import pytest

from hookproof.conformance.grading.grader import Grader
from hookproof.conformance.model.check_registry import Check, CheckContext
from hookproof.conformance.model.evidence import Evidence, Exchange, Observation
from hookproof.conformance.model.gathered_evidence import Ending, Gathered
from hookproof.conformance.model.judgement import Judgement, holds, violated
from hookproof.conformance.model.ledger import Entry
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.model.verdict import Verdict
from hookproof.spec.catalogue import Catalogue, Level
from hookproof.spec.dialect.answer import Undecided
from tests.conformance.canned_evidence import (
    CannedObservation,
    OtherObservation,
    context,
    exchange,
    missing,
    observation,
    seen,
)
from tests.conformance.grading.canned_checks import (
    EXPERIMENTS,
    GAP,
    REQUIREMENT,
    Judge,
    bound,
    breaks,
    entry,
    experiment,
    fails,
    fails_exchanges,
    passes,
    passes_exchanges,
    says_nothing,
    undecided_status,
)


def test_a_requirement_passes_with_the_count_of_how_often_it_was_exercised() -> None:
    judged = entry(bound(passes), observations=(seen(exchange()),) * 3)
    assert (judged.verdict, judged.exercised, judged.checks) == (Verdict.PASS, 3, ("it_does",))


def test_one_failure_among_passes_fails() -> None:
    judged = entry(bound(passes), bound(fails, "it_does_not"))
    assert (judged.verdict, judged.exercised) == (Verdict.FAIL, 2)


def test_one_defect_is_one_finding_with_its_smallest_proof_and_a_count() -> None:
    small, large = exchange(), exchange(request={"name": "x" * 500})
    observations = (
        seen(large, large, name="two"),
        seen(large, name="large"),
        seen(small, name="small"),
        seen(large),
    )
    (finding,) = entry(bound(fails), observations=observations).findings
    assert (finding.count, finding.case, finding.exchanges) == (4, "small", (small,))


def test_two_defects_are_two_findings() -> None:
    def fails_twice(_seen: CannedObservation, _context: CheckContext) -> Iterator[Judgement]:
        for message in ("first", "second"):
            yield violated("1-1", message, expected=1, actual=2, exchanges=[exchange()])

    assert [finding.message for finding in entry(bound(fails_twice)).findings] == [
        "first",
        "second",
    ]


def test_oracles_judge_the_exchanges_of_an_observation_that_could_not_be_made() -> None:
    observations = (replace(missing("no endpoint was created"), exchanges=(exchange(),)),)
    judged = entry(bound(fails_exchanges, evidence=(Exchange,)), observations=observations)
    assert (judged.verdict, judged.exercised) == (Verdict.FAIL, 1)


def test_each_check_judges_only_the_kinds_of_observation_that_are_its_evidence() -> None:
    kinds = {
        "canned": (CannedObservation,),
        "other": (OtherObservation,),
        "both": (CannedObservation, OtherObservation),
        "any": (Observation,),
    }
    judged: dict[str, list[str]] = {name: [] for name in kinds}

    def noting(name: str) -> Judge:
        def judge(each: CannedObservation, _context: CheckContext) -> Iterator[Judgement]:
            judged[name].append(each.name)
            yield holds("1-1", exchanges=each.exchanges)

        return judge

    other = OtherObservation(experiment="x", name="o", exchanges=(exchange(),))
    observations = (
        seen(exchange(), name="c"),
        other,
        replace(missing("no endpoint was created"), exchanges=(exchange(),)),
        seen(exchange(), name="d"),
    )
    entry(
        *(bound(noting(name), name, evidence) for name, evidence in kinds.items()),
        observations=observations,
        every_experiment=(experiment("x", CannedObservation, OtherObservation),),
    )
    assert judged == {
        "canned": ["c", "d"],
        "other": ["o"],
        "both": ["c", "o", "d"],
        "any": ["c", "o", "d"],
    }


def test_two_operations_are_two_findings() -> None:
    fetched = exchange("fetch", "getEndpoint", path={"endpointID": "e1"})
    observations = (seen(exchange(), fetched), seen(fetched))
    findings = entry(
        bound(fails_exchanges, evidence=(Exchange,)), observations=observations
    ).findings
    assert [(finding.operation, finding.count) for finding in findings] == [
        ("createEndpoint", 1),
        ("getEndpoint", 2),
    ]


def test_two_causes_are_two_findings() -> None:
    observations = (seen(exchange()), seen(exchange(status=500)), seen(exchange(status=500)))
    findings = entry(bound(fails), observations=observations).findings
    assert [(finding.cause, finding.count) for finding in findings] == [
        ("", 1),
        ("createEndpoint is answered with 500", 2),
    ]


def entries_of_two(
    *observations: Evidence, reported: tuple[str, ...] = ("1-1", "1-2")
) -> list[Entry]:
    """The entries of 1-1 and 1-2, which may follow from it; each exchange violates 1-1 if its
    status is 201, and 1-2 in any case.
    """

    def judge(each: Exchange, _context: CheckContext) -> Iterator[Judgement]:
        if each.status == 201:
            yield violated("1-1", "upstream", expected=1, actual=2, exchanges=[each])
        yield violated("1-2", "downstream", expected=1, actual=2, exchanges=[each])

    both = Check(name="both", requirements=("1-1", "1-2"), evidence=(Exchange,), judge=judge)
    second = replace(REQUIREMENT, id="1-2", follows_from=("1-1",))
    grader = Grader(
        checks=[both],
        context=context(),
        catalogue=Catalogue(sections={}, requirements={"1-1": REQUIREMENT, "1-2": second}, gaps={}),
        experiments=["x"],
        profile=Profile.DEEP,
        gathered=lambda _: Gathered(experiment="x", observations=observations),
        every_experiment=EXPERIMENTS,
        reported=reported,
    )
    return [grader.entry(REQUIREMENT), grader.entry(second)]


def test_a_failure_whose_every_proof_violates_the_upstream_requirement_follows_from_it() -> None:
    first, second = entries_of_two(seen(exchange()), seen(exchange(sent_at=1.0)))
    assert (first.verdict, second.verdict) == (Verdict.FAIL, Verdict.FAIL)
    assert (first.follows_from, second.follows_from) == ((), ("1-1",))


def test_a_failure_with_one_proof_of_its_own_is_accused() -> None:
    _, second = entries_of_two(seen(exchange()), seen(exchange(status=200)))
    assert second.follows_from == ()
    assert second.findings[0].count == 2


def test_nothing_follows_from_a_requirement_that_the_run_does_not_report() -> None:
    _, second = entries_of_two(seen(exchange()), reported=("1-2",))
    assert second.follows_from == ()


def test_a_check_that_breaks_is_an_error_that_is_reported_in_one_line() -> None:
    judged = entry(bound(breaks), bound(fails, "it_does_not"))
    assert judged.verdict is Verdict.ERROR
    assert judged.reasons[0].startswith(
        "The check it_does broke on canned/canned: KeyError: 'data' (canned_checks"
    )


def test_a_check_that_judges_a_requirement_it_is_not_bound_to_is_an_error() -> None:
    def judges_another(_seen: CannedObservation, _context: CheckContext) -> Iterator[Judgement]:
        yield holds("9-9", exchanges=[exchange()])

    judged = entry(bound(judges_another))
    assert judged.verdict is Verdict.ERROR
    assert "9-9" in judged.reasons[0]


def test_an_experiment_that_crashed_is_an_error_but_its_observations_are_judged() -> None:
    crashed = Gathered(
        experiment="x",
        observations=(seen(exchange()),),
        ending=Ending.CRASHED,
        reason="x broke: KeyError",
    )
    judged = entry(bound(fails), gathered={"x": crashed})
    assert (judged.verdict, judged.reasons, len(judged.findings)) == (
        Verdict.ERROR,
        ("x broke: KeyError",),
        1,
    )


def test_an_oracle_judges_what_a_crashed_experiment_left() -> None:
    crashed = Gathered(
        experiment="x", observations=(seen(exchange()),), ending=Ending.CRASHED, reason="x broke"
    )
    oracle = bound(passes_exchanges, evidence=(Exchange,))
    assert entry(oracle, gathered={"x": crashed}).verdict is Verdict.PASS


def test_a_pass_under_an_undecided_answer_proves_nothing() -> None:
    asking = replace(REQUIREMENT, level=Level.OPEN, gaps=("g",))
    assert entry(bound(passes), requirement=asking).verdict is Verdict.PASS
    judged = entry(bound(passes), requirement=asking, check_context=undecided_status())
    assert (judged.verdict, judged.reasons) == (
        Verdict.NOT_APPLICABLE,
        ("The dialect does not decide: Which status? (success.created)",),
    )


def test_what_evidence_alone_shows_passes_under_an_undecided_answer() -> None:
    """Its gap says why it is open; none of the answers decides whether it holds."""
    asking = replace(REQUIREMENT, level=Level.OPEN, gaps=("g",), answers=())
    for check, verdict in ((passes, Verdict.PASS), (fails, Verdict.FAIL)):
        judged = entry(bound(check), requirement=asking, check_context=undecided_status())
        assert judged.verdict is verdict
    unasked = entry(bound(says_nothing), requirement=asking, check_context=undecided_status())
    assert unasked.verdict is Verdict.NOT_EXERCISED
    assert "createEndpoint" in unasked.reasons[0]


def test_a_stated_requirement_holds_whatever_the_dialect_leaves_undecided() -> None:
    asking = replace(REQUIREMENT, gaps=("g",))
    assert (
        entry(bound(fails), requirement=asking, check_context=undecided_status()).verdict
        is Verdict.FAIL
    )


def test_an_open_question_is_why_a_stated_requirement_was_not_exercised() -> None:
    asking = replace(REQUIREMENT, gaps=("g",))
    judged = entry(bound(says_nothing), requirement=asking, check_context=undecided_status())
    assert (judged.verdict, judged.reasons) == (
        Verdict.NOT_EXERCISED,
        ("The dialect does not decide: Which status? (success.created)",),
    )
    assert "createEndpoint" in entry(bound(says_nothing), requirement=asking).reasons[0]


def test_a_check_that_needs_an_undecided_answer_does_not_apply() -> None:
    def asks(_seen: CannedObservation, check_context: CheckContext) -> Iterator[Judgement]:
        assert check_context.dialect.success.created.value
        yield holds("1-1", exchanges=[exchange()])

    judged = entry(bound(asks), check_context=undecided_status())
    assert (judged.verdict, judged.reasons) == (
        Verdict.NOT_APPLICABLE,
        ("The dialect does not decide what it depends on.",),
    )
    asking = replace(REQUIREMENT, gaps=("g",))
    judged = entry(bound(asks), requirement=asking, check_context=undecided_status())
    assert judged.reasons == ("The dialect does not decide: Which status? (success.created)",)


def test_an_undecided_answer_after_a_judgement_is_not_an_error() -> None:
    def passes_and_needs_more(
        _seen: CannedObservation, _context: CheckContext
    ) -> Iterator[Judgement]:
        yield holds("1-1", exchanges=[exchange()])
        raise Undecided

    assert entry(bound(passes_and_needs_more)).verdict is Verdict.PASS


def test_each_observation_is_judged_once_for_all_requirements() -> None:
    judged_evidence = []

    def counts(evidence: CannedObservation, _context: CheckContext) -> Iterator[Judgement]:
        judged_evidence.append(evidence)
        yield holds("1-1", exchanges=evidence.exchanges)
        yield holds("1-2", exchanges=evidence.exchanges)

    both = Check(
        name="both", requirements=("1-1", "1-2"), evidence=(CannedObservation,), judge=counts
    )
    second = replace(REQUIREMENT, id="1-2")
    grader = Grader(
        checks=[both],
        context=context(),
        catalogue=Catalogue(sections={}, requirements=MappingProxyType({}), gaps={}),
        experiments=["x"],
        profile=Profile.DEEP,
        gathered=lambda _: Gathered(experiment="x", observations=(seen(exchange()),)),
        every_experiment=EXPERIMENTS,
    )
    assert [grader.entry(each).exercised for each in (REQUIREMENT, second)] == [1, 1]
    assert len(judged_evidence) == 1


@pytest.mark.parametrize("ending", list(Ending))
def test_the_same_evidence_gives_the_same_entry(ending: Ending) -> None:
    gathered = {
        "x": Gathered(
            experiment="x", observations=(seen(exchange()),) * 3, ending=ending, reason="r"
        )
    }
    assert entry(bound(fails), gathered=gathered) == entry(bound(fails), gathered=gathered)


def test_evidence_that_is_judged_early_is_judged_once_and_reported_in_order() -> None:
    judged: list[str] = []
    # The experiments that end while the run waits for each one.
    ended_meanwhile = {"y": ["z"], "x": ["z", "y"]}

    def notes(name: str) -> Judge:
        def judge(evidence: CannedObservation, check_context: CheckContext) -> Iterator[Judgement]:
            judged.append(f"{name}: {evidence.experiment}")
            yield from fails(evidence, check_context)

        return judge

    every = bound(notes("every"), "every", evidence=(CannedObservation, OtherObservation))
    own = bound(notes("own"), "own", evidence=(OtherObservation,))
    kinds = {"x": CannedObservation, "y": CannedObservation, "z": OtherObservation}
    gathered = {
        name: Gathered(
            experiment=name,
            observations=(observation(kind, exchange(), experiment=name, name=f"first of {name}"),),
        )
        for name, kind in kinds.items()
    }

    def entry_of(meanwhile: Mapping[str, list[str]]) -> Entry:
        grader = Grader(
            checks=[every, own],
            context=context(),
            catalogue=Catalogue(
                sections={"1": "One"}, requirements={"1-1": REQUIREMENT}, gaps={"g": GAP}
            ),
            experiments=list(gathered),
            every_experiment=[experiment(name, kind) for name, kind in kinds.items()],
            profile=Profile.DEEP,
            gathered=gathered.__getitem__,
            meanwhile=lambda name: meanwhile.get(name, []),
        )
        return grader.entry(REQUIREMENT)

    plain = entry_of({})
    assert judged == ["every: x", "every: y", "every: z", "own: z"]
    judged.clear()
    assert entry_of(ended_meanwhile) == plain
    assert judged == ["every: z", "own: z", "every: y", "every: x"]
    assert [(finding.check, finding.case, finding.count) for finding in plain.findings] == [
        ("every", "first of x", 3),
        ("own", "first of z", 1),
    ]


def test_a_pass_names_the_exchange_that_shows_it() -> None:
    assert entry(bound(passes)).shown_by == "canned, canned: POST createEndpoint as 'create': 201"
    assert entry(bound(passes)).shown_in_s == 0.01
    assert entry(bound(fails)).shown_by == ""
