"""Which requirements a wrong field violates: those that are about it, by `about` in the catalogue.

What depends on how the field is changed, and on the dialect, is here.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from hookproof.mockserver.faults.operators.altered_fields import ABSENT, Change
from hookproof.mockserver.faults.operators.distinguishing_values import (
    is_changed_in_sources,
    telling_texts,
)
from hookproof.mockserver.faults.operators.place import (
    ENVELOPE,
    PAGINATION,
    Content,
    Place,
    PlaceKind,
    ValueKind,
)
from hookproof.spec.about import Use
from hookproof.spec.catalogue import load_catalogue
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import EventSource, SortKey

_FORMS: Final = {Content.IDENTIFIER: "identifier_form", Content.TIMESTAMP: "timestamp_form"}
_DEFAULTS: Final = ("content_type", "advanced_signatures")


def violated_by_field(place: Place, change: Change, dialect: Dialect) -> tuple[str, ...]:
    """The requirements that a changed field violates, in the order of the catalogue."""
    laws = {*_by_default(place, change)}
    if place.kind is PlaceKind.SHOWN:
        uses = (Use.SHOWN,) if _loses(change, place) else (Use.SHOWN, Use.IF_SHOWN)
        laws |= {
            *_by_type(place, change),
            *_by_form(place, change, dialect),
            *_by_dialect(place, change, dialect),
        }
    elif place.kind is PlaceKind.TAKEN:
        uses = (Use.TAKEN,)
    elif place.operation == "createBroadcastEvent":
        uses = (Use.STORED,)  # what its answer shows is right
    else:
        uses = (Use.TAKEN, Use.STORED)
    found = _about(place.operation, ".".join(place.path), uses)
    return requirements_of(*{*found, *requirements_of(*laws)} - _unjudged(dialect))


def requirements_of(*laws: str) -> tuple[str, ...]:
    """The requirements of these laws in the order of the catalogue, apart from those that cannot be
    tested. Each text holds any number of references, as `Catalogue.of_laws` reads them.
    """
    return _requirements_of(frozenset(" ".join(laws).split()))


@cache
def _requirements_of(laws: frozenset[str]) -> tuple[str, ...]:
    catalogue = load_catalogue()
    found = set(catalogue.of_laws(laws))
    return tuple(
        name for name, one in catalogue.requirements.items() if name in found and not one.untestable
    )


def violated_by_list(operation: str, laws: str) -> tuple[str, ...]:
    """The requirements of these laws that hold for a list; a law may name a field after a dot."""
    requirements = load_catalogue().requirements
    found = requirements_of(laws.replace(".", "@*."))
    return tuple(name for name in found if operation in requirements[name].operations)


@cache
def _about(operation: str, path: str, uses: tuple[Use, ...]) -> tuple[str, ...]:
    return tuple(
        one.id
        for one in load_catalogue().requirements.values()
        if any(one.about.depends_on(use, operation, path) for use in uses)
    )


def _by_type(place: Place, change: Change) -> Iterator[str]:
    """A field of any type may be shown without a value (section 2.9)."""
    example = _example(place)
    if not _loses(change, place) and type(change(example)) is not type(example):
        yield f"typed@{place.operation}"
        if "secrets" in place.path[:-1]:
            yield "secret_texts"


def _loses(change: Change, place: Place) -> bool:
    changed = change(_example(place))
    return changed in (None, ABSENT, []) or (changed == "" and place.is_in_record_of_event)


def _example(place: Place) -> Any:
    assert place.field is not None
    return {
        ValueKind.TEXT: "a text",
        ValueKind.NUMBER: 7,
        ValueKind.BOOLEAN: False,
        ValueKind.OBJECT: {},
        ValueKind.ARRAY: [{}, {}],
    }[place.field.value]


def _by_form(place: Place, change: Change, dialect: Dialect) -> Iterator[str]:
    """A form that an altered value no longer has (section 2.9)."""
    field = place.field
    assert field is not None
    law = _FORMS.get(field.content)
    if law is None or not field.pattern:
        return
    for value in telling_texts(place, dialect):
        changed = change(value)
        if isinstance(changed, str) and not re.search(field.pattern, changed):
            yield law


def _by_default(place: Place, change: Change) -> Iterator[str]:
    """What a creation without the field shows, if the default is changed too (section 2.3)."""
    name, field = ".".join(place.path), place.field
    if place.operation != "createEndpoint" or place.kind is PlaceKind.STORED or field is None:
        return
    changed = change(field.default) if name in _DEFAULTS else field.default
    if changed != field.default or type(changed) is not type(field.default):
        yield f"default_shown@createEndpoint.{name}"


def _by_dialect(place: Place, change: Change, dialect: Dialect) -> Iterator[str]:
    """What depends on the dialect: the order of a list, and the source that events show."""
    sort = dialect.paging.sort_key.value
    key = "name" if sort is SortKey.NAME else "created_at"
    if place.path == (key,) and place.operation in ("listPortalLinks", "listSources"):
        yield f"sort_key@{place.operation}"
    if (
        place.path[0] not in (ENVELOPE, PAGINATION)
        and place.operation == "listSources"
        and dialect.representation.event_source.prefers(EventSource.LISTED)
        and change(_example(place)) not in (None, ABSENT, "", [])
        and all(is_changed_in_sources(place, change, dialect)[:1])  # events show the oldest one
    ):
        yield "source_named"


def _unjudged(dialect: Dialect) -> set[str]:
    """The requirements that no answer and no delivery shows under this dialect."""
    names_event = dialect.delivery.event_id_header is not None
    is_judged = {
        "source_named": dialect.representation.event_source.prefers(EventSource.LISTED),
        "event_type_sent": dialect.delivery.event_type_header is not None,
        "event_id_sent": names_event,
        "event_id_kept": names_event,
    }
    return {*requirements_of(*(law for law, judged in is_judged.items() if not judged))}
