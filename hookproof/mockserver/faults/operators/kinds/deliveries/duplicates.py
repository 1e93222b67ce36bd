"""Operators on the idempotency_key: compared otherwise, or for a while."""

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import msgspec

from hookproof.mockserver.api.handlers.events import EventHandlers
from hookproof.mockserver.api.service import OperationCall, OperationResult
from hookproof.mockserver.faults.catalogue.api.events import KeysOfEveryProject
from hookproof.mockserver.faults.operators.delivery_laws import violated_by_delivery
from hookproof.mockserver.faults.operators.operator import (
    Alteration,
    FindDefect,
    Parameters,
    operators_of,
)
from hookproof.mockserver.faults.operators.place import Place, PlaceKind
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import Duplicate

GROUP: Final = "deliveries"
_KEY: Final = "idempotency_key"
# The text by which a key is compared; the second argument is the body of the request.
Compared = Callable[[str, Mapping[str, Any]], str]


def _at_keys(
    make: Callable[[Parameters], Callable[[], type]], *wrong: str, with_first: str = ""
) -> FindDefect:
    """The defect of how keys are compared; `with_first` is wrong besides where the first event is
    what a duplicate is answered with.
    """

    def defect(place: Place, given: Parameters, dialect: Dialect) -> Alteration | None:
        if place.kind is not PlaceKind.COMPARED:
            return None
        is_first = dialect.idempotency.duplicate.value is Duplicate.FIRST_EVENT
        words = (*wrong, with_first) if is_first else wrong
        return Alteration(part=make(given), violates=violated_by_delivery(place, *words))

    return defect


def _compared_by(text: Compared) -> type:
    class ComparedOtherwise(EventHandlers):
        def create_broadcast(self, call: OperationCall) -> OperationResult:
            key = call.body.get(_KEY)
            if not key:
                return super().create_broadcast(call)
            self._given = key
            body = {**call.body, _KEY: text(key, call.body)}
            return super().create_broadcast(msgspec.structs.replace(call, body=body))

        def _record(self, call: OperationCall, *further: Any, **more: Any) -> dict[str, Any]:
            record = super()._record(call, *further, **more)
            return {**record, _KEY: self._given} if call.body.get(_KEY) else record

    return ComparedOtherwise


def _kept_for(seconds: float) -> type:
    """Keys are forgotten so many seconds after they were used first."""
    used: dict[str, tuple[float, int]] = {}

    def with_number(key: str, _body: Mapping[str, Any]) -> str:
        now = time.monotonic()
        since, number = used.get(key, (now, 0))
        if now - since >= seconds:
            since, number = now, number + 1
        used[key] = since, number
        return f"{number} {key}"

    return _compared_by(with_number)


def _with_type(key: str, body: Mapping[str, Any]) -> str:
    return f"{body.get('event_type', '')} {key}"


_ALIKE_BY: Final[Mapping[str, Compared]] = {
    "trimmed": lambda key, _: key.strip(),
    "any_case": lambda key, _: key.lower(),
    "start": lambda key, _: key[:32],
    "letters": lambda key, _: "".join(filter(str.isalnum, key)) or key,
}
_KEYS: Final = "idempotency keys"
_operator: Final = operators_of(GROUP)
OPERATORS: Final = (
    _operator(
        "key_compared_loosely",
        "Idempotency keys are compared without spaces around them, in any case, by their first 32"
        " characters, or by letters and digits alone",
        _KEYS,
        _at_keys(
            lambda given: partial(_compared_by, _ALIKE_BY[given["how"]]),
            "alike",
            with_first="shown_as_first",
        ),
        *({"how": how} for how in _ALIKE_BY),
    ),
    _operator(
        "key_compared_by_type",
        "An idempotency_key makes a duplicate of an event with the same event_type alone",
        _KEYS,
        _at_keys(lambda _: partial(_compared_by, _with_type), "used_before"),
    ),
    _operator(
        "key_kept_for_seconds",
        "An idempotency_key is forgotten some seconds after its first use",
        _KEYS,
        _at_keys(lambda given: partial(_kept_for, float(given["seconds"])), "used_before"),
        *({"seconds": seconds} for seconds in ("1", "5", "60")),
    ),
    _operator(
        "key_of_another_project",
        "An idempotency_key that another project has used makes a duplicate",
        _KEYS,
        _at_keys(lambda _: lambda: KeysOfEveryProject, "of_others", with_first="of_others_shown"),
    ),
)
