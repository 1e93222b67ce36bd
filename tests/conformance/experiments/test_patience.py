"""How long an experiment waits for what is late: longer, the farther away the target is."""

import ast
import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.deliveries.retry_waiting import await_end
from hookproof.conformance.model.tolerances import LATE_S, TURNS, way_s
from hookproof.conformance.subjects.exhaustion.experiment import await_exhaustion
from hookproof.conformance.target.definition import Budgets
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.reader import load_dialect
from tests.conformance.canned_deliveries import destination, ending, event, sent

CONFORMANCE = Path(__file__).parents[3] / "conformance"
TOLERANCES = {"EARLY_S", "LATE_S"}
WIDENED_BY = {"widened", "for_attempt", "distant"}
WHERE = destination("silent", http_timeout=2)


class FakeLoop:
    """A loop in which every look at the clock takes a second."""

    def __init__(self) -> None:
        self.now = 0.0

    def time(self) -> float:
        self.now += 1.0
        return self.now


class FakeScenario:
    """A scenario in which an attempt is never given up; it notes how long it was to wait."""

    late_s = 0.9

    def __init__(self, round_trip_s: float) -> None:
        self.dialect = load_dialect("reference")
        context = ExperimentContext.__new__(ExperimentContext)
        for name, value in {
            "round_trip_s": round_trip_s,
            "budgets": Budgets(delivery_s=10).over(round_trip_s),
            "loop": FakeLoop(),
        }.items():
            object.__setattr__(context, name, value)
        self.context, self.round_trip_s, self.waited_s = context, round_trip_s, 0.0

    async def await_arrival(
        self, *_places: object, count: int = 1, timeout_s: float
    ) -> tuple[ReceivedDelivery, ...]:
        del count
        self.waited_s = timeout_s
        return (ending(sent(event(), WHERE)),)


@pytest.mark.parametrize("round_trip_s", [0.0, 0.5])
def test_the_end_of_a_timeout_is_awaited_longer_from_far_away_and_when_late(
    round_trip_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = FakeScenario(round_trip_s)
    monkeypatch.setattr("hookproof.conformance.experiments.deliveries.retry_waiting.STEP_S", 0)
    asyncio.run(await_end(cast("Any", scenario), WHERE, event(), timeout_s=2))
    loop = cast("FakeLoop", scenario.context.loop)
    certain_s = 2 + LATE_S + TURNS * FakeScenario.late_s + way_s(round_trip_s)
    assert certain_s <= loop.now < certain_s + 2


@pytest.mark.parametrize("round_trip_s", [0.0, 0.5])
def test_the_last_attempt_is_awaited_longer_from_far_away(
    round_trip_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = FakeScenario(round_trip_s)
    module = "hookproof.conformance.subjects.exhaustion.experiment"
    monkeypatch.setattr(f"{module}.MARGIN_S", 0)
    asyncio.run(await_exhaustion(cast("Any", scenario), WHERE, [event()], schedule_s=3))
    assert scenario.waited_s == 10 + 3 + LATE_S + 2 * way_s(round_trip_s)


def uses(tree: ast.AST, *, widened: bool = False) -> Iterator[int]:
    """The lines in which a tolerance stands by itself."""
    if isinstance(tree, ast.Name) and tree.id in TOLERANCES and not widened:
        yield tree.lineno
    if isinstance(tree, ast.Call):
        called = tree.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        widened = widened or name in WIDENED_BY
    for child in ast.iter_child_nodes(tree):
        yield from uses(child, widened=widened)


@pytest.mark.parametrize("room", ["checks", "experiments", "observations"])
def test_no_tolerance_for_times_leaves_out_the_way_to_the_target(room: str) -> None:
    bare = [
        f"{path.relative_to(CONFORMANCE)}:{line}"
        for path in sorted((CONFORMANCE / room).rglob("*.py"))
        for line in uses(ast.parse(path.read_text()))
    ]
    assert bare == []


def test_a_tolerance_by_itself_is_noticed() -> None:
    text = (
        "a = LATE_S + 1\n"
        "b = widened(LATE_S, seen) + c.distant(EARLY_S) + for_attempt(LATE_S, seen)\n"
        "c = max(EARLY_S, 2)\n"
    )
    assert list(uses(ast.parse(text))) == [1, 3]
