"""Scenes: endpoints that are made side by side stand in the order in which they were asked for."""

import asyncio

import pytest

from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.model.evidence import PreconditionFailed
from hookproof.conformance.observations.destinations import Destination


def _destination(name: str) -> Destination:
    return Destination(name=name, token="", uid=name, project="", secret=None, settings={})


def _scene(*names: str) -> Scenario:
    """A scene that has these destinations and needs nobody to talk to."""
    scenario = Scenario.__new__(Scenario)
    scenario.destinations = [_destination(name) for name in names]
    return scenario


async def _made(
    scenario: Scenario, name: str, *, after: asyncio.Event, then: asyncio.Event
) -> Destination:
    await after.wait()
    scenario.destinations.append(made := _destination(name))
    then.set()
    return made


async def _refused(then: asyncio.Event) -> Destination:
    then.set()
    raise PreconditionFailed("no endpoint for you")


def test_those_made_later_stand_where_they_were_asked_for() -> None:
    async def play() -> tuple[list[Destination], list[Destination]]:
        scenario, last_is_made, first_is_made, at_once = (
            _scene("before"),
            asyncio.Event(),
            asyncio.Event(),
            asyncio.Event(),
        )
        at_once.set()
        made = await scenario.together(
            _made(scenario, "first", after=last_is_made, then=first_is_made),
            _made(scenario, "last", after=at_once, then=last_is_made),
        )
        return made, scenario.destinations

    made, standing = asyncio.run(play())
    assert [one.name for one in made] == ["first", "last"]
    assert [one.name for one in standing] == ["before", "first", "last"]


def test_one_that_cannot_be_made_is_told_once_the_others_are_there() -> None:
    scenario = _scene()

    async def play() -> None:
        refused, made = asyncio.Event(), asyncio.Event()
        await scenario.together(
            _refused(refused), _made(scenario, "other", after=refused, then=made)
        )

    with pytest.raises(PreconditionFailed, match="no endpoint for you"):
        asyncio.run(play())
    assert [one.name for one in scenario.destinations] == ["other"]
