"""Operators on single values: lost, taken for another type or value, exchanged."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from hookproof.mockserver.faults.operators.altered_fields import (
    ABSENT,
    ChangeObject,
    alter_place,
    change_at,
)
from hookproof.mockserver.faults.operators.distinguishing_values import is_changed_in_sources
from hookproof.mockserver.faults.operators.field_operators import (
    changes_kind,
    field_defect,
    leaf_operator,
    never_seen,
    shows_nothing_as_empty,
    whole_values,
)
from hookproof.mockserver.faults.operators.laws import requirements_of, violated_by_field
from hookproof.mockserver.faults.operators.operator import (
    Alteration,
    FindDefect,
    Operator,
    Parameters,
    operators_of,
)
from hookproof.mockserver.faults.operators.place import (
    ENVELOPE,
    Content,
    Place,
    PlaceKind,
    ValueKind,
)
from hookproof.mockserver.faults.operators.places import STORED_FIELDS
from hookproof.mockserver.faults.support.altered_responses import (
    BROADCAST,
    CREATIONS,
    GET_ENDPOINT,
    ON_PORTAL_LINKS,
    ROLL,
    UPDATE_PORTAL_LINK,
    Object,
)
from hookproof.spec.dialect.model import Dialect

GROUP: Final = "values"
_RATE: Final = {"rate_limit", "rate_limit_duration"}
# What no delivery can do without: the store of the reference server has it for every endpoint.
_NEEDED: Final = frozenset(
    {"url", "content_type", "advanced_signatures", "http_timeout", "rate_limit_duration"}
)
_ZEROS: Final[Mapping[ValueKind, Any]] = {
    ValueKind.TEXT: "",
    ValueKind.NUMBER: 0,
    ValueKind.BOOLEAN: False,
    ValueKind.ARRAY: [],
}


def _is_needed(place: Place) -> bool:
    """Whether the reference server would fail altogether without the value."""
    if place.kind is PlaceKind.STORED:
        return place.operation == "createEndpoint" and place.path[0] in _NEEDED
    return place.kind is PlaceKind.TAKEN and place.path == ("url",)


def _lost(place: Place, _parameters: Parameters, dialect: Dialect) -> Alteration | None:
    if place.field is None or _is_needed(place):
        return None
    reason = never_seen(place, dialect)
    if place.kind is not PlaceKind.SHOWN and place.path == ("is_disabled",):
        return _as_value(place, False, dialect)
    return field_defect(place, lambda _value: ABSENT, dialect, equivalent=reason)


def _zero(place: Place, _parameters: Parameters, dialect: Dialect) -> Alteration | None:
    field = place.field
    if field is None or field.value not in _ZEROS or field.content is not Content.FREE:
        return None
    if _is_needed(place) or place.path == (ENVELOPE, "message"):
        return None
    if place.kind is PlaceKind.SHOWN and shows_nothing_as_empty(dialect):
        return None  # a value that is lost is shown so
    alteration = _as_value(place, _ZEROS[field.value], dialect)
    is_shown = place.kind is PlaceKind.SHOWN and place.operation in CREATIONS
    if not is_shown or place.path != ("owner_id",):
        return alteration
    # It was sent as appID: an empty text was given by nobody.
    return replace(alteration, violates=requirements_of(*alteration.violates, "no_value_form"))


def _reversed(place: Place, parameters: Parameters, dialect: Dialect) -> Alteration | None:
    """Where active endpoints are taken for disabled ones, broadcasts do not reach them either."""
    defect = whole_values((ValueKind.BOOLEAN,), lambda value, _: not value)
    alteration = defect(place, parameters, dialect)
    if alteration is None or place.kind is PlaceKind.SHOWN or place.path != ("is_disabled",):
        return alteration
    violates = requirements_of(*alteration.violates, "delivered reached")
    return replace(alteration, violates=violates)


def _default(place: Place, _parameters: Parameters, dialect: Dialect) -> Alteration | None:
    field = place.field
    if field is None or len(place.path) > 1 or place.kind is PlaceKind.TAKEN:
        return None
    defaults = {
        "content_type": field.default,
        "advanced_signatures": field.default,
        "http_timeout": dialect.delivery.default_timeout_s.value,
        "rate_limit_duration": dialect.delivery.default_rate_limit_duration.value,
    }
    value = defaults.get(place.path[0])
    if value is None or (place.path[0] == "advanced_signatures"):
        return None  # a zero in its place is the same
    return _as_value(place, value, dialect)


def _as_value(place: Place, value: Any, dialect: Dialect) -> Alteration:
    """The same value in place of every other."""
    assert place.field is not None
    kind = place.field.value

    def change(found: Any) -> Any:
        return value if changes_kind((kind,), found) else found

    return field_defect(place, change, dialect, equivalent=never_seen(place, dialect))


def _shown_only(
    defect: FindDefect,
) -> FindDefect:
    """The store has types of its own: only an answer can show another one."""

    def shown(place: Place, given: Parameters, dialect: Dialect) -> Alteration | None:
        return defect(place, given, dialect) if place.kind is PlaceKind.SHOWN else None

    return shown


def _false_as_absent(place: Place, given: Parameters, dialect: Dialect) -> Alteration | None:
    if place.field is None or _is_needed(place):
        return None

    def excuse(at: Place) -> str:
        if at.path == (ENVELOPE, "status"):
            return "a successful answer never shows false there"
        created = at.operation == "createEndpoint" and at.kind is not PlaceKind.SHOWN
        return "false is what it is without a value" if created else ""

    kinds = (ValueKind.BOOLEAN,)
    return whole_values(kinds, lambda value, _: value or ABSENT, excuse=excuse)(
        place, given, dialect
    )


def _swapped(place: Place, _parameters: Parameters, dialect: Dialect) -> Alteration | None:
    field = place.field
    if field is None or not field.neighbour:
        return None
    if place.kind is PlaceKind.STORED and place.operation == BROADCAST:
        return None  # they are stored in columns of their own
    other = replace(place, path=(*place.path[:-1], field.neighbour))
    if _is_needed(place) or _is_needed(other):
        return None
    names = place.path[-1], field.neighbour

    def swap(holder: Object) -> None:
        found = [holder.pop(name, ABSENT) for name in names]
        holder |= {
            name: value
            for name, value in zip(names, reversed(found), strict=True)
            if value is not ABSENT
        }

    whole = _in_holder(place.path[:-1], swap)
    reason = (
        never_seen(place, dialect) or _both_the_same(place) or _both_missing(place, other, dialect)
    )
    violates = {
        *(name for at in (place, other) for name in violated_by_field(at, _of_same_type, dialect)),
        *_violated_by_swap(place, {*names}, field.value is ValueKind.TEXT),
    }
    masked = {".".join(at.path) for at in (place, other)} & {*dialect.representation.masked}
    if len(masked) == 1:  # a masked value stands where values are shown
        violates.add("masked")
    part = partial(alter_place, place, whole)
    return Alteration(part=part, violates=requirements_of(*violates), equivalent=reason)


def _violated_by_swap(place: Place, names: set[str], are_texts: bool) -> Iterator[str]:
    """The laws that neither field alone breaks with another value of its type."""
    is_shown = place.kind is PlaceKind.SHOWN
    if place.kind is PlaceKind.TAKEN and place.operation == UPDATE_PORTAL_LINK:
        yield "left_out"  # what is sent for one of them leaves the other one out
    is_sent = names & {*STORED_FIELDS.get(place.operation, ())} and len(place.path) == 1
    if is_sent and place.operation in CREATIONS and are_texts:
        yield "no_value_form"  # an empty text that was sent for one stands in place of the other
    if is_shown and place.path == ("data",):
        yield f"typed@{place.operation}"  # its members are of any type
    if "failure_rate" in names and place.operation in (GET_ENDPOINT, *ON_PORTAL_LINKS):
        yield "rate_in_bounds"  # no count of events is a rate
    if is_shown and "owner_id" in names and place.operation in ON_PORTAL_LINKS:
        yield "no_old_owners_members left_out"  # it may have no value, and seem to be cleared
    if not is_shown and names == _RATE:
        yield "limits_apart default_duration"  # the limit of the endpoint is slower, or is none
    if not is_shown and "owner_id" in names:
        # What is sent under another name for it stands in its place, too.
        yield "deprecated_meaning@createEndpoint"
    if not is_shown and "is_disabled" in names:
        # Broadcasts do not reach the endpoint.
        yield "delivered reached default_shown@createEndpoint.advanced_signatures"
    if not is_shown and "idempotency_key" in names:
        # Events of one type are duplicates.
        yield "delivered reached keyless_no_duplicate first_no_duplicate"


def _both_the_same(place: Place) -> str:
    """Whether nothing has changed a resource since it was created."""
    changes = place.operation in (GET_ENDPOINT, ROLL, *ON_PORTAL_LINKS)
    is_time = place.path[-1] == "created_at"
    return "" if changes or not is_time else "both times are the same there"


def _both_missing(place: Place, other: Place, dialect: Dialect) -> str:
    shown = [*_sources_with(place, dialect), *_sources_with(other, dialect)]
    if place.path[0] == "source_metadata" and shown and not all(shown):
        return "the source of an event may have a value where the list shows none"
    return "no source of the reference server shows them" if shown and not any(shown) else ""


def _sources_with(place: Place, dialect: Dialect) -> tuple[bool, ...]:
    """Whether each source that can stand there has a value; empty for other places."""
    none = (None, ABSENT, "")
    return is_changed_in_sources(place, lambda value: value if value in none else "other", dialect)


def _of_same_type(value: Any) -> Any:
    """Stands for another value of the same type and form."""
    return value


def _in_holder(path: tuple[str, ...], change: ChangeObject) -> ChangeObject:
    """A change of the object at a path; of each, where there is an array on the way."""
    if not path:
        return change

    def change_member(value: Any) -> Any:
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, dict):
                change(item)
        return value

    return change_at(path, change_member)


def _other_type(change: Callable[[Any], Any], *kinds: ValueKind) -> Any:
    return _shown_only(whole_values(kinds, lambda value, _: change(value)))


def _as_text(value: Any) -> str:
    return str(value).lower()


_ANY_PLACE: Final = "fields, taken, stored or shown"
_leaf_number: Final[Callable[..., Operator]] = partial(
    leaf_operator, group=GROUP, kind=ValueKind.NUMBER
)
_operator: Final = operators_of(GROUP)
OPERATORS: Final = (
    _operator("value_lost", "A value is lost", _ANY_PLACE, _lost),
    _operator(
        "zero_instead", "Nothing, zero or false stands in place of a value", _ANY_PLACE, _zero
    ),
    _operator(
        "default_instead",
        "The default stands in place of a value",
        "fields with a default, stored or shown",
        _default,
    ),
    _leaf_number(
        "number_rounded",
        "A number is rounded to tens",
        lambda number, _: int(round(number, -1)),
    ),
    _leaf_number(
        "number_clamped",
        "A number is at most the largest of a narrow type",
        lambda number, given: min(number, int(given["most"])),
        parameters=({"most": "127"}, {"most": "32767"}),
    ),
    _leaf_number("sign_lost", "A number loses its sign", lambda number, _: abs(number)),
    _operator(
        "shown_as_text",
        "A number or a boolean is shown as a text",
        "numbers and booleans, shown",
        _other_type(_as_text, ValueKind.NUMBER, ValueKind.BOOLEAN),
    ),
    _operator(
        "shown_as_number",
        "A boolean is shown as 0 or 1",
        "booleans, shown",
        _other_type(int, ValueKind.BOOLEAN),
    ),
    _operator(
        "shown_in_a_list",
        "A single value is shown as a list of one",
        "texts, numbers and objects, shown",
        _other_type(lambda value: [value], ValueKind.TEXT, ValueKind.NUMBER, ValueKind.OBJECT),
    ),
    _operator(
        "false_as_absent",
        "False is taken for no value",
        "booleans, taken, stored or shown",
        _false_as_absent,
    ),
    _operator(
        "boolean_reversed",
        "True and false are taken for each other",
        "booleans, taken, stored or shown",
        _reversed,
    ),
    _operator(
        "swapped_with_neighbour",
        "Two fields of the same kind are exchanged",
        "fields with a neighbour of the same kind, taken, stored or shown",
        _swapped,
    ),
)
