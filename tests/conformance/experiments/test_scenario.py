"""Scenarios: the order of endpoints that are created side by side, and what is not observed."""

import asyncio
from functools import partial

import pytest

from hookproof.conformance.experiments.scenario import Scenario, observed_class
from hookproof.conformance.model.evidence import PreconditionFailed
from hookproof.conformance.observations.deliveries import SignedDeliveries
from hookproof.conformance.observations.destinations import Destination


def _destination(name: str) -> Destination:
    return Destination(name=name, token="", uid=name, project="", secret=None, settings={})


def _scenario(*names: str) -> Scenario:
    """A scenario that has these destinations, and no target."""
    scenario = Scenario.__new__(Scenario)
    scenario.destinations = [_destination(name) for name in names]
    return scenario


async def _created(
    scenario: Scenario, name: str, *, after: asyncio.Event, then: asyncio.Event
) -> Destination:
    await after.wait()
    scenario.destinations.append(created := _destination(name))
    then.set()
    return created


async def _refused(then: asyncio.Event) -> Destination:
    then.set()
    raise PreconditionFailed("no endpoint for you")


def test_those_created_later_stand_where_they_were_asked_for() -> None:
    async def run() -> tuple[list[Destination], list[Destination]]:
        scenario, last_is_created, first_is_created, at_once = (
            _scenario("before"),
            asyncio.Event(),
            asyncio.Event(),
            asyncio.Event(),
        )
        at_once.set()
        created = await scenario.together(
            _created(scenario, "first", after=last_is_created, then=first_is_created),
            _created(scenario, "last", after=at_once, then=last_is_created),
        )
        return created, scenario.destinations

    created, standing = asyncio.run(run())
    assert [one.name for one in created] == ["first", "last"]
    assert [one.name for one in standing] == ["before", "first", "last"]


def test_one_that_cannot_be_created_is_reported_once_the_others_are_there() -> None:
    scenario = _scenario()

    async def run() -> None:
        refused, created = asyncio.Event(), asyncio.Event()
        await scenario.together(
            _refused(refused), _created(scenario, "other", after=refused, then=created)
        )

    with pytest.raises(PreconditionFailed, match="no endpoint for you"):
        asyncio.run(run())
    assert [one.name for one in scenario.destinations] == ["other"]


async def _signing(_scenario: Scenario, *, secret: str) -> SignedDeliveries:
    raise PreconditionFailed(secret)


def test_a_scenario_names_the_observation_that_is_missing_without_it() -> None:
    assert observed_class(partial(_signing, secret="one")) is SignedDeliveries
