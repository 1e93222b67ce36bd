"""Makes operators of functions that change one value, for all the places of fields."""

from collections.abc import Callable, Collection
from functools import partial
from typing import Any, Final

from hookproof.mockserver.faults.operators.altered_fields import (
    ABSENT,
    Change,
    alter_place,
    blank_for,
    change_at,
    everywhere_within,
)
from hookproof.mockserver.faults.operators.distinguishing_values import (
    is_changed_in_sources,
    telling_values,
)
from hookproof.mockserver.faults.operators.laws import violated_by_field
from hookproof.mockserver.faults.operators.operator import (
    Alteration,
    FindDefect,
    Operator,
    Parameters,
)
from hookproof.mockserver.faults.operators.place import (
    ENVELOPE,
    Content,
    Place,
    PlaceKind,
    ValueKind,
)
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import (
    AppIdMeaning,
    EventEcho,
    NoValue,
    PortalEndpointsMeaning,
    SecretDisplay,
)

# Changes a value of the kind that an operator is for, by its parameters.
ChangeValue = Callable[[Any, Parameters], Any]

_PYTHON: Final[dict[ValueKind, tuple[type, ...]]] = {
    ValueKind.TEXT: (str,),
    ValueKind.NUMBER: (int, float),
    ValueKind.BOOLEAN: (bool,),
    ValueKind.OBJECT: (dict,),
    ValueKind.ARRAY: (list,),
}
_IN_WORDS: Final = {
    ValueKind.TEXT: "texts",
    ValueKind.NUMBER: "numbers",
    ValueKind.BOOLEAN: "booleans",
    ValueKind.OBJECT: "objects",
    ValueKind.ARRAY: "arrays",
}
SETS_SECRETS: Final = ("createEndpoint", "expireEndpointSecret")


def leaf_operator(
    name: str,
    sentence: str,
    change_value: ChangeValue,
    *,
    group: str,
    kind: ValueKind,
    parameters: tuple[Parameters, ...] = ({},),
) -> Operator:
    """An operator on texts, numbers or booleans, within arrays and objects of any content too."""

    def defect(place: Place, given: Parameters, dialect: Dialect) -> Alteration | None:
        field = place.field
        if field is None or place.path[0] == ENVELOPE:
            return None  # the document lets the message be any text (section 2.1)
        if not (kind in (field.value, field.element) or field.holds_anything):
            return None
        change = everywhere_within(partial(_change_of_kind, kind, change_value, given))
        reason = never_seen(place, dialect)
        if not reason and all(
            change(value) == value for value in telling_values(place, kind, dialect)
        ):
            reason = f"it changes none of the {_IN_WORDS[kind]} that can stand there"
        return field_defect(place, change, dialect, equivalent=reason)

    return Operator(
        name=name,
        group=group,
        sentence=sentence,
        applies_to=f"{_IN_WORDS[kind]}, taken, stored or shown",
        defect=defect,
        parameters=parameters,
    )


def whole_values(
    kinds: tuple[ValueKind, ...],
    change_value: ChangeValue,
    *,
    excuse: Callable[[Place], str] = lambda _place: "",
) -> FindDefect:
    """A change of whole values of these kinds."""

    def defect(place: Place, given: Parameters, dialect: Dialect) -> Alteration | None:
        if place.field is None or place.field.value not in kinds:
            return None

        def change(value: Any) -> Any:
            return change_value(value, given) if changes_kind(kinds, value) else value

        reason = never_seen(place, dialect) or excuse(place)
        return field_defect(place, change, dialect, equivalent=reason)

    return defect


def field_defect(
    place: Place, change: Change, dialect: Dialect, *, equivalent: str = ""
) -> Alteration:
    """The defect of a field that is changed at its place."""
    shown = partial(_shown_as_blank, change, _empty(place), dialect)
    used = shown if place.kind is PlaceKind.SHOWN or _is_stored_as_shown(place) else change
    in_sources = is_changed_in_sources(place, used, dialect)
    if not equivalent and in_sources and not any(in_sources):
        equivalent = "no source of the reference server shows it"
    violates = () if equivalent else violated_by_field(place, used, dialect)
    part = partial(alter_place, place, change_at(place.path, used))
    return Alteration(part=part, violates=violates, equivalent=equivalent)


def never_seen(place: Place, dialect: Dialect) -> str:
    """Why nobody can see the value at this place, if so."""
    field = place.field
    assert field is not None
    if field.content is Content.NEVER:
        return "the reference server never gives it a value"
    if field.content is Content.MASKED or _is_masked_secret(place, dialect):
        return "the dialect masks it"
    if place.kind is PlaceKind.SHOWN:
        is_new = place.operation == "createEndpoint" and place.path == ("secrets", "expires_at")
        return "the secret of a new endpoint does not expire" if is_new else ""
    unused = {
        "appID": dialect.requests.app_id.value is AppIdMeaning.IGNORED,
        "endpoints": dialect.requests.portal_endpoints.value is PortalEndpointsMeaning.IGNORED,
        "acknowledged_at": dialect.representation.event_acknowledged_at.prefers(EventEcho.NONE),
        "event_type": place.kind is PlaceKind.STORED and not dialect.delivery.event_type_header,
    }
    return "the dialect makes no use of it" if unused.get(place.path[0]) else ""


def changes_kind(kinds: Collection[ValueKind], value: Any) -> bool:
    """Whether a value is of one of these kinds; a boolean is no number."""
    if isinstance(value, bool):
        return ValueKind.BOOLEAN in kinds
    return any(isinstance(value, _PYTHON[kind]) for kind in kinds)


def _change_of_kind(
    kind: ValueKind, change_value: ChangeValue, given: Parameters, value: Any
) -> Any:
    return change_value(value, given) if changes_kind((kind,), value) else value


def _is_masked_secret(place: Place, dialect: Dialect) -> bool:
    return (
        place.path[-2:] == ("secrets", "value")
        and place.path[:1] == ("secrets",)
        and place.operation not in SETS_SECRETS
        and dialect.representation.secrets_shown.value is SecretDisplay.WHEN_SET
    ) or (
        place.path[-2:] == ("secrets", "value")
        and len(place.path) > 2
        and dialect.representation.secrets_shown.value is SecretDisplay.WHEN_SET
    )


def _shown_as_blank(change: Change, empty: Any, dialect: Dialect, value: Any) -> Any:
    """What an answer shows: a value that is dropped has the dialect's form of none."""
    changed = change(value)
    return blank_for(dialect, empty) if changed is ABSENT and value is not ABSENT else changed


def _is_stored_as_shown(place: Place) -> bool:
    """Whether the store holds the value in the form in which answers show it."""
    return place.kind is PlaceKind.STORED and place.operation in (
        "createEndpoint",
        "updatePortalLink",
    )


def _empty(place: Place) -> Any:
    assert place.field is not None
    return {
        ValueKind.TEXT: "",
        ValueKind.NUMBER: 0,
        ValueKind.BOOLEAN: False,
        ValueKind.OBJECT: {},
        ValueKind.ARRAY: [],
    }[place.field.value]


def shows_nothing_as_empty(dialect: Dialect) -> bool:
    return dialect.representation.no_value.value is NoValue.EMPTY
