"""Operators on the fan-out: one of several endpoints that a broadcast reaches is left out."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from hookproof.mockserver.faults.catalogue.deliveries.fan_out import FirstBroadcastMissed
from hookproof.mockserver.faults.operators.delivery_laws import violated_by_delivery
from hookproof.mockserver.faults.operators.operator import Alteration, Parameters, operators_of
from hookproof.mockserver.faults.operators.place import Place, PlaceKind
from hookproof.mockserver.store.endpoints import EndpointRow
from hookproof.mockserver.store.events import EventTable, NewEvent
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import Reach

GROUP: Final = "deliveries"
# The position of the endpoint that is left out, among those of its group in order of creation.
_POSITIONS: Final[dict[str, Callable[[int], int]]] = {
    "first": lambda _: 0,
    "second": lambda _: 1,
    "middle": lambda count: count // 2,
    "last": lambda count: count - 1,
}
# Left out is each endpoint that no event has reached yet: the one created just before.
_NEW: Final = "new"
_IN_GROUP: Final[dict[str, Callable[[EndpointRow], bool]]] = {
    "all": lambda _: True,
    "owned": lambda endpoint: endpoint.owner_id is not None,
    "unowned": lambda endpoint: endpoint.owner_id is None,
}


def _left_out(place: Place, given: Parameters, dialect: Dialect) -> Alteration | None:
    if place.kind is not PlaceKind.REACHED:
        return None
    (group,), which = place.path, given["which"]
    if which == _NEW:
        if group != "all":
            return None
        violates = violated_by_delivery(place, "new_left_out")
        return Alteration(part=lambda: FirstBroadcastMissed, violates=violates)
    reason = ""
    if group == "unowned" and Reach.OWNED_ENDPOINTS in dialect.delivery.reach.allowed:
        reason = "a broadcast need not reach endpoints without an owner_id"
    return Alteration(
        part=partial(_without_one, _IN_GROUP[group], _POSITIONS[which]),
        violates=() if reason else violated_by_delivery(place, "left_out"),
        equivalent=reason,
    )


def _without_one(in_group: Callable[[EndpointRow], bool], position: Callable[[int], int]) -> type:
    class OneLeftOut(EventTable):
        def add(self, event: NewEvent, *, reached: Sequence[EndpointRow], now: float) -> None:
            group = [endpoint for endpoint in reached if in_group(endpoint)]
            left_out = group[position(len(group))] if len(group) > 1 else None
            others = [endpoint for endpoint in reached if endpoint is not left_out]
            super().add(event, reached=others, now=now)

    return OneLeftOut


_operator: Final = operators_of(GROUP)
OPERATORS: Final = (
    _operator(
        "endpoint_left_out",
        "One of several endpoints that a broadcast reaches gets nothing",
        "all endpoints that a broadcast reaches, those with an owner_id, and those without",
        _left_out,
        *({"which": which} for which in (*_POSITIONS, _NEW)),
    ),
)
