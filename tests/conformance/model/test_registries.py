from collections.abc import AsyncIterator, Iterator

import pytest

from hookproof.conformance.checks import all_checks
from hookproof.conformance.experiments import all_experiments
from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.model import check_registry, experiment_registry
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import Evidence, Exchange
from hookproof.conformance.model.experiment_registry import Sharing, experiment, experiments_of
from hookproof.conformance.model.judgement import Judgement, holds
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.model.verdict import Verdict
from tests.conformance.canned_evidence import (
    CannedObservation,
    OtherObservation,
    context,
    exchange,
    seen,
)


@pytest.fixture(autouse=True)
def empty_registries(monkeypatch: pytest.MonkeyPatch) -> None:
    all_checks()  # what is imported later would be missing in other tests
    all_experiments()
    monkeypatch.setattr(check_registry, "_checks", {})
    monkeypatch.setattr(experiment_registry, "_experiments", {})


def judge(observed: CannedObservation, _context: CheckContext) -> Iterator[Judgement]:
    yield holds("1-1", exchanges=observed.exchanges)


async def gather(_context: ExperimentContext) -> AsyncIterator[Evidence]:
    yield seen()


def test_a_check_has_the_name_of_its_function_and_judges_the_type_of_its_parameter() -> None:
    assert check("1-1", "1-2")(judge) is judge
    registered = check_registry._checks["judge"]
    assert registered.requirements == ("1-1", "1-2")
    assert registered.evidence == (CannedObservation,)
    assert not registered.is_oracle


def test_two_checks_of_one_name_are_refused() -> None:
    check("1-1")(judge)
    with pytest.raises(ValueError, match="two checks are named judge"):
        check("1-1")(judge)


def test_a_check_without_a_requirement_is_refused() -> None:
    with pytest.raises(ValueError, match="bound to no requirement"):
        check()(judge)


def test_a_check_of_something_that_is_not_evidence_is_refused() -> None:
    def judges_texts(_text: str, _context: CheckContext) -> Iterator[Judgement]:
        yield from ()

    with pytest.raises(TypeError, match="first parameter of the check judges_texts"):
        check("1-1")(judges_texts)


def test_a_check_sees_observations_of_its_types_and_no_others() -> None:
    def judges_both(
        observed: CannedObservation | OtherObservation, _context: CheckContext
    ) -> Iterator[Judgement]:
        yield holds("1-1", exchanges=observed.exchanges)

    check("1-1")(judge)
    check("1-1")(judges_both)
    of_one_type = check_registry._checks["judge"]
    of_both_types = check_registry._checks["judges_both"]
    assert of_one_type.judges(CannedObservation)
    assert not of_one_type.judges(OtherObservation)
    assert of_both_types.judges(CannedObservation)
    assert of_both_types.judges(OtherObservation)
    assert len(list(of_one_type.judgements(seen(exchange()), context()))) == 1


def test_an_oracle_sees_every_exchange() -> None:
    roles = []

    @check("1-1")
    def notes_roles(each: Exchange, _context: CheckContext) -> Iterator[Judgement]:
        roles.append(each.role)
        yield holds("1-1", exchanges=[each])

    oracle = check_registry._checks["notes_roles"]
    judgements = list(oracle.judgements(seen(exchange("a"), exchange("b")), context()))
    assert roles == ["a", "b"]
    assert [judgement.verdict for judgement in judgements] == [Verdict.PASS] * 2
    assert oracle.is_oracle


def test_an_experiment_is_registered_under_its_name() -> None:
    experiment("roll", observes=(CannedObservation,), profile=Profile.DEEP, sharing=Sharing.ALONE)(
        gather
    )
    registered = experiment_registry._experiments["roll"]
    assert (registered.name, registered.profile) == ("roll", Profile.DEEP)
    assert registered.sharing == dict.fromkeys(Profile, Sharing.ALONE)


def test_two_experiments_of_one_name_are_refused() -> None:
    experiment("roll")(gather)
    with pytest.raises(ValueError, match="two experiments are named roll"):
        experiment("roll")(gather)


def test_a_check_needs_the_experiments_that_observe_what_it_judges() -> None:
    experiment("a", observes=(CannedObservation,))(gather)
    experiment("b", observes=(OtherObservation,))(gather)
    check("1-1")(judge)
    experiments = list(experiment_registry._experiments.values())
    assert experiments_of(check_registry._checks["judge"], experiments) == ("a",)


def test_registries_are_sorted_by_name() -> None:
    for name in ("b", "a"):
        experiment(name)(gather)
        function = type(judge)(judge.__code__, globals(), name)
        function.__annotations__ = judge.__annotations__
        check("1-1")(function)
    experiment_names = [each.name for each in all_experiments()]
    assert [name for name in experiment_names if name in {"a", "b"}] == ["a", "b"]
    check_names = [each.name for each in all_checks()]
    assert [name for name in check_names if name in {"a", "b"}] == ["a", "b"]
