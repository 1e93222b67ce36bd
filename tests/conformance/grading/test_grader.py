from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

import pytest

from hookproof.conformance.grading.grader import Grader
from hookproof.conformance.model.check_registry import Check, CheckContext
from hookproof.conformance.model.evidence import Evidence, Exchange, NotExaminedError
from hookproof.conformance.model.experiment_registry import Experiment
from hookproof.conformance.model.gathered_evidence import Ending, Gathered
from hookproof.conformance.model.judgement import Judgement, holds, not_applicable, violated
from hookproof.conformance.model.ledger import Entry
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.model.verdict import Verdict
from hookproof.spec.catalogue import Catalogue, Gap, Level, Requirement
from hookproof.spec.dialect.answer import Answer, Undecided
from tests.conformance.canned_evidence import (
    CannedObservation,
    OtherObservation,
    context,
    exchange,
    missing,
    observation,
    seen,
)

Judge = Callable[[CannedObservation, CheckContext], Iterator[Judgement]]

REQUIREMENT = Requirement(
    id="1-1",
    section="1",
    level=Level.STATED,
    operations=("createEndpoint",),
    text="It does.",
    gaps=(),
    untestable=None,
)
GAP = Gap(
    id="g", section="1", declared=True, question="Which status?", dialect=("success.created",)
)


def bound(
    judge: Judge, name: str = "it_does", evidence: tuple[type, ...] = (CannedObservation,)
) -> Check:
    return Check(name=name, requirements=("1-1",), evidence=evidence, judge=judge)


def experiment(name: str, *observes: type) -> Experiment:
    return Experiment(
        name=name,
        gather=lambda _: aiter(()),
        observes=observes,
        profile=Profile.QUICK,
        alone=False,
        busy=False,
    )


EXPERIMENTS = (experiment("x", CannedObservation), experiment("y", OtherObservation))


def passes(evidence: CannedObservation, _context: CheckContext) -> Iterator[Judgement]:
    yield holds("1-1", exchanges=evidence.exchanges)


def fails(evidence: CannedObservation, _context: CheckContext) -> Iterator[Judgement]:
    yield violated("1-1", "it does not", expected="yes", actual="no", exchanges=evidence.exchanges)


def of_exchange(one: Exchange, _context: CheckContext) -> Iterator[Judgement]:
    yield holds("1-1", exchanges=[one])


def says_nothing(_seen: CannedObservation, _context: CheckContext) -> Iterator[Judgement]:
    yield from ()


def declines(_seen: CannedObservation, _context: CheckContext) -> Iterator[Judgement]:
    yield not_applicable("1-1", "the document lets it lack this")


def breaks(_seen: CannedObservation, _context: CheckContext) -> Iterator[Judgement]:
    raise KeyError("data")
    yield


def entry(
    *checks: Check,
    observations: tuple[Evidence, ...] = (seen(exchange()),),
    gathered: Mapping[str, Gathered] | None = None,
    requirement: Requirement = REQUIREMENT,
    measure: CheckContext | None = None,
    profile: Profile = Profile.DEEP,
) -> Entry:
    brought = (
        gathered
        if gathered is not None
        else {"x": Gathered(experiment="x", observations=observations)}
    )
    grader = Grader(
        checks=checks,
        context=measure or context(),
        catalogue=Catalogue(
            sections={"1": "One"}, requirements={"1-1": requirement}, gaps={"g": GAP}
        ),
        experiments=list(brought),
        profile=profile,
        gathered=brought.__getitem__,
        every_experiment=EXPERIMENTS,
    )
    return grader.entry(requirement)


def undecided_status() -> CheckContext:
    dialect = context().dialect
    return replace(
        context(),
        dialect=replace(
            dialect,
            success=replace(dialect.success, created=Answer(allowed=(), reason="nobody asked")),
        ),
    )


def test_a_requirement_passes_with_the_count_of_how_often_it_was_exercised() -> None:
    found = entry(bound(passes), observations=(seen(exchange()),) * 3)
    assert (found.verdict, found.exercised, found.checks) == (Verdict.PASS, 3, ("it_does",))


def test_one_failure_among_passes_fails() -> None:
    found = entry(bound(passes), bound(fails, "it_does_not"))
    assert (found.verdict, found.exercised) == (Verdict.FAIL, 2)


def test_one_defect_is_one_finding_with_its_smallest_proof_and_a_count() -> None:
    small, large = exchange(), exchange(request={"name": "x" * 500})
    cases = (
        seen(large, large, name="two"),
        seen(large, name="large"),
        seen(small, name="small"),
        seen(large),
    )
    (finding,) = entry(bound(fails), observations=cases).findings
    assert (finding.count, finding.case, finding.exchanges) == (4, "small", (small,))


