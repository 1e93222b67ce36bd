"""Checks, experiments and entries for the tests of the grader."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from hookproof.conformance.grading.grader import Grader
from hookproof.conformance.model.check_registry import Check, CheckContext
from hookproof.conformance.model.evidence import Evidence, Exchange, Observation
from hookproof.conformance.model.experiment_registry import Experiment, Sharing
from hookproof.conformance.model.gathered_evidence import Gathered
from hookproof.conformance.model.judgement import (
    Judgement,
    holds,
    not_applicable,
    not_applicable_here,
    violated,
)
from hookproof.conformance.model.ledger import Entry
from hookproof.conformance.model.profile import Profile
from hookproof.spec.catalogue import Catalogue, Gap, Requirement
from hookproof.spec.dialect.answer import Answer
from tests.conformance.canned_evidence import (
    CannedObservation,
    OtherObservation,
    context,
    exchange,
    seen,
)
from tests.conformance.canned_run import requirement

Judge = Callable[[CannedObservation, CheckContext], Iterator[Judgement]]

REQUIREMENT = requirement("1-1", text="It does.")
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
        sharing=dict.fromkeys(Profile, Sharing.BESIDE),
        busy=False,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class HeavyObservation(Observation):
    """An observation that only the deep profile makes."""


EXPERIMENTS = (
    experiment("x", CannedObservation),
    experiment("y", OtherObservation),
    replace(experiment("z", HeavyObservation), profile=Profile.DEEP),
)


def passes(evidence: CannedObservation, _context: CheckContext) -> Iterator[Judgement]:
    yield holds("1-1", exchanges=evidence.exchanges)


def fails(evidence: CannedObservation, _context: CheckContext) -> Iterator[Judgement]:
    yield violated("1-1", "it does not", expected="yes", actual="no", exchanges=evidence.exchanges)


def passes_exchanges(each: Exchange, _context: CheckContext) -> Iterator[Judgement]:
    yield holds("1-1", exchanges=[each])


def fails_exchanges(each: Exchange, _context: CheckContext) -> Iterator[Judgement]:
    yield violated("1-1", "it does not", expected="yes", actual="no", exchanges=[each])


def says_nothing(_seen: CannedObservation, _context: CheckContext) -> Iterator[Judgement]:
    yield from ()


def declines(_seen: CannedObservation, _context: CheckContext) -> Iterator[Judgement]:
    yield not_applicable_here("1-1", "the document lets it lack this")


def is_ruled_out(_seen: CannedObservation, _context: CheckContext) -> Iterator[Judgement]:
    yield not_applicable("1-1", "the dialect has none of it")


def breaks(_seen: CannedObservation, _context: CheckContext) -> Iterator[Judgement]:
    raise KeyError("data")
    yield


def entry(
    *checks: Check,
    observations: tuple[Evidence, ...] = (seen(exchange()),),
    gathered: Mapping[str, Gathered] | None = None,
    requirement: Requirement = REQUIREMENT,
    check_context: CheckContext | None = None,
    profile: Profile = Profile.DEEP,
    every_experiment: Sequence[Experiment] = EXPERIMENTS,
) -> Entry:
    if gathered is None:
        gathered = {"x": Gathered(experiment="x", observations=observations)}
    grader = Grader(
        checks=checks,
        context=check_context or context(),
        catalogue=Catalogue(
            sections={"1": "One"}, requirements={"1-1": requirement}, gaps={"g": GAP}
        ),
        experiments=list(gathered),
        profile=profile,
        gathered=gathered.__getitem__,
        every_experiment=every_experiment,
    )
    return grader.entry(requirement)


def undecided_status() -> CheckContext:
    dialect = context().dialect
    return replace(
        context(),
        dialect=replace(
            dialect,
            success=replace(dialect.success, created=Answer(allowed=(), reason="it is unknown")),
        ),
    )
