"""Operators on one part of what attempts send, by the attempt: changed, missing or stale."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import msgspec

from hookproof.mockserver.delivery.attempt.headers import AUTHORIZATION, CONTENT_TYPE, Headers
from hookproof.mockserver.delivery.store_port import EndpointSettings, PendingDelivery
from hookproof.mockserver.faults.catalogue.deliveries.signatures import waits_a_second
from hookproof.mockserver.faults.operators.delivery_laws import violated_by_delivery
from hookproof.mockserver.faults.operators.delivery_places import affects_on, never_occurs
from hookproof.mockserver.faults.operators.kinds.deliveries.altered_attempts import (
    Changes,
    altered_attempts,
)
from hookproof.mockserver.faults.operators.operator import Alteration, Parameters, operators_of
from hookproof.mockserver.faults.operators.place import Place, PlaceKind
from hookproof.spec.dialect.model import Dialect

GROUP: Final = "deliveries"
_TIMEOUT_S: Final = 3600.0
# Times the tolerance of the dialect: a time that no receiver accepts.
_FAR: Final = 10
_MEMBER: Final = b'{"altered":true'

# The lower-case names of the headers that carry a part to an endpoint.
NamesOf = Callable[[EndpointSettings], frozenset[str]]


def _other(text: str) -> str:
    """The text with another last character."""
    return f"{text[:-1]}{'1' if text.endswith('0') else '0'}"


def _other_body(body: bytes) -> bytes:
    rest = b"}" if not msgspec.json.decode(body) else b"," + body.lstrip()[1:]
    return _MEMBER + rest


def _with(**changed: Callable[[PendingDelivery, PendingDelivery], Any]) -> Changes:
    """Changes of members of a delivery, by that delivery and that of the event before."""
    return Changes(
        delivery=lambda own, before: msgspec.structs.replace(
            own, **{name: change(own, before) for name, change in changed.items()}
        )
    )


# What an event decides, altered before it is signed.
_OF_EVENTS: Final[Mapping[tuple[str, str], Changes]] = {
    ("changed", "event_id"): _with(event_uid=lambda own, _: _other(own.event_uid)),
    ("stale", "event_id"): _with(event_uid=lambda _, before: before.event_uid),
    ("changed", "event_type"): _with(event_type=lambda own, _: _other(own.event_type)),
    ("stale", "event_type"): _with(event_type=lambda _, before: before.event_type),
    ("changed", "attempt_number"): _with(attempts=lambda own, _: own.attempts + 10),
    ("stale", "attempt_number"): _with(attempts=lambda own, _: max(0, own.attempts - 1)),
    ("changed", "custom_headers"): _with(
        custom_headers=lambda own, _: {
            name: _other(value) for name, value in own.custom_headers.items()
        }
    ),
    ("missing", "custom_headers"): _with(custom_headers=lambda _own, _before: {}),
    ("stale", "custom_headers"): _with(custom_headers=lambda _, before: before.custom_headers),
    ("changed", "body"): _with(body=lambda own, _: _other_body(own.body)),
    ("stale", "body"): _with(body=lambda _, before: before.body),
    ("missing", "body"): Changes(body=lambda _: b""),
    ("missing", "client_certificate"): Changes(
        settings=lambda endpoint, _: msgspec.structs.replace(endpoint, client_certificate=None)
    ),
}


def _alteration(how: str) -> Callable[[Place, Parameters, Dialect], Alteration | None]:
    """The defect of the places of parts that is an alteration of this kind."""

    def defect(place: Place, _parameters: Parameters, dialect: Dialect) -> Alteration | None:
        if place.kind is not PlaceKind.SENT:
            return None
        name, occasion = place.path
        changes = _changes(how, name, dialect)
        if changes is None:
            return None
        reason = never_occurs(occasion, dialect) or _excuse(how, name, dialect)
        violates = () if reason else violated_by_delivery(place, *_words(how, place, dialect))
        part = partial(altered_attempts, affects_on(occasion, dialect), changes)
        return Alteration(part=part, violates=violates, equivalent=reason)

    return defect


def _changes(how: str, name: str, dialect: Dialect) -> Changes | None:
    """How a part is altered; None where that makes no sense."""
    if (how, name) in _OF_EVENTS:
        return _OF_EVENTS[how, name]
    if name == "timestamp" and not _signs_time(dialect):
        return None
    if name == "timestamp" and how != "missing":
        return Changes(time=_far_from(dialect) if how == "changed" else lambda _, before: before)
    names = _names_of(name, dialect)
    if names is None or (how == "stale" and name not in ("signature", "oauth2")):
        return None
    return Changes(headers=partial(_ALTER_HEADERS[how], names))


def _far_from(dialect: Dialect) -> Callable[[float, float], float]:
    signatures = dialect.signatures
    far_s = _FAR * max(signatures.simple.tolerance_s, signatures.advanced.tolerance_s)
    return lambda now, _: now - far_s


def _names_of(part: str, dialect: Dialect) -> NamesOf | None:
    """Which headers carry a part; None if none does on any attempt."""
    rules, words, signatures = dialect.delivery, dialect.words, dialect.signatures
    if part == "timestamp" and not any(
        scheme.timestamp_header for scheme in (signatures.simple, signatures.advanced)
    ):
        return None

    def signed_by(endpoint: EndpointSettings) -> tuple[str | None, str | None]:
        scheme = signatures.scheme(advanced=endpoint.advanced_signatures)
        return scheme.header, scheme.timestamp_header

    def credential(word: str) -> Callable[[EndpointSettings], str | None]:
        return lambda endpoint: _credential_header(endpoint, word, words.auth_api_key)

    by_part: Mapping[str, Callable[[EndpointSettings], str | None]] = {
        "event_id": lambda _: rules.event_id_header,
        "attempt_number": lambda _: rules.attempt_header,
        "event_type": lambda _: rules.event_type_header,
        "content_type": lambda _: CONTENT_TYPE,
        "signature": lambda endpoint: signed_by(endpoint)[0],
        "timestamp": lambda endpoint: signed_by(endpoint)[1],
        "api_key": credential(words.auth_api_key),
        "basic_auth": credential(words.auth_basic),
        "oauth2": credential(words.auth_oauth2),
    }
    name_of = by_part.get(part)
    if name_of is None:
        return None
    return lambda endpoint: frozenset({(name_of(endpoint) or "").lower()})


def _credential_header(endpoint: EndpointSettings, word: str, api_key: str) -> str | None:
    """The header that carries the credential of an endpoint with this authentication type."""
    authentication = endpoint.authentication or {}
    if authentication.get("type") != word:
        return None
    if word != api_key:
        return AUTHORIZATION
    members = authentication.get("api_key")
    return str(members.get("header_name")) if isinstance(members, Mapping) else None


def _without(
    names: NamesOf, endpoint: EndpointSettings, headers: Headers, _earlier: Headers
) -> Headers:
    altered = names(endpoint)
    return tuple(header for header in headers if header[0].lower() not in altered)


def _with_other(
    names: NamesOf, endpoint: EndpointSettings, headers: Headers, _earlier: Headers
) -> Headers:
    altered = names(endpoint)
    return tuple(
        (name, _other(value) if name.lower() in altered else value) for name, value in headers
    )


def _with_earlier(
    names: NamesOf, endpoint: EndpointSettings, headers: Headers, earlier: Headers
) -> Headers:
    altered, before = names(endpoint), dict(earlier)
    return tuple(
        (name, before.get(name, value) if name.lower() in altered else value)
        for name, value in headers
    )


_ALTER_HEADERS: Final[Mapping[str, Callable[..., Headers]]] = {
    "missing": _without,
    "changed": _with_other,
    "stale": _with_earlier,
}


def _excuse(how: str, name: str, dialect: Dialect) -> str:
    """Why nobody can see a part altered, if so."""
    headers = {
        "attempt_number": dialect.delivery.attempt_header,
        "event_type": dialect.delivery.event_type_header,
    }
    if name in headers and headers[name] is None:
        return "the dialect has no header for it"
    if how == "stale" and name == "timestamp" and not waits_a_second(dialect):
        return "the dialect's waits are too short to tell"
    return ""


def _signs_time(dialect: Dialect) -> bool:
    signatures = dialect.signatures
    return any(
        "{timestamp}" in scheme.signed + scheme.value
        for scheme in (signatures.simple, signatures.advanced)
    )


def _words(how: str, place: Place, dialect: Dialect) -> tuple[str, ...]:
    """What is wrong, in the words of the laws."""
    name, occasion = place.path
    schemes = (dialect.signatures.simple, dialect.signatures.advanced)
    if (how, name) == ("stale", "signature"):
        # An earlier signature is no more than outdated if it brings its own time along.
        is_whole = not any(scheme.timestamp_header for scheme in schemes)
        return ("outdated",) if is_whole and occasion != "rolled" else ("unverified",)
    if (how, name) == ("missing", "event_id") and any("{id}" in one.signed for one in schemes):
        return (how, "unverified")
    return (how,)


def _at_attempts(what: str, changes: Changes) -> Callable[..., Alteration | None]:
    """The defect of attempts as a whole."""

    def defect(place: Place, _parameters: Parameters, dialect: Dialect) -> Alteration | None:
        if place.kind is not PlaceKind.ATTEMPT:
            return None
        (occasion,) = place.path
        reason = never_occurs(occasion, dialect)
        return Alteration(
            part=partial(altered_attempts, affects_on(occasion, dialect), changes),
            violates=() if reason else violated_by_delivery(place, what),
            equivalent=reason,
        )

    return defect


def _another(
    endpoint: EndpointSettings, others: Mapping[str, EndpointSettings]
) -> EndpointSettings:
    return next((other for uid, other in others.items() if uid != endpoint.uid), endpoint)


_PARTS: Final = "what attempts send: the body, each kind of header, credentials"
_ATTEMPTS: Final = "the second, third, last and later attempts, and those after a roll"
_operator: Final = operators_of(GROUP)
OPERATORS: Final = (
    _operator(
        "part_changed",
        "Some attempts send one part with another value",
        _PARTS,
        _alteration("changed"),
    ),
    _operator("part_missing", "Some attempts lack one part", _PARTS, _alteration("missing")),
    _operator(
        "part_stale",
        "Some attempts send one part as it was in the event or the attempt before",
        _PARTS,
        _alteration("stale"),
    ),
    _operator(
        "attempt_without_timeout",
        "Some attempts wait an hour for their answer",
        _ATTEMPTS,
        _at_attempts(
            "endless",
            Changes(
                settings=lambda endpoint, _: msgspec.structs.replace(
                    endpoint, http_timeout_s=_TIMEOUT_S
                )
            ),
        ),
    ),
    _operator(
        "attempt_sent_elsewhere",
        "Some attempts go to another endpoint of the project",
        _ATTEMPTS,
        _at_attempts("elsewhere", Changes(settings=_another)),
    ),
)
