from collections.abc import Iterator

import pytest

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.model import check_registry as registry
from hookproof.conformance.model.check_registry import CheckContext, all_checks, check, oracle
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.experiment_registry import all_experiments, experiment
from hookproof.conformance.model.judgement import Judgement, holds
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.case import Case
from tests.conformance.canned_evidence import case, context, exchange


@pytest.fixture(autouse=True)
def empty_register(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_checks", {})
    monkeypatch.setattr(context, "_experiments", {})


def judge(_case: Case, _context: CheckContext) -> Iterator[Judgement]:
    yield holds("1-1")


async def gather(_context: ExperimentContext) -> Iterator[Case]:
    yield case()


def test_a_check_is_found_under_the_name_of_its_function() -> None:
    assert check("1-1", "1-2", experiments=("roll",))(judge) is judge
    found = registry._checks["judge"]
    assert (found.requirements, found.experiments) == (("1-1", "1-2"), ("roll",))


def test_two_checks_of_one_name_are_refused() -> None:
    check("1-1", experiments=("roll",))(judge)
    with pytest.raises(ValueError, match="two checks are named judge"):
        check("1-1", experiments=("roll",))(judge)


def test_a_check_without_a_requirement_is_refused() -> None:
    with pytest.raises(ValueError, match="bound to no requirement"):
        check(experiments=("roll",))(judge)


def test_an_oracle_sees_every_exchange() -> None:
    seen = []

    @oracle("1-1")
    def sees(one: Exchange, _context: CheckContext) -> Iterator[Judgement]:
        seen.append(one.role)
        yield holds("1-1")

    found = registry._checks["sees"]
    judgements = list(found.judge(case(exchange("a"), exchange("b")), context()))
    assert seen == ["a", "b"]
    assert [judgement.verdict for judgement in judgements] == [Verdict.PASS] * 2
    assert found.experiments == ()


def test_an_experiment_is_found_by_its_name() -> None:
    experiment("roll", profile=Profile.DEEP, alone=True)(gather)
    found = context._experiments["roll"]
    assert (found.name, found.profile, found.alone) == ("roll", Profile.DEEP, True)


def test_two_experiments_of_one_name_are_refused() -> None:
    experiment("roll")(gather)
    with pytest.raises(ValueError, match="two experiments are named roll"):
        experiment("roll")(gather)


def test_registers_are_in_order_of_name() -> None:
    for name in ("b", "a"):
        experiment(name)(gather)
        check("1-1", experiments=("a",))(type(judge)(judge.__code__, globals(), name))
    assert [one.name for one in all_experiments() if one.name in "ab"] == ["a", "b"]
    assert [one.name for one in all_checks() if one.name in "ab"] == ["a", "b"]
