"""Operators on texts: what storage, encodings and well-meant clean-ups make of them."""

import html
import unicodedata
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import quote, unquote

from hookproof.mockserver.faults.operators.altered_fields import ABSENT, blank_for
from hookproof.mockserver.faults.operators.field_operators import (
    field_defect,
    leaf_operator,
    shows_nothing_as_empty,
)
from hookproof.mockserver.faults.operators.laws import requirements_of
from hookproof.mockserver.faults.operators.operator import Alteration, Operator, Parameters
from hookproof.mockserver.faults.operators.place import PAGINATION, Place, PlaceKind, ValueKind
from hookproof.mockserver.faults.operators.places import STORED_FIELDS
from hookproof.mockserver.faults.support.altered_responses import CREATIONS, ON_ENDPOINTS
from hookproof.spec.dialect.groups.requests import REQUIRES
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import EventApplication, EventRaw, EventSource, SecretDisplay

GROUP: Final = "texts"
_LENGTHS: Final = ("64", "128", "255", "256", "1000")
_LAST_OF_PLANE_0: Final = 0xFFFF
_COMPARED: Final = (*ON_ENDPOINTS, "listPortalLinks", "getPortalLink")
# A text that is empty counts as none for the clean server too.
_EMPTY_IS_NONE: Final = frozenset({"owner_id", "secret", "appID"})
# Fields with a value in every answer of the reference server, whatever a request holds.
_ALWAYS: Final = frozenset(
    {"updated_at", "token", "auth_key", "mask_id", "project_id", "url", "auth_type"}
)


def _cut(text: str, parameters: Parameters) -> str:
    if "bytes" in parameters:
        return text.encode()[: int(parameters["bytes"])].decode(errors="replace")
    return text[: int(parameters["length"])]


def _without_last_planes(text: str, parameters: Parameters) -> str:
    instead = "?" if parameters["how"] == "replaced" else ""
    return "".join(
        character if ord(character) <= _LAST_OF_PLANE_0 else instead for character in text
    )


def _unescaped_twice(text: str, parameters: Parameters) -> str:
    unescape = html.unescape if parameters["escape"] == "html" else unquote
    return unescape(unescape(text))


def _without_controls(text: str, _parameters: Parameters) -> str:
    return "".join(character for character in text if unicodedata.category(character) != "Cc")


def _operator(
    name: str,
    sentence: str,
    change: Callable[[str, Parameters], Any],
    *parameters: Parameters,
) -> Operator:
    return leaf_operator(
        name, sentence, change, group=GROUP, kind=ValueKind.TEXT, parameters=parameters or ({},)
    )


def _empty_as_absent(place: Place, _parameters: Parameters, dialect: Dialect) -> Alteration | None:
    field = place.field
    if field is None or field.value is not ValueKind.TEXT:
        return None
    return field_defect(
        place,
        lambda value: ABSENT if value == "" else value,
        dialect,
        equivalent="the document does not say that an empty text is a value",
    )


def _absent_as_empty(place: Place, _parameters: Parameters, dialect: Dialect) -> Alteration | None:
    field = place.field
    if field is None or field.value is not ValueKind.TEXT or field.default is not None:
        return None
    none = blank_for(dialect, "")
    defect = field_defect(
        place, lambda value: "" if value is ABSENT or value == none else value, dialect
    )
    violates = {*defect.violates} if _compared_without_value(place) else set[str]()
    settable = (*STORED_FIELDS.get(place.operation, ()), "acknowledged_at")
    # The answer to a creation shows what was not sent: there an empty text was given by nobody.
    if len(place.path) == 1 and place.operation in CREATIONS and place.path[0] in settable:
        violates.add("no_value_form")
    if place.kind is not PlaceKind.SHOWN and place.operation == "updatePortalLink":
        violates.add("left_out")
    if place.kind is PlaceKind.SHOWN and place.path[-1].endswith("_at"):
        violates.add("timestamp_form")
    return Alteration(
        part=defect.part,
        violates=requirements_of(*violates),
        equivalent=_why_empty_is_absent(place, dialect) or defect.equivalent,
    )


def _compared_without_value(place: Place) -> bool:
    """Whether requirements compare what is shown there even where it has no value.

    Those of a record in another resource do not (2.6-10 and 2.8-10), nor do those of sources, of
    paging, and of what an update or a broadcast shows.
    """
    if place.kind is not PlaceKind.SHOWN:
        return True
    in_record = any(step.endswith("_metadata") for step in place.path[:-1])
    return place.operation in _COMPARED and not in_record and place.path[0] != PAGINATION


