"""Values that tell whether an operator changes anything at a place, under a dialect.

An operator that changes none of the values that a field can hold makes a server that cannot be told
from the clean one: an equivalent mutant.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from hookproof.mockserver.faults.operators.place import Content, Place, ValueKind
from hookproof.mockserver.store.identifiers import create_identifier_source, create_timestamp_writer
from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import HeaderText, SecretForm

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
_KEY: Final = ("AQAB", "uPz9-_Ab" * 64)
_ASCII: Final = ('Visible text; with="quotes" & signs <>, 100%25', "x" * _LONG)
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
    if kind is ValueKind.BOOLEAN:
        return (True, False)
    if kind is not ValueKind.NUMBER:
        return ()
    if field.holds_anything:
        return (*_NUMBERS, -7, 0.125, 1 << 40)
    if field.element is ValueKind.NUMBER:
        return _BYTES
    most = _MOST if field.maximum is None else field.maximum
    return (*(number for number in _NUMBERS if number <= most), most)


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
        is_text = dialect.signatures.secret.form is SecretForm.TEXT
        return _FREE[:-1] if is_text else (f"{dialect.signatures.secret.prefix}U2VjcmV0Kys9/w==",)
    if content is Content.HEADER:
        return _header_texts(place, dialect)
    return {
        Content.URL: _URL,
        Content.CERTIFICATE: _PEM,
        Content.KEY: _KEY,
        Content.MASKED: (dialect.representation.mask,),
        Content.NEVER: (),
    }.get(content, _FREE)


def _header_texts(place: Place, dialect: Dialect) -> tuple[str, ...]:
    if place.path[-1] == "header_name":
        return ("X-Receiver-Key", "X-" + "Long-" * (_LONG // 5))
    if place.path[-1] == "content_type":
        return ("application/json", *_ASCII)
    if dialect.requests.header_text.prefers(HeaderText.ASCII):
        return _ASCII
    return (*_ASCII, "caf\u00e9")


def _identifiers(dialect: Dialect) -> tuple[str, ...]:
    form = dialect.representation.identifier.value
    return (create_identifier_source(form, lambda size: bytes(range(17, 17 + size)), _time_ns)(),)


def _time_ns() -> int:
    return round(_TIME_S * 1e9)


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
