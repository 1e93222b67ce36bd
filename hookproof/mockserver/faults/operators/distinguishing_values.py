"""Values that tell whether an operator changes anything at a place, under a dialect.

An operator that changes none of the values that a field can hold makes a server that cannot be told
from the clean one: an equivalent mutant.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from hookproof.mockserver.delivery.attempt.signing import ENCODE_BASE64
from hookproof.mockserver.faults.operators.altered_fields import ABSENT, Change, blank_for
from hookproof.mockserver.faults.operators.place import (
    ENVELOPE,
    PAGINATION,
    Content,
    Place,
    PlaceKind,
    ValueKind,
)
from hookproof.mockserver.fixture_file import default_fixtures
from hookproof.mockserver.store.identifiers import create_identifier_source, create_timestamp_writer
from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import CursorForm, HeaderText, SecretForm

# 2026-03-04, with a share of a second.
_TIME_S: Final = 1_772_582_400.123456
_LONG: Final = 1200
_FREE: Final = (
    " a text with spaces around it ",
    "Capitals AND small letters",
    "cafe\u0301, and caf\u00e9",
    "beyond the first plane: \U0001f600 \U0001d518",
    "<b>&amp; \"'</b>",
    "100%25 &amp;lt;",
    "\u4e2d\u6587 " * (_LONG // 3),
    "controls:\t\u0007\u001b",
    "",
)
_URL: Final = (
    "https://receiver.invalid/Path/%2541?a=1&b=%26amp%3B",
    f"https://receiver.invalid/{'long/' * (_LONG // 5)}",
)
_PEM: Final = (
    "-----BEGIN CERTIFICATE-----\n"
    + "MIIBszCCAVmgAwIBAgIU+/aZ\n" * 60
    + "-----END CERTIFICATE-----\n",
)
_PEM_OF_KEY: Final = (_PEM[0].replace("CERTIFICATE", "PRIVATE KEY")[:240],)
# Members of keys of 2,048 bits and of the curve P-256 (RFC 7518), by their length.
_KEY_LENGTHS: Final = {
    "n": 342,
    **dict.fromkeys(("p", "q", "dp", "dq", "qi"), 171),
    **dict.fromkeys(("x", "y", "d"), 43),  # with p and q OpenSSL makes no use of d
    **dict.fromkeys(("e", "crv", "kty"), 4),
}
# With wrong ones OpenSSL signs as with right ones: they only make it faster.
_HELPING: Final = frozenset({"dp", "dq", "qi"})
# Those of a list that is filtered by a text of a thousand characters, and by a word.
_CURSORS: Final = {
    "listPortalLinks": ("uPz9-_Ab" * 160,),
    "listSources": ("uPz9-_Ab" * 6,),
}
# What nobody lets a service count up to.
_COUNTED: Final = frozenset({"events", "endpoint_count"})
_MOST_COUNTED: Final = 120
_STARTING_AT_ZERO: Final = frozenset({"events", "failure_rate"})
_ABOUT_LINKS_AND_SOURCES: Final = frozenset(
    {"listPortalLinks", "getPortalLink", "updatePortalLink", "listSources"}
)
# What the service itself makes, and an address for mail.
_OWN_URL: Final = ("https://hooks.invalid/Links/01ARZ3NDEKTSV4RRFFQ69G5FAV",)
_EMAIL: Final = (
    "Help+Caf\u00e9e\u0301&amp;%25\U0001f600@support.invalid",
    f"{'x' * _LONG}@support.invalid",
)
_UNENCODED: Final = ('Visible text; with="quotes" & signs <> &amp;lt;', "x" * _LONG)
_ASCII: Final = (f"{_UNENCODED[0]} 100%25", _UNENCODED[1])
# What deliveries and requests for tokens alone show. HTTP leaves open how Basic authentication
# writes characters outside ASCII (RFC 7617, section 2.1), and a service may leave out what encodes
# the secret of a client for it (RFC 6749, section 2.3.1).
_PASSWORDS: Final = {"password": _ASCII, "client_secret": _UNENCODED}
_EVENT_HEADERS: Final = ("headers", "custom_headers")
# The members of a source that the server sets, whatever its fixture says.
_SET_BY_SERVER: Final = frozenset(
    {"uid", "project_id", "url", "mask_id", "created_at", "updated_at"}
)
_BYTES: Final = (0, 10, 32, 125, 255)
_NUMBERS: Final = (0, 7, 3599)
# A number above every bound that storage usually has below 32 bits.
_MOST: Final = 1_000_000


def telling_values(place: Place, kind: ValueKind, dialect: Dialect) -> tuple[Any, ...]:
    """Values of this kind that a field, its elements, or its members at any depth may have."""
    field = place.field
    assert field is not None
    if kind is ValueKind.TEXT:
        return telling_texts(place, dialect)
    if field.content is Content.HEADER or kind not in (ValueKind.BOOLEAN, ValueKind.NUMBER):
        return ()
    if kind is ValueKind.BOOLEAN:
        return (True, False)
    if field.holds_anything:
        return (*_NUMBERS, -7, 0.125, 1 << 40)
    if field.element is ValueKind.NUMBER:
        return _BYTES
    most = _most_at(place, dialect)
    return (*(number for number in _NUMBERS if number <= most), most)


def _most_at(place: Place, dialect: Dialect) -> int:
    """The largest number that a service can have there, or that anybody would send."""
    assert place.field is not None
    name, requests, rate = place.path[-1], dialect.requests, dialect.representation.failure_rate
    if place.operation == "createEndpoint" and name in _STARTING_AT_ZERO:
        return 0
    if name in _COUNTED:
        return _MOST_COUNTED
    bounds: dict[str, Iterable[int | None]] = {
        "per_page": dialect.paging.maximum_per_page.allowed,
        "failure_rate": [unit.whole for unit in rate.allowed],
        "http_timeout": [requests.http_timeout_maximum],
        "rate_limit": [requests.rate_limit_maximum],
        "rate_limit_duration": [requests.rate_limit_duration_maximum],
        "expiration": [requests.expiration_maximum],
    }
    most = _MOST if place.field.maximum is None else place.field.maximum
    return min([most, *(bound for bound in bounds.get(name, ()) if bound is not None)])


def telling_texts(place: Place, dialect: Dialect) -> tuple[str, ...]:
    """Texts that a field, its elements, or its members at any depth may have."""
    assert place.field is not None
    content = place.field.content
    if content is Content.WORD:
        return words_at(place, dialect)
    if content in (Content.IDENTIFIER, Content.PLAIN):
        return _identifiers(dialect)
    if content is Content.TIMESTAMP:
        return (create_timestamp_writer(dialect.representation.timestamp.value)(_TIME_S),)
    if content is Content.SECRET:
        return _secrets(dialect)
    if content is Content.HEADER:
        return _header_texts(place, dialect)
    opaque = dialect.paging.cursor_form.value is CursorForm.OPAQUE
    return {
        Content.URL: _OWN_URL if _is_own_url(place) else _URL,
        Content.CERTIFICATE: _PEM if place.path[-1] == "client_cert" else _PEM_OF_KEY,
        Content.KEY: _key_texts(place.path[-1]),
        Content.CURSOR: _CURSORS.get(place.operation, ()) if opaque else _identifiers(dialect),
        Content.QUERY: (f"note=%20Caf%C3%A9%2541&lines={'long%0A' * (_LONG // 5)}",),
        Content.MASKED: (dialect.representation.mask,),
        Content.NEVER: (),
    }.get(content, _free_texts(place))


def _key_texts(member: str) -> tuple[str, ...]:
    length = _KEY_LENGTHS.get(member, 4)
    return () if member in _HELPING else (("uPz9-_Ab" * 64)[:length],)


def _free_texts(place: Place) -> tuple[str, ...]:
    if place.kind is not PlaceKind.SHOWN and place.path[-1] in _PASSWORDS:
        return _PASSWORDS[place.path[-1]]
    if place.path == ("raw",) and place.operation == "createBroadcastEvent":
        return (json.dumps(_FREE, ensure_ascii=False),)
    return _EMAIL if place.path[-1] == "support_email" else _FREE


def _is_own_url(place: Place) -> bool:
    """Whether the service makes the URL: that of a portal link or a source."""
    return place.path[-1] == "url" and (
        place.path[:-1] == ("source_metadata",)
        or (len(place.path) == 1 and place.operation in _ABOUT_LINKS_AND_SOURCES)
    )


def _secrets(dialect: Dialect) -> tuple[str, ...]:
    """Without spaces at their ends: nobody gives a service such a secret."""
    rules = dialect.signatures.secret
    if rules.form is SecretForm.TEXT:
        return tuple(text.strip() for text in _FREE[:-1])
    content = b"Secret++=\xff".ljust(dialect.signatures.key_size or 0, b"+")
    return (rules.prefix + ENCODE_BASE64.get(rules.form, bytes.hex)(content),)


def _header_texts(place: Place, dialect: Dialect) -> tuple[str, ...]:
    if place.path[-1] == "header_name":
        return ("X-Receiver-Key", "X-" + "Long-" * (_LONG // 5))
    if place.path[-1] == "content_type":
        return ("application/json", *_ASCII)
    # HTTP leaves open how a header is written with other characters (RFC 9110, section 5.5).
    if dialect.requests.header_text.prefers(HeaderText.ASCII) or place.path[0] in _EVENT_HEADERS:
        return _ASCII
    return (*_ASCII, "caf\u00e9")


def _identifiers(dialect: Dialect) -> tuple[str, ...]:
    form = dialect.representation.identifier.value
    return (create_identifier_source(form, lambda size: bytes(range(17, 17 + size)), _time_ns)(),)


def _time_ns() -> int:
    return round(_TIME_S * 1e9)


def is_changed_in_sources(place: Place, change: Change, dialect: Dialect) -> tuple[bool, ...]:
    """Whether a change alters what a field of each source shows, the oldest source first.

    For a field of the source that an event names, there is one source: the oldest. Nobody can send
    a source, so that nothing else than the fixtures of the reference server can stand there. Empty
    for other places, and for fields that the server itself sets.
    """
    in_event = place.path[0] == "source_metadata"
    path = place.path[1:] if in_event else place.path
    is_source = in_event or (
        place.operation == "listSources" and place.path[0] not in (PAGINATION, ENVELOPE)
    )
    if not is_source or not path or path[0] in _SET_BY_SERVER:
        return ()
    sources = default_fixtures(dialect).sources
    return tuple(
        _changes_member(source, path, change, dialect)
        for source in (sources[:1] if in_event else sources)
    )


def _changes_member(
    source: Mapping[str, Any], path: Sequence[str], change: Change, dialect: Dialect
) -> bool:
    holder: Any = source
    for step in path[:-1]:
        holder = holder.get(step) if isinstance(holder, Mapping) else None
    if path == ("is_disabled",):
        holder = {"is_disabled": False}  # the server has no way to disable a source
    if not isinstance(holder, Mapping):
        return False
    none = blank_for(dialect, "") if len(path) == 1 else ABSENT
    value = holder.get(path[-1], none)
    changed = change(value)
    return changed is not value and (changed != value or type(changed) is not type(value))


def words_at(place: Place, dialect: Dialect) -> tuple[str, ...]:
    """The dialect's words for an enumerated field (sections 2.9 and 3)."""
    words = dialect.words
    *_, holder, name = ("", *place.path)
    by_name: Mapping[str, Iterable[str] | Answer[str]] = {
        "auth_type": words.portal_auth_types,
        "provider": words.source_providers,
        "encoding": words.hmac_encodings,
        "authentication_type": (words.oauth2_shared_secret, words.oauth2_assertion),
        "expiry_time_unit": tuple(words.oauth2_expiry_units),
        "signing_algorithm": ("ES256", "RS256"),
    }
    by_holder: Mapping[str, Iterable[str] | Answer[str]] = {
        "authentication": (words.auth_api_key, words.auth_basic, words.auth_oauth2),
        "verifier": words.verifier_types,
        "pub_sub": words.pub_sub_types,
        "auth": words.kafka_auth_types,
    }
    if name == "status":
        event = place.path == ("status",) and place.operation == "createBroadcastEvent"
        states = (words.endpoint_active, words.endpoint_disabled)
        chosen = (words.event_created,) if event else states
        return tuple(word for answer in chosen for word in answer.allowed)
    found = by_name.get(name) or by_holder.get(holder, words.source_types)
    return found.allowed if isinstance(found, Answer) else tuple(found)
