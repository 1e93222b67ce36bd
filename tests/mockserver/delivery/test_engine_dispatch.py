"""Visits of new endpoints: one method after the other until one gets a 2xx."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from hookproof.mockserver.delivery.engine import EngineDispatch


class ScriptedEngine:
    """Answers visits with a status for each method, and keeps the methods."""

    def __init__(self, statuses: Mapping[str, int | None]) -> None:
        self._statuses = statuses
        self.visited: list[str] = []

    async def visit(self, _url: str, method: str) -> int | None:
        self.visited.append(method)
        return self._statuses[method]

    async def stop(self, _grace_s: float) -> None:
        return


@pytest.mark.parametrize(
    ("statuses", "visited"),
    [
        ({"HEAD": 204}, ["HEAD"]),
        ({"HEAD": 405, "GET": 200}, ["HEAD", "GET"]),
        ({"HEAD": None, "GET": 301, "POST": 500}, ["HEAD", "GET", "POST"]),
    ],
)
async def test_further_methods_are_tried_until_one_succeeds(
    statuses: dict[str, int | None], visited: list[str]
) -> None:
    engine: Any = ScriptedEngine(statuses)

    dispatch = EngineDispatch(engine)
    dispatch.visit("https://receiver.invalid/", "HEAD", "GET", "POST")
    await asyncio.gather(*dispatch._visits)
    await dispatch.stop(0)
    assert engine.visited == visited


@pytest.mark.parametrize(
    ("statuses", "answered"),
    [({"HEAD": 405, "GET": 200}, True), ({"HEAD": 500, "GET": None}, False)],
)
def test_whether_a_url_answers_is_known_before_an_endpoint_is_created(
    statuses: dict[str, int | None], *, answered: bool
) -> None:
    engine: Any = ScriptedEngine(statuses)
    dispatch = EngineDispatch(engine)
    visit = dispatch.is_answered("https://receiver.invalid/", "HEAD", "GET")
    assert asyncio.run(visit) is answered