def _secrets_are_shown(place: Place, dialect: Dialect) -> bool:
    """Whether a secret always has a value there."""
    always = dialect.representation.secrets_shown.value is SecretDisplay.ALWAYS
    return always or place.operation == "createEndpoint"


def _why_empty_is_absent(place: Place, dialect: Dialect) -> str:
    """Why an empty text in place of none cannot be told here; empty if it can."""
    field = place.field
    assert field is not None
    shown = dialect.representation
    always_in_events: dict[tuple[str, ...], bool] = {
        ("raw",): not shown.event_raw.prefers(EventRaw.NONE),
        ("app_id",): not shown.event_application.prefers(EventApplication.NONE),
        ("source_id",): not shown.event_source.prefers(EventSource.NONE),
    }
    is_always_there = (
        field.required
        or place.path[-1] in _ALWAYS
        or always_in_events.get(place.path, False)
        or _is_required(place, dialect)
        or (place.path[-2:] == ("secrets", "value") and _secrets_are_shown(place, dialect))
    )
    is_owner_of_record = place.path[-2:] == ("endpoints_metadata", "owner_id")
    is_taken_alike = place.kind is not PlaceKind.SHOWN and place.path[0] in _EMPTY_IS_NONE
    is_key = place.kind is PlaceKind.STORED and place.path == ("idempotency_key",)
    reasons = (
        (
            shows_nothing_as_empty(dialect),
            "the dialect shows a field without value as an empty text",
        ),
        (is_always_there, "it always has a value"),
        (is_owner_of_record, "a portal link has the endpoints of its owner"),
        (place.path[0] == "mtls_client_cert", "a certificate is never without its key"),
        (
            "authentication" in place.path[:-1],
            "which members of credentials are shown without a value is a gap (section 2.5)",
        ),
        (
            is_taken_alike or is_key,
            "the dialect's server takes an empty text for none there as well",
        ),
    )
    return next((reason for holds, reason in reasons if holds), "")


def _is_required(place: Place, dialect: Dialect) -> bool:
    """Whether the dialect requires the field of every request that sets it (section 4.9)."""
    names = (getattr(dialect.requests, name) for name in REQUIRES.values())
    return len(place.path) == 1 and any(place.path[0] in required for required in names)


OPERATORS: Final = (
    _operator(
        "text_cut",
        "A text is cut",
        _cut,
        *({"length": length} for length in _LENGTHS),
        {"bytes": "255"},
    ),
    _operator("text_trimmed", "A text loses the spaces around it", lambda text, _: text.strip()),
    _operator("text_lowered", "A text is in small letters", lambda text, _: text.lower()),
    _operator(
        "text_normalised",
        "A text is brought into a normal form of Unicode",
        lambda text, given: unicodedata.normalize("NFC" if given["form"] == "NFC" else "NFD", text),
        *({"form": "NFC"}, {"form": "NFD"}),
    ),
    _operator(
        "text_in_one_plane",
        "A text loses its characters beyond the first plane, emoji among them",
        _without_last_planes,
        *({"how": "dropped"}, {"how": "replaced"}),
    ),
    _operator("text_html_escaped", "A text is escaped for HTML", lambda text, _: html.escape(text)),
    _operator("text_url_escaped", "A text is percent-encoded", lambda text, _: quote(text)),
    _operator(
        "text_unescaped_twice",
        "A text is unescaped twice",
        _unescaped_twice,
        *({"escape": "html"}, {"escape": "percent"}),
    ),
    _operator(
        "text_as_latin_1",
        "The bytes of a text are decoded as Latin-1",
        lambda text, _: text.encode().decode("latin-1"),
    ),
    _operator("text_without_controls", "A text loses its control characters", _without_controls),
    Operator(
        name="text_empty_as_absent",
        group=GROUP,
        sentence="An empty text is taken for none",
        applies_to="texts that may be empty, taken, stored or shown",
        defect=_empty_as_absent,
    ),
    Operator(
        name="text_absent_as_empty",
        group=GROUP,
        sentence="No text is taken for an empty one",
        applies_to="texts that may have no value, taken, stored or shown",
        defect=_absent_as_empty,
    ),
)
