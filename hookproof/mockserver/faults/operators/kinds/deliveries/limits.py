"""Operators on rate limits: counted by too little, by too much, or by the wrong numbers."""

from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, Final

import msgspec

from hookproof.mockserver.delivery.scheduling.endpoint_queue import EndpointQueue
from hookproof.mockserver.delivery.scheduling.rate_limit import SlidingWindow
from hookproof.mockserver.delivery.store_port import EndpointSettings
from hookproof.mockserver.faults.operators.delivery_laws import violated_by_delivery
from hookproof.mockserver.faults.operators.operator import (
    Alteration,
    FindDefect,
    Parameters,
    operators_of,
)
from hookproof.mockserver.faults.operators.place import Place, PlaceKind
from hookproof.mockserver.faults.support.altered_endpoints import AlteredSettings
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import Excess

GROUP: Final = "deliveries"
_NEWEST: Final = "SELECT max(seq) FROM endpoints"

# What the attempts are counted by; the last argument is the store of the deliveries.
CountedBy = Callable[[EndpointQueue, EndpointSettings, Any], Hashable]


def _counted_by(key: CountedBy) -> type:
    """Queues with one window for each key, of all endpoints."""
    windows: dict[Hashable, SlidingWindow | None] = {}

    class CountedOtherwise(EndpointQueue):
        def update_limiter(
            self, endpoint: EndpointSettings, store: Any, *times: Any
        ) -> SlidingWindow | None:
            name = key(self, endpoint, store)
            self.limiter = windows.get(name)
            windows[name] = super().update_limiter(endpoint, store, *times)
            return windows[name]

    return CountedOtherwise


def _by_event_type(queue: EndpointQueue, endpoint: EndpointSettings, _store: Any) -> Hashable:
    return endpoint.uid, queue.buffer[-1].event_type


def _by_roll(_queue: EndpointQueue, endpoint: EndpointSettings, _store: Any) -> Hashable:
    return endpoint.uid, len(endpoint.secrets)


def _by_creation(_queue: EndpointQueue, endpoint: EndpointSettings, store: Any) -> Hashable:
    return endpoint.uid, store._database.read(_NEWEST).fetchone()  # noqa: SLF001


def _by_project(_queue: EndpointQueue, endpoint: EndpointSettings, _store: Any) -> Hashable:
    return endpoint.project, endpoint.rate_limit, endpoint.rate_window_s


def _swapped_settings() -> type:
    class SwappedSettings(AlteredSettings):
        def alter_settings(self, endpoint: EndpointSettings) -> EndpointSettings:
            if endpoint.rate_limit is None:
                return endpoint
            unit_s = self._rules.rate_limit_unit.in_seconds
            return msgspec.structs.replace(
                endpoint,
                rate_limit=max(1, round(endpoint.rate_window_s / unit_s)),
                rate_window_s=endpoint.rate_limit * unit_s,
            )

    return SwappedSettings


def _limited(make: dict[str, Callable[[], type]], what: str, *, dropped: str = "") -> FindDefect:
    """The defect that replaces the counting, by the parameter `by` if there is one."""

    def defect(place: Place, given: Parameters, dialect: Dialect) -> Alteration | None:
        if place.kind is not PlaceKind.LIMITED:
            return None
        drops = dialect.delivery.excess.value is Excess.DROPPED
        violates = violated_by_delivery(place, (dropped or what) if drops else what)
        return Alteration(part=make[given.get("by", "")], violates=violates)

    return defect


_LIMITS: Final = "rate limits"
_operator: Final = operators_of(GROUP)
OPERATORS: Final = (
    _operator(
        "limit_per_event_type",
        "The requests of each event_type are counted apart",
        _LIMITS,
        _limited({"": partial(_counted_by, _by_event_type)}, "uncounted"),
    ),
    _operator(
        "limit_reset",
        "The count begins again with a roll, or with the creation of any endpoint",
        _LIMITS,
        _limited(
            {
                "roll": partial(_counted_by, _by_roll),
                "creation": partial(_counted_by, _by_creation),
            },
            "uncounted",
        ),
        {"by": "roll"},
        {"by": "creation"},
    ),
    _operator(
        "limit_swapped",
        "The rate_limit and its duration are taken for each other",
        _LIMITS,
        _limited({"": _swapped_settings}, "swapped"),
    ),
    _operator(
        "limit_shared",
        "Endpoints of a project with the same limit are counted together",
        _LIMITS,
        _limited({"": partial(_counted_by, _by_project)}, "shared", dropped="shared_dropped"),
    ),
)
