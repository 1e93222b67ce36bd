"""Scenes: endpoints that are made side by side stand in the order in which they were asked for."""

import asyncio

import pytest

from conformance.dispatch import Destination
from conformance.experiments.bench import Obstacle
from conformance.experiments.scene import Scene


def _destination(name: str) -> Destination:
    return Destination(name=name, token="", uid=name, project="", secret=None, settings={})


def _scene(*names: str) -> Scene:
    """A scene that has these destinations and needs nobody to talk to."""
    scene = Scene.__new__(Scene)
    scene.destinations = [_destination(name) for name in names]
    return scene


async def _made(scene: Scene, name: str, *, after: asyncio.Event, then: asyncio.Event) -> Destination:
    await after.wait()
    scene.destinations.append(made := _destination(name))
    then.set()
    return made


async def _refused(then: asyncio.Event) -> Destination:
    then.set()
    raise Obstacle("no endpoint for you")


def test_those_made_later_stand_where_they_were_asked_for() -> None:
    async def play() -> tuple[list[Destination], list[Destination]]:
        scene, last_is_made, first_is_made, at_once = (
            _scene("before"),
            asyncio.Event(),
            asyncio.Event(),
            asyncio.Event(),
        )
        at_once.set()
        made = await scene.together(
            _made(scene, "first", after=last_is_made, then=first_is_made),
            _made(scene, "last", after=at_once, then=last_is_made),
        )
        return made, scene.destinations

    made, standing = asyncio.run(play())
    assert [one.name for one in made] == ["first", "last"]
    assert [one.name for one in standing] == ["before", "first", "last"]


def test_one_that_cannot_be_made_is_told_once_the_others_are_there() -> None:
    scene = _scene()

    async def play() -> None:
        refused, made = asyncio.Event(), asyncio.Event()
        await scene.together(_refused(refused), _made(scene, "other", after=refused, then=made))

    with pytest.raises(Obstacle, match="no endpoint for you"):
        asyncio.run(play())
    assert [one.name for one in scene.destinations] == ["other"]