def test_two_defects_are_two_findings() -> None:
    def two(_seen: CannedObservation, _context: CheckContext) -> Iterator[Judgement]:
        for message in ("first", "second"):
            yield violated("1-1", message, expected=1, actual=2, exchanges=[exchange()])

    assert [finding.message for finding in entry(bound(two)).findings] == ["first", "second"]


def test_a_requirement_without_a_check_is_not_exercised() -> None:
    found = entry()
    assert (found.verdict, found.reasons) == (Verdict.NOT_EXERCISED, ("No check is bound to it.",))


def test_a_check_that_says_nothing_exercises_nothing() -> None:
    found = entry(bound(says_nothing))
    assert (found.verdict, found.exercised) == (Verdict.NOT_EXERCISED, 0)
    assert found.reasons == ("Nothing that the target did in x came as far as showing it.",)


def test_a_lighter_profile_is_told_to_be_one() -> None:
    found = entry(bound(says_nothing), profile=Profile.STANDARD)
    assert found.reasons[0].endswith("came as far as showing it; a heavier --profile tries more.")


def test_an_obstacle_is_the_reason_and_is_not_judged() -> None:
    found = entry(bound(fails), observations=(missing("the project has no source; make one"),))
    assert (found.verdict, found.reasons) == (
        Verdict.NOT_EXERCISED,
        ("The project has no source; make one.",),
    )


def test_an_obstacle_beside_a_case_that_was_tried_does_no_harm() -> None:
    found = entry(bound(passes), observations=(missing("no luck"), seen(exchange())))
    assert (found.verdict, found.exercised) == (Verdict.PASS, 1)


def test_an_experiment_that_is_not_part_of_the_run_is_named() -> None:
    found = entry(bound(passes, evidence=(OtherObservation,)))
    assert found.verdict is Verdict.NOT_EXERCISED
    assert "The experiment y is not part of this run" in found.reasons[0]


def test_a_check_that_breaks_is_our_fault_and_is_told_in_one_line() -> None:
    found = entry(bound(breaks), bound(fails, "it_does_not"))
    assert found.verdict is Verdict.ERROR
    assert found.reasons[0].startswith(
        "The check it_does broke on canned/canned: KeyError: 'data' (test_grader"
    )


def test_a_check_that_judges_a_requirement_it_is_not_bound_to_is_our_fault() -> None:
    def strays(_seen: CannedObservation, _context: CheckContext) -> Iterator[Judgement]:
        yield holds("9-9", exchanges=[exchange()])

    found = entry(bound(strays))
    assert found.verdict is Verdict.ERROR
    assert "9-9" in found.reasons[0]


def test_an_experiment_that_crashed_is_our_fault_but_its_cases_are_judged() -> None:
    crashed = Gathered(
        experiment="x",
        observations=(seen(exchange()),),
        ending=Ending.CRASHED,
        reason="x broke: KeyError",
    )
    found = entry(bound(fails), gathered={"x": crashed})
    assert (found.verdict, found.reasons, len(found.findings)) == (
        Verdict.ERROR,
        ("x broke: KeyError",),
        1,
    )


def test_an_oracle_judges_what_a_crashed_experiment_left() -> None:
    crashed = Gathered(
        experiment="x", observations=(seen(exchange()),), ending=Ending.CRASHED, reason="x broke"
    )
    oracle = bound(of_exchange, evidence=(Exchange,))
    assert entry(oracle, gathered={"x": crashed}).verdict is Verdict.PASS


def test_an_experiment_that_was_cut_is_the_reason() -> None:
    cut = Gathered(
        experiment="x", observations=(), ending=Ending.CUT, reason="the time budget of 5 s is over"
    )
    found = entry(bound(passes), gathered={"x": cut})
    assert found.verdict is Verdict.NOT_EXERCISED
    assert found.reasons == ("The experiment x was cut short: The time budget of 5 s is over.",)


def test_what_the_target_may_lack_is_not_applicable() -> None:
    found = entry(bound(declines))
    assert (found.verdict, found.reasons) == (
        Verdict.NOT_APPLICABLE,
        ("the document lets it lack this",),
    )


def test_what_may_be_lacking_is_still_not_exercised_when_its_experiment_was_cut() -> None:
    cut = Gathered(
        experiment="x", observations=(seen(exchange()),), ending=Ending.CUT, reason="time is up"
    )
    assert entry(bound(declines), gathered={"x": cut}).verdict is Verdict.NOT_EXERCISED


def test_an_untestable_requirement_is_not_applicable_and_says_why() -> None:
    found = entry(requirement=replace(REQUIREMENT, untestable="nobody can see it"))
    assert (found.verdict, found.reasons) == (Verdict.NOT_APPLICABLE, ("Nobody can see it.",))


