"""Operators on objects and arrays: members and elements lost, doubled, merged, cut off."""

from collections.abc import Callable
from typing import Any, Final

from hookproof.mockserver.faults.operators.altered_fields import ABSENT, everywhere_within
from hookproof.mockserver.faults.operators.field_operators import (
    field_defect,
    never_seen,
    whole_values,
)
from hookproof.mockserver.faults.operators.operator import (
    Alteration,
    FindDefect,
    Parameters,
    operators_of,
)
from hookproof.mockserver.faults.operators.place import Place, PlaceKind, ValueKind
from hookproof.mockserver.faults.support.altered_responses import Object
from hookproof.spec.dialect.model import Dialect

GROUP: Final = "values"
_CUT_BELOW: Final = 2
# The order of their elements means something; of others the document says nothing.
_ORDERED: Final = frozenset({"data"})


def _elements(
    change_value: Callable[[list[Any], Parameters], list[Any]],
    excuse: Callable[[Place], str] = lambda _place: "",
) -> FindDefect:
    return whole_values((ValueKind.ARRAY,), change_value, excuse=excuse)


def _order_is_open(place: Place) -> str:
    ordered = place.path[-1] in _ORDERED or "pub_sub" in place.path
    return "" if ordered else "the document says nothing about the order of the elements"


def _doubles_do_not_count(place: Place) -> str:
    taken = place.kind is not PlaceKind.SHOWN and place.path == ("endpoints",)
    return "an endpoint that is named twice is in the portal link once" if taken else ""


def _anything(
    change_object: Callable[[Object, Parameters], Object],
) -> FindDefect:
    """A change of objects that may hold anything."""

    def defect(place: Place, given: Parameters, dialect: Dialect) -> Alteration | None:
        if place.field is None or not place.field.holds_anything:
            return None

        def change(value: Any) -> Any:
            return change_object(value, given) if isinstance(value, dict) else value

        return field_defect(place, change, dialect, equivalent=never_seen(place, dialect))

    return defect


def _nested_anything(
    change_object: Callable[[Object, Parameters], Object],
) -> FindDefect:
    """The same, where objects may lie within objects: headers are texts (section 4.8)."""
    defect = _anything(change_object)

    def nested(place: Place, given: Parameters, dialect: Dialect) -> Alteration | None:
        return defect(place, given, dialect) if place.path == ("data",) else None

    return nested


def _without_member(value: Object, given: Parameters) -> Object:
    names = list(value)
    lost = names[:1] if given["which"] == "first" else names[-1:]
    return {name: member for name, member in value.items() if name not in lost}


def _without_element(value: list[Any], given: Parameters) -> list[Any]:
    return value[1:] if given["which"] == "first" else value[:-1]


def _merged(value: Object, _given: Parameters) -> Object:
    """Members of objects within the object become its own."""
    merged: Object = {}
    for name, member in value.items():
        merged |= member if isinstance(member, dict) else {name: member}
    return merged


def _cut_off(value: Any, depth: int) -> Any:
    if isinstance(value, dict):
        return {name: _cut_off(one, depth - 1) for name, one in value.items()} if depth else {}
    if isinstance(value, list):
        return [_cut_off(one, depth - 1) for one in value] if depth else []
    return value


def _without_null(value: Any, _given: Parameters) -> Any:
    return everywhere_within(lambda leaf: ABSENT if leaf is None else leaf)(value)


_EDGES: Final = ({"which": "first"}, {"which": "last"})
_operator: Final = operators_of(GROUP)
OPERATORS: Final = (
    _operator(
        "member_lost",
        "An object loses a member",
        "objects of any content",
        _anything(_without_member),
        *_EDGES,
    ),
    _operator(
        "members_merged",
        "Objects within an object are merged into it",
        "data of events",
        _nested_anything(_merged),
    ),
    _operator(
        "nested_cut",
        "What lies deeper than the second level is cut off",
        "data of events",
        _nested_anything(lambda value, _: _cut_off(value, _CUT_BELOW)),
    ),
    _operator(
        "nulls_lost",
        "Members that are null are lost",
        "data of events",
        _nested_anything(_without_null),
    ),
    _operator(
        "element_lost",
        "An array loses an element",
        "arrays, taken, stored or shown",
        _elements(_without_element),
        *_EDGES,
    ),
    _operator(
        "elements_reversed",
        "An array is in reverse order",
        "arrays, taken, stored or shown",
        _elements(lambda value, _: value[::-1], _order_is_open),
    ),
    _operator(
        "elements_doubled",
        "An array has its last element twice",
        "arrays, taken, stored or shown",
        _elements(lambda value, _: [*value, *value[-1:]], _doubles_do_not_count),
    ),
)
