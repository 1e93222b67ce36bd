"""Every fault that the operators make under a dialect, and the one that a name stands for."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, Final

from hookproof.mockserver.faults.operators.allowed import why_allowed
from hookproof.mockserver.faults.operators.delivery_places import places_of_deliveries
from hookproof.mockserver.faults.operators.kinds import (
    filters,
    keys,
    pages,
    refusals,
    staleness,
    structures,
    texts,
    values,
    writes,
)
from hookproof.mockserver.faults.operators.kinds.deliveries import (
    answers,
    duplicates,
    limits,
    reach,
    secrets,
    sent_parts,
    trust,
)
from hookproof.mockserver.faults.operators.operator import AT, GeneratedFault, Operator, Parameters
from hookproof.mockserver.faults.operators.place import Place
from hookproof.mockserver.faults.operators.places import places_of
from hookproof.spec.contract.service_contract import contract_for
from hookproof.spec.dialect.model import Dialect

OPERATORS: Final[Mapping[str, Operator]] = MappingProxyType(
    {
        operator.name: operator
        for operator in (
            *texts.OPERATORS,
            *values.OPERATORS,
            *structures.OPERATORS,
            *writes.OPERATORS,
            *staleness.OPERATORS,
            *filters.OPERATORS,
            *pages.OPERATORS,
            *keys.OPERATORS,
            *refusals.OPERATORS,
            *sent_parts.OPERATORS,
            *answers.OPERATORS,
            *limits.OPERATORS,
            *reach.OPERATORS,
            *trust.OPERATORS,
            *duplicates.OPERATORS,
            *secrets.OPERATORS,
        )
    }
)


class UnknownGeneratedFault(ValueError):
    """A name that no operator, place or parameter has; the message says which, in one line."""


def generated_faults(dialect: Dialect) -> Iterator[GeneratedFault]:
    """All that the operators make of the places of a service, the equivalent ones too."""
    for place in _all_places(dialect):
        for operator in OPERATORS.values():
            for parameters in operator.parameters:
                item = _generated(operator, place, parameters, dialect)
                if item is not None:
                    yield item


def find_generated_fault(name: str, dialect: Dialect) -> GeneratedFault:
    """The fault with this name; raises UnknownGeneratedFault."""
    head, _, members = name.partition(":")
    word, _, where = head.partition(AT)
    operator = OPERATORS.get(word)
    if operator is None:
        raise UnknownGeneratedFault(f"there is no operator {word!r}{_near(word, OPERATORS)}")
    places = {place.name: place for place in _all_places(dialect)}
    place = places.get(where)
    if place is None:
        raise UnknownGeneratedFault(f"there is no place {where!r}{_near(where, places)}")
    given = dict(_pair(pair) for pair in members.split(",") if pair)
    if given not in operator.parameters:
        known = " or ".join(map(_written, operator.parameters)) or "nothing"
        raise UnknownGeneratedFault(f"{word} accepts {known}, not {members!r}")
    item = _generated(operator, place, given, dialect)
    if item is None:
        raise UnknownGeneratedFault(
            f"{word} makes no sense at {where}: it is for {operator.applies_to}"
        )
    return item


def describe_generated(dialect: Dialect) -> dict[str, Any]:
    """The operators, and all that they make under a dialect, as plain data."""
    return {
        "operators": [
            {
                "name": operator.name,
                "group": operator.group,
                "sentence": operator.sentence,
                "applies_to": operator.applies_to,
            }
            for operator in OPERATORS.values()
        ],
        "faults": [item.describe() for item in generated_faults(dialect)],
    }


def _all_places(dialect: Dialect) -> Iterator[Place]:
    yield from places_of(contract_for(dialect), dialect)
    yield from places_of_deliveries()


def _generated(
    operator: Operator, place: Place, parameters: Parameters, dialect: Dialect
) -> GeneratedFault | None:
    defect = operator.defect(place, parameters, dialect)
    if defect is None:
        return None
    if not defect.violates and not defect.equivalent:
        defect = replace(defect, equivalent=why_allowed(operator.name, place))
    return GeneratedFault(operator=operator, place=place, parameters=parameters, defect=defect)


def _pair(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return name, value


def _written(parameters: Parameters) -> str:
    return ",".join(f"{name}={value}" for name, value in parameters.items()) or "no parameters"


def _near(word: str, known: Mapping[str, Any]) -> str:
    near = get_close_matches(word, known, n=1)
    return f"; did you mean {near[0]}?" if near else ""
