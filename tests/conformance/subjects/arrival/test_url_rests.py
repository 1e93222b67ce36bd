"""The endpoints of the experiment have URLs with something behind the token, where they may."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.model.evidence import PreconditionFailed
from hookproof.conformance.observations.deliveries import DeliveryObservation
from hookproof.conformance.subjects.arrival.experiment import ENDS_OF_URLS, content_types


class Service:
    """A scenario whose service refuses URLs with this text; `created` are the rests it took."""

    def __init__(self, refused: str | None) -> None:
        self.created: dict[str, str] = {}
        self.events: tuple[object, ...] = ()
        self.bodies = SimpleNamespace(word=str)
        self.trial = SimpleNamespace(exchanges=[])
        self._refused = refused

    async def destination(self, name: str, *, rest: str = "", **_settings: Any) -> str:
        if self._refused is not None and self._refused in rest:
            raise PreconditionFailed("a URL is refused")
        self.created[name] = rest
        return name

    async def try_destination(self, name: str, **settings: Any) -> str | None:
        try:
            return await self.destination(name, **settings)
        except PreconditionFailed:
            return None

    async def create_all(self, *creations: Any) -> list[str]:
        return await asyncio.gather(*creations)

    async def broadcast(self, name: str, **_fields: Any) -> None: ...

    try_broadcast = broadcast

    async def await_everywhere(self, destinations: list[str], *_events: object) -> None:
        assert len(destinations) == len(ENDS_OF_URLS)

    async def observe(self, kind: type[DeliveryObservation]) -> DeliveryObservation:
        return cast("DeliveryObservation", kind)


@pytest.mark.parametrize("refused", [None, "//", "?"])
def test_a_url_that_is_refused_is_replaced_by_a_plain_one(refused: str | None) -> None:
    service = Service(refused)
    asyncio.run(content_types(cast("Scenario", service)))
    rests = [rest for rest, _ in ENDS_OF_URLS.values()]
    taken = [rest for rest in rests if refused is None or refused not in rest]
    assert sorted(service.created.values()) == sorted(taken + [""] * (len(rests) - len(taken)))
