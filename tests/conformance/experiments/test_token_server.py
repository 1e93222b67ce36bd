"""In which unit the scripted token server says how long a token is valid."""

from types import SimpleNamespace
from typing import cast

import pytest

from hookproof.conformance.experiments.deliveries.token_server import (
    ExpiryUnit,
    shortest_unit,
    usual_unit,
)
from hookproof.conformance.experiments.scenario import Scenario
from hookproof.spec.dialect.vocabulary import TimeUnit
from tests.spec.dialect_variants import variant

SECONDS = ExpiryUnit(word="s", unit=TimeUnit.SECONDS)
MINUTES = ExpiryUnit(word="min", unit=TimeUnit.MINUTES)
MILLISECONDS = ExpiryUnit(word="ms", unit=TimeUnit.MILLISECONDS)
UNNAMED = ExpiryUnit(word=None, unit=TimeUnit.SECONDS)


@pytest.mark.parametrize(
    ("named", "usual", "shortest"),
    [
        ((SECONDS, MINUTES), SECONDS, SECONDS),
        ((MINUTES, MILLISECONDS), MILLISECONDS, MILLISECONDS),
        ((MILLISECONDS, SECONDS), SECONDS, MILLISECONDS),
        ((), UNNAMED, UNNAMED),
    ],
)
def test_lifetimes_are_in_a_unit_that_the_dialect_names(
    named: tuple[ExpiryUnit, ...], usual: ExpiryUnit, shortest: ExpiryUnit
) -> None:
    words = {each.word: each.unit.value for each in named}
    dialect = variant({"words.oauth2_expiry_units": words})
    scenario = cast("Scenario", SimpleNamespace(dialect=dialect))
    assert usual_unit(scenario) == usual
    assert shortest_unit(scenario) == shortest


def test_a_lifetime_is_rounded_up_to_whole_units() -> None:
    assert [unit.at_least(1.5) for unit in (MILLISECONDS, SECONDS, MINUTES)] == [1500, 2, 1]
