"""Converts observations to their JSON in run.jsonl and back."""

from collections.abc import Mapping
from dataclasses import fields
from functools import partial
from typing import Any, Final

import msgspec

from hookproof.conformance.model.evidence import Evidence, Exchange, NotObserved, Observation
from hookproof.conformance.observations import observation_types
from hookproof.conformance.results.records.finding_records import types_of
from hookproof.receiver.inbox.delivery import ReceivedDelivery

_text: Final = partial(msgspec.convert, type=str)
_SHARED: Final = frozenset(field.name for field in fields(Observation))


def evidence_json(evidence: Evidence) -> dict[str, Any]:
    """A JSON object from which `evidence_of` makes an equal observation.

    `facts` holds the fields of the observation's class; `obstacle` says why there is none. Raises
    TypeError for a field that cannot be written as JSON.
    """
    shared: dict[str, Any] = {
        "experiment": evidence.experiment,
        "name": evidence.name,
        "exchanges": [exchange.to_json() for exchange in evidence.exchanges],
        "deliveries": [delivery.to_json() for delivery in evidence.deliveries],
    }
    if isinstance(evidence, NotObserved):
        own: dict[str, Any] = {
            "observation": evidence.observation,
            "facts": {},
            "obstacle": evidence.reason,
        }
    else:
        facts = own_fields(evidence)
        own = {"observation": type(evidence).__name__, "facts": facts, "obstacle": None}
    return shared | own


def evidence_of(value: Mapping[str, Any]) -> Evidence:
    """Reverse `evidence_json`; raises KeyError, TypeError or ValueError."""
    shared = {
        "experiment": _text(value["experiment"]),
        "name": _text(value["name"]),
        "exchanges": tuple(map(Exchange.from_json, value["exchanges"])),
        "deliveries": tuple(map(ReceivedDelivery.from_json, value["deliveries"])),
    }
    if value["obstacle"] is not None:
        words = {"observation": _text(value["observation"]), "reason": _text(value["obstacle"])}
        return NotObserved(**words, **shared)
    kind = observation_types()[value["observation"]]
    return kind(**shared, **own_values(kind, value["facts"]))


def own_fields(observation: Observation) -> dict[str, Any]:
    """The fields of an observation's class as JSON values; raises TypeError for others."""
    return {
        field.name: msgspec.to_builtins(getattr(observation, field.name))
        for field in fields(observation)
        if field.init and field.name not in _SHARED
    }


def own_values(kind: type[Observation], written: Mapping[str, Any]) -> dict[str, Any]:
    """Reverse `own_fields`; raises ValueError for JSON of another shape.

    What a class no longer has is left out: another version may have written the file.
    """
    hints = types_of(kind)  # type: ignore[arg-type] # a class can be hashed
    return {
        name: msgspec.convert(value, hints[name])
        for name, value in written.items()
        if name in hints
    }