def test_a_pass_under_an_undecided_answer_proves_nothing() -> None:
    asking = replace(REQUIREMENT, level=Level.OPEN, gaps=("g",))
    assert entry(bound(passes), requirement=asking).verdict is Verdict.PASS
    found = entry(bound(passes), requirement=asking, measure=undecided_status())
    assert (found.verdict, found.reasons) == (
        Verdict.NOT_APPLICABLE,
        ("The dialect does not decide: Which status?",),
    )


def test_a_stated_requirement_holds_whatever_the_dialect_leaves_undecided() -> None:
    asking = replace(REQUIREMENT, gaps=("g",))
    assert (
        entry(bound(fails), requirement=asking, measure=undecided_status()).verdict is Verdict.FAIL
    )


def test_a_check_that_needs_an_undecided_answer_does_not_apply() -> None:
    def asks(_seen: CannedObservation, measure: CheckContext) -> Iterator[Judgement]:
        assert measure.dialect.success.created.value
        yield holds("1-1", exchanges=[exchange()])

    assert entry(bound(asks), measure=undecided_status()).verdict is Verdict.NOT_APPLICABLE


def test_undecided_is_no_fault_even_after_a_judgement() -> None:
    def half(_seen: CannedObservation, _context: CheckContext) -> Iterator[Judgement]:
        yield holds("1-1", exchanges=[exchange()])
        raise Undecided

    assert entry(bound(half)).verdict is Verdict.PASS


def test_each_case_is_judged_once_however_many_requirements_ask() -> None:
    looked = []

    def counts(evidence: CannedObservation, _context: CheckContext) -> Iterator[Judgement]:
        looked.append(evidence)
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
    assert [grader.entry(one).exercised for one in (REQUIREMENT, second)] == [1, 1]
    assert len(looked) == 1


@pytest.mark.parametrize("ending", list(Ending))
def test_the_same_evidence_gives_the_same_entry(ending: Ending) -> None:
    gathered = {
        "x": Gathered(
            experiment="x", observations=(seen(exchange()),) * 3, ending=ending, reason="r"
        )
    }
    assert entry(bound(fails), gathered=gathered) == entry(bound(fails), gathered=gathered)


def test_what_was_judged_ahead_is_judged_once_and_in_the_order_of_the_experiments() -> None:
    looked: list[str] = []
    ended = {"y": ["z"], "x": ["z", "y"]}

    def notes(name: str) -> Judge:
        def judge(evidence: CannedObservation, measure: CheckContext) -> Iterator[Judgement]:
            looked.append(f"{name}: {evidence.experiment}")
            yield from fails(evidence, measure)

        return judge

    every = bound(notes("every"), "every", evidence=(CannedObservation, OtherObservation))
    own = bound(notes("own"), "own", evidence=(OtherObservation,))
    kinds = {"x": CannedObservation, "y": CannedObservation, "z": OtherObservation}
    brought = {
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
            experiments=list(brought),
            every_experiment=[experiment(name, kind) for name, kind in kinds.items()],
            profile=Profile.DEEP,
            gathered=brought.__getitem__,
            meanwhile=lambda name: meanwhile.get(name, []),
        )
        return grader.entry(REQUIREMENT)

    plain = entry_of({})
    assert looked == ["every: x", "every: y", "every: z", "own: z"]
    looked.clear()
    assert entry_of(ended) == plain, "what was judged ahead says the same"
    assert looked == ["every: z", "own: z", "every: y", "every: x"]
    assert [(found.check, found.case, found.count) for found in plain.findings] == [
        ("every", "first of x", 3),
        ("own", "first of z", 1),
    ]


def test_a_pass_names_the_exchange_that_shows_it() -> None:
    assert entry(bound(passes)).shown_by == "canned, canned: POST createEndpoint as 'create': 201"
    assert entry(bound(fails)).shown_by == ""


def test_what_was_examined_by_other_rules_is_not_exercised_and_says_so() -> None:
    def examines(_seen: CannedObservation, _context: CheckContext) -> Iterator[Judgement]:
        raise NotExaminedError("signatures were examined by another dialect")
        yield

    found = entry(bound(examines))
    assert found.verdict is Verdict.NOT_EXERCISED
    assert found.reasons[0] == "Signatures were examined by another dialect."


def test_what_was_not_observed_concerns_the_checks_of_its_class_alone() -> None:
    gathered = {"x": Gathered(experiment="x", observations=(missing("no", "OtherObservation"),))}
    other = entry(bound(says_nothing, evidence=(OtherObservation,)), gathered=gathered)
    assert other.reasons[0].startswith("The experiment y is not part of this run")
    base = entry(bound(says_nothing), gathered=gathered)
    assert base.reasons == ("Nothing that the target did in x came as far as showing it.",)
