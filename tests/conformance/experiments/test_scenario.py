"""Scenarios: the order of endpoints that are created side by side, and what is not observed."""

import asyncio
import itertools
from collections.abc import Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import pytest

from hookproof.conformance.experiments.backlog import Backlog
from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.experiments.scenario_run import observed_class
from hookproof.conformance.experiments.shared_broadcasts import SharedBroadcasts
from hookproof.conformance.model.evidence import Exchange, PreconditionFailed
from hookproof.conformance.observations.deliveries import SignedDeliveries
from hookproof.conformance.observations.destinations import Destination
from hookproof.conformance.target.definition import Budgets
from hookproof.spec.dialect.reader import load_dialect
from tests.conformance.canned_evidence import NOW, delivery, exchange


def _destination(name: str) -> Destination:
    return Destination(name=name, token="", uid=name, project="", secret=None, settings={})


def _scenario(*names: str) -> Scenario:
    """A scenario that has these destinations, and no target."""
    scenario = Scenario.__new__(Scenario)
    scenario.destinations = [_destination(name) for name in names]
    return scenario


def _names(destinations: Sequence[Destination]) -> list[str]:
    return [destination.name for destination in destinations]


async def _created(
    scenario: Scenario, name: str, *, after: asyncio.Event, then: asyncio.Event
) -> Destination:
    await after.wait()
    created = _destination(name)
    scenario.destinations.append(created)
    then.set()
    return created


async def _refused(then: asyncio.Event) -> Destination:
    then.set()
    raise PreconditionFailed("no endpoint for you")


def test_destinations_that_are_created_at_once_stand_in_the_order_given() -> None:
    async def run() -> tuple[list[Destination], list[Destination]]:
        scenario = _scenario("before")
        last_is_created, first_is_created, at_once = (asyncio.Event() for _ in range(3))
        at_once.set()
        created = await scenario.create_all(
            _created(scenario, "first", after=last_is_created, then=first_is_created),
            _created(scenario, "last", after=at_once, then=last_is_created),
        )
        return created, scenario.destinations

    created, destinations = asyncio.run(run())
    assert _names(created) == ["first", "last"]
    assert _names(destinations) == ["before", "first", "last"]


def test_a_refused_destination_is_reported_after_the_others_have_been_created() -> None:
    scenario = _scenario()

    async def run() -> None:
        refused, created = asyncio.Event(), asyncio.Event()
        await scenario.create_all(
            _refused(refused), _created(scenario, "other", after=refused, then=created)
        )

    with pytest.raises(PreconditionFailed, match="no endpoint for you"):
        asyncio.run(run())
    assert _names(scenario.destinations) == ["other"]


def test_a_destination_that_was_only_tried_takes_no_other_with_it() -> None:
    scenario = _scenario()

    async def refuse(_name: str, **_settings: object) -> Destination:
        raise PreconditionFailed("no limit of zero")

    async def run() -> list[Destination]:
        created, at_once = asyncio.Event(), asyncio.Event()
        at_once.set()
        return await scenario.create_all(
            scenario.try_destination("limit of 0", rate_limit=0),
            _created(scenario, "other", after=at_once, then=created),
        )

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(scenario, "destination", refuse)
        assert _names(asyncio.run(run())) == ["other"]
    assert _names(scenario.destinations) == ["other"]


def test_a_refused_creation_is_named_with_what_would_help() -> None:
    async def refuse(operation_id: str, *, role: str, **_given: object) -> Exchange:
        return exchange(role, operation_id, status=402)

    scenario = _scenario()
    scenario.dialect = load_dialect("reference")
    words = SimpleNamespace(secret=lambda: "s", word=lambda stem: stem, endpoint_value=str)
    scenario.bodies = cast("Any", words)
    project = SimpleNamespace(id="p1")
    scenario.trial = cast("Any", SimpleNamespace(call=refuse, project=project))
    reason = "createEndpoint was answered 402; a success of it would help"
    with pytest.raises(PreconditionFailed, match=f"^{reason}$"):
        asyncio.run(scenario.endpoint("plain", "token"))


async def _signing(_scenario: Scenario, *, secret: str) -> SignedDeliveries:
    raise PreconditionFailed(secret)


def test_the_return_type_of_a_scenario_names_the_observation_that_is_missing() -> None:
    assert observed_class(partial(_signing, secret="one")) is SignedDeliveries


@pytest.mark.parametrize(
    ("waited_s", "late_s", "silence_s"),
    [(0.1, 0.0, 1.0), (0.1, 0.9, 1.05), (0.9, 0.0, 1.35), (5.0, 0.0, 6.0)],
)
def test_a_silence_lasts_as_long_as_deliveries_may_still_come(
    waited_s: float, late_s: float, silence_s: float
) -> None:
    marker = "event-0123456789abcdef"
    backlog = Backlog()
    backlog.note(marker, NOW)
    scenario = _scenario()
    arrived = delivery(body=marker.encode(), arrived_at=NOW + waited_s)
    budgets = Budgets(delivery_s=6.0, quiet_s=1.0)
    scenario.context = cast("Any", SimpleNamespace(budgets=budgets, backlog=backlog))
    scenario.trial = cast("Any", SimpleNamespace(received=[arrived], receiver_late_s=late_s))
    scenario._lateness = cast("Any", SimpleNamespace(worst_s=0.0))
    assert scenario.silence_s == pytest.approx(silence_s, rel=0.001)


def test_an_event_that_others_share_is_one_of_the_scenario_under_its_own_name() -> None:
    waited = []

    async def may_broadcast(project: SimpleNamespace, content: bytes) -> None:
        waited.append((project.id, content))

    async def send(markers: Sequence[str]) -> Exchange:
        assert waited == [("p1", b"event-stem00001")]
        return exchange("shared", "createBroadcastEvent", data={"uid": "e1"}, request=[*markers])

    async def run() -> tuple[Scenario, Any]:
        scenario = _scenario()
        scenario.context = cast(
            "Any",
            SimpleNamespace(
                api=SimpleNamespace(may_broadcast=may_broadcast),
                backlog=Backlog(),
                loop=asyncio.get_running_loop(),
                shared_broadcasts=SharedBroadcasts(send),
            ),
        )
        scenario._receiving_from = 0.0
        scenario.marker_stem, scenario._event_numbers = "event-stem", itertools.count(1)
        scenario.events = []
        project = SimpleNamespace(id="p1")
        scenario.trial = cast("Any", SimpleNamespace(project=project, exchanges=[]))
        return scenario, await scenario.broadcast("first")

    scenario, event = asyncio.run(run())
    assert (event.name, event.uid, event.marker) == ("first", "e1", "event-stem00001")
    assert [(each.role, each.request_json) for each in scenario.trial.exchanges] == [
        ("first", [event.marker])
    ]
    assert scenario.events == [event]
