"""What was done to single resources, for laws about several exchanges with one of them.

As in a run of `hookproof check`, nobody else changes these resources meanwhile.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, Final

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import refused, shown, shown_uid, was_accepted

# The role of each operation on one resource.
ROLES: Final[Mapping[str, str]] = {
    "createEndpoint": "create",
    "getEndpoint": "fetch",
    "expireEndpointSecret": "roll",
    "getPortalLink": "retrieve",
    "updatePortalLink": "update",
}
CHANGING: Final = frozenset({"expireEndpointSecret", "updatePortalLink"})
# The most resources that are known, and exchanges with each; the oldest are forgotten.
MOST: Final = 500
LONGEST: Final = 12


@dataclass(slots=True)
class Histories:
    """The exchanges with each resource by its uid, in order, as far as all changes are known.

    While a change is on its way, and if it is not known what became of it, nothing is known.
    """

    _by_uid: dict[str, tuple[Exchange, ...]] = field(default_factory=dict)
    _on_the_way: dict[str, tuple[str, tuple[Exchange, ...]]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def begin_change(self, request_id: str, uid: str) -> None:
        """A change of this resource is about to be sent."""
        with self._lock:
            known = self._by_uid.pop(uid, ())
            self._on_the_way[request_id] = (uid, known)
            _forget_oldest(self._on_the_way)

    def add(self, request_id: str, exchange: Exchange, *, is_valid: bool) -> tuple[Exchange, ...]:
        """Add an exchange, and return those with its resource up to it; none where it tells nothing
        of the resource. `is_valid` is whether the request was meant to fit the contract.
        """
        operation = exchange.operation_id or ""
        with self._lock:
            uid, earlier = self._on_the_way.pop(request_id, (None, ()))
            if uid is not None and refused(exchange):
                self._by_uid[uid] = earlier
            if operation not in ROLES or not was_accepted(exchange) or not shown(exchange):
                return ()
            shown_as = shown_uid(exchange)
            if shown_as is None or not is_valid or (uid or shown_as) != shown_as:
                return ()
            known = earlier if operation in CHANGING else self._by_uid.get(shown_as, ())
            if operation in CHANGING and uid is None:
                return ()
            if known and exchange.sent_at < known[-1].sent_at + known[-1].duration_s:
                return ()  # at the same time: their order is not known
            history = (*known, replace(exchange, role=ROLES[operation]))[-LONGEST:]
            self._by_uid[shown_as] = history
            _forget_oldest(self._by_uid)
            return history


def _forget_oldest(known: dict[str, Any]) -> None:
    while len(known) > MOST:
        del known[next(iter(known))]
