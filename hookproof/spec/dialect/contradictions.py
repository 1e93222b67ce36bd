"""Contradictions within a dialect: answers that are valid one by one, but not together.

Each check yields the location of the answer to change, and why. In templates a placeholder is a
word in braces. A receiver parses the value of a signature header, so its parts must be separated by
the text between them.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from operator import attrgetter
from typing import Any, Final

from hookproof.spec.dialect.answer import UNREAD, Answer
from hookproof.spec.dialect.groups.errors import KEY_REFUSALS, REFUSALS, WITHOUT_OPERATION
from hookproof.spec.dialect.groups.requests import FREE_TEXTS, REQUIRES, REQUIRES_ONE_OF
from hookproof.spec.dialect.model import LABELS, WORDS_IN_REQUESTS, Dialect
from hookproof.spec.dialect.signature_scheme import Secrets, SignatureScheme
from hookproof.spec.dialect.signing_key import ED25519_KEY, public_key, public_key_of
from hookproof.spec.dialect.vocabulary import (
    BASE64_VARIANTS,
    Algorithm,
    Encoding,
    SecretForm,
    SigningSecrets,
)
from hookproof.spec.openapi_document import (
    JSON_TYPES,
    content_schema,
    field_at,
    openapi_document,
    operation_named,
    query_parameters,
    request_bodies,
    resolved,
    schema_named,
)
from hookproof.spec.strict_yaml.file_problem import Location
from hookproof.spec.strict_yaml.schema_wording import did_you_mean

Contradiction = tuple[Location, str]
_SchemeCheck = Callable[[SignatureScheme], Iterator[tuple[str, str]]]

# The placeholders of each template.
PLACEHOLDERS: Final[Mapping[str, tuple[str, ...]]] = {
    "key_format": ("key",),
    "body": ("message", "status", "any"),
    "signed": ("body", "timestamp", "id", "url"),
    "value": ("timestamp", "id", "signatures"),
    "item": ("signature", "version"),
}
# Answers by which a delivery carries one signature.
ONE_SECRET: Final = (SigningSecrets.NEWEST, SigningSecrets.OLDEST)

_PLACEHOLDER: Final = re.compile(r"\{(\w*)\}")
_ALPHABETS: Final = {
    Encoding.HEX: "[0-9a-f]+",
    **{word: f"[{variant.letters}=]+" for word, variant in BASE64_VARIANTS.items()},
}


def template_contradictions(dialect: Dialect) -> Iterator[Contradiction]:
    """The problems in the templates of a dialect."""
    yield from _unknown_placeholders(
        ("authentication", "key_format"), dialect.authentication.key_format
    )
    yield from _unknown_in_body(("errors", "body"), dialect.errors.body)
    if isinstance(dialect.errors.bodies, Mapping):  # else it could not be read
        for refusal, body in dialect.errors.bodies.items():
            yield from _unknown_in_body(("errors", "bodies", refusal), body)
    for name in ("simple", "advanced"):
        scheme = getattr(dialect.signatures, name)
        for check, needed in _SCHEME_CHECKS.items():
            if all(getattr(scheme, field) is not UNREAD for field in needed):
                for field, message in check(scheme):
                    yield ("signatures", name, field), message


def _unknown_in_body(location: Location, template: object) -> Iterator[Contradiction]:
    if isinstance(template, str):
        yield from _unknown_placeholders(location, template, "body")
    elif isinstance(template, Mapping):
        for key, value in template.items():
            yield from _unknown_in_body((*location, key), value)
    elif isinstance(template, list):
        for index, value in enumerate(template):
            yield from _unknown_in_body((*location, index), value)


def _unknown_placeholders(
    location: Location, template: object, field: str = ""
) -> Iterator[Contradiction]:
    known = PLACEHOLDERS[field or str(location[-1])]
    for name in dict.fromkeys(_placeholders(template)):
        if name not in known:
            yield (
                location,
                f"unknown placeholder {{{name}}}{did_you_mean(name, known) or _expected(known)}",
            )


def _placeholders(template: object) -> list[str]:
    """The words in braces, as often as they occur; none in a template that is UNREAD."""
    return _PLACEHOLDER.findall(template) if isinstance(template, str) else []


def _expected(known: Collection[str]) -> str:
    return f"; expected one of: {', '.join(f'{{{name}}}' for name in known)}"


def _placeholders_are_known(scheme: SignatureScheme) -> Iterator[tuple[str, str]]:
    for field in ("signed", "value", "item"):
        template = getattr(scheme, field)
        for (name,), message in _unknown_placeholders((field,), template):
            yield str(name), message
        for name, count in Counter(_placeholders(template)).items():
            if count > 1 and field != "signed":
                yield (
                    field,
                    f"the placeholder {{{name}}} occurs {count} times; expected it once",
                )


def _time_is_sent(scheme: SignatureScheme) -> Iterator[tuple[str, str]]:
    """A receiver cannot check a signature over a time that is not sent to it."""
    if (
        "{timestamp}" in scheme.signed
        and "{timestamp}" not in scheme.value
        and scheme.timestamp_header is None
    ):
        yield (
            "signed",
            "{timestamp} is signed but not sent; put it into value or name a timestamp_header",
        )


def _versions_are_used(scheme: SignatureScheme) -> Iterator[tuple[str, str]]:
    if "{version}" in scheme.item and not scheme.versions:
        yield "versions", "expected at least one label, since item holds {version}"
    if "{version}" not in scheme.item and scheme.versions:
        yield "versions", "expected none, since item does not hold {version}"


def _parts_are_separable(scheme: SignatureScheme) -> Iterator[tuple[str, str]]:
    for field in ("value", "item"):
        if "}{" in getattr(scheme, field):
            yield field, "two placeholders stand side by side; expected text between them"
    for index, version in enumerate(scheme.versions):
        names = _PLACEHOLDER.findall(version)
        if names not in ([], ["n"]) or (names and index < len(scheme.versions) - 1):
            yield (
                "versions",
                f"expected {{n}} once and in the last label alone; found {version}",
            )
        if scheme.separator and scheme.separator in version:
            yield "versions", f"expected labels without the separator; found {version}"
    several = scheme.secrets not in ONE_SECRET
    if several and (
        not scheme.separator or re.fullmatch(_ALPHABETS[scheme.encoding], scheme.separator)
    ):
        yield "separator", f"expected text that cannot be part of a signature in {scheme.encoding}"


# Each check of a signature format, with the fields that it compares with each other.
_SCHEME_CHECKS: Final[Mapping[_SchemeCheck, tuple[str, ...]]] = {
    _placeholders_are_known: (),
    _time_is_sent: ("signed", "value", "timestamp_header"),
    _versions_are_used: ("item", "versions"),
    _parts_are_separable: ("value", "item", "separator", "versions", "secrets", "encoding"),
}


# Pairs of numbers of which the first is at most the second.
_IN_ORDER: Final = (
    ("requests.http_timeout_minimum", "requests.http_timeout_maximum"),
    ("requests.http_timeout_minimum", "delivery.default_timeout_s"),
    ("delivery.default_timeout_s", "requests.http_timeout_maximum"),
    ("delivery.default_rate_limit_duration", "requests.rate_limit_duration_maximum"),
    ("requests.expiration_minimum", "requests.expiration_maximum"),
    ("requests.expiration_minimum", "rolling.default_expiration"),
    ("rolling.default_expiration", "requests.expiration_maximum"),
    ("paging.default_per_page", "paging.maximum_per_page"),
    ("retry.initial_s", "retry.maximum_s"),
)

# Groups of answers that share no value.
_APART: Final = (
    ("words.endpoint_active", "words.endpoint_disabled"),
    ("words.auth_api_key", "words.auth_basic", "words.auth_oauth2"),
    ("words.oauth2_shared_secret", "words.oauth2_assertion"),
    ("paging.owner_filter", "paging.name_filter"),
)

_DELIVERY_HEADERS: Final = (
    "delivery.event_id_header",
    "delivery.attempt_header",
    "delivery.event_type_header",
)
# An integer may have any number of digits where it is not read from a file.
_LONGEST: Final = 10**40
_SIGNATURE_HEADERS: Final = ("header", "timestamp_header")
_RESOURCES: Final = ("Endpoint", "PortalLink", "Source", "Event")


def contradictions(dialect: Dialect) -> Iterator[Contradiction]:
    """The problems of a dialect whose answers all have the right form, or are UNREAD."""
    problems = (problem for check in _CHECKS for problem in check(dialect))
    yield from dict.fromkeys(problems)


def _numbers_are_in_order(dialect: Dialect) -> Iterator[Contradiction]:
    for lower, upper in _IN_ORDER:
        smallest, largest = _values(dialect, lower), _values(dialect, upper)
        if smallest and largest and min(smallest) > max(largest):
            yield (
                _location(lower),
                f"expected at most {_shown(max(largest))} ({upper}); found {_shown(min(smallest))}",
            )


def _shown(number: float) -> str:
    """A number as it is written, without the digits that nobody reads."""
    return f"{number:.15g}" if abs(number) < _LONGEST else "a number of more than 40 digits"


def _words_are_apart(dialect: Dialect) -> Iterator[Contradiction]:
    for group in _APART:
        yield from _repetitions([(path, _values(dialect, path)) for path in group])


def _headers_are_apart(dialect: Dialect) -> Iterator[Contradiction]:
    """The headers of a delivery and of a signature format must differ, whatever their case."""
    for scheme in ("simple", "advanced"):
        paths = (
            *_DELIVERY_HEADERS,
            *(f"signatures.{scheme}.{header}" for header in _SIGNATURE_HEADERS),
        )
        yield from _repetitions(
            [(path, [name.lower() for name in _values(dialect, path)]) for path in paths]
        )


def _repetitions(group: list[tuple[str, list[Any]]]) -> Iterator[Contradiction]:
    first_path: dict[Any, str] = {}
    for path, values in group:
        for value in values:
            if value in first_path:
                yield (
                    _location(path),
                    f"expected another value than that of {first_path[value]}; found {value}",
                )
            first_path.setdefault(value, path)


def _filters_are_new(dialect: Dialect) -> Iterator[Contradiction]:
    document = openapi_document()
    known = query_parameters(document, operation_named(document, "listPortalLinks"))  # section 4.4
    for path in ("paging.owner_filter", "paging.name_filter"):
        for name in _values(dialect, path):
            if name in known:
                yield (
                    _location(path),
                    f"{name} is already the name of another query parameter of listPortalLinks",
                )


def _fields_exist(dialect: Dialect) -> Iterator[Contradiction]:
    document = openapi_document()
    for operation_id, body in request_bodies(document):
        known = resolved(document, content_schema(body))["properties"]
        yield from _unknown_fields(dialect, REQUIRES[operation_id], known)
        if operation_id in REQUIRES_ONE_OF:
            yield from _unknown_fields(dialect, REQUIRES_ONE_OF[operation_id], known)
            yield from _required_anyway(dialect, operation_id)
    assigned = {
        field for name in _RESOURCES for field in schema_named(document, name)["properties"]
    }
    yield from _unknown_fields(dialect, "service_assigned", assigned)
    for index, path in enumerate(_items(dialect, "representation.masked")):
        if field_at(document, "Endpoint", path.split(".")) is None:
            yield (
                ("representation", "masked", index),
                f"an endpoint has no field {path} (section 2.3)",
            )


def _fields_without_value_exist(dialect: Dialect) -> Iterator[Contradiction]:
    """Each key names a field, in one resource or wherever it is, or a type of JSON."""
    document = openapi_document()
    fields = {
        f"{resource}.{name}"
        for resource, schema in document["components"]["schemas"].items()
        for name in schema.get("properties", ())
    }
    known = {*fields, *(field.partition(".")[2] for field in fields), *JSON_TYPES}
    for key, _ in _as_far_as_read(dialect.representation.no_value_of):
        if key not in known:
            yield (
                ("representation", "no_value_of", key),
                f"the document knows no such field, {key}{did_you_mean(key, sorted(known))}",
            )


def _identifier_patterns_are_usable(dialect: Dialect) -> Iterator[Contradiction]:
    """Each key names a resource, and its pattern is a regular expression."""
    schemas = openapi_document()["components"]["schemas"]
    known = sorted(
        name for name, schema in schemas.items() if "uid" in schema.get("properties", ())
    )
    for key, pattern in _as_far_as_read(dialect.representation.identifier_of):
        location: Location = ("representation", "identifier_of", key)
        if key not in known:
            yield location, f"no such resource has an identifier{did_you_mean(key, known)}"
        try:
            re.compile(pattern)
        except re.error as error:
            yield location, f"the pattern cannot be read: {error}"


def _enumerated_fields_exist(dialect: Dialect) -> Iterator[Contradiction]:
    for key, _ in _as_far_as_read(dialect.words.other_words_of):
        if key not in WORDS_IN_REQUESTS:
            known = did_you_mean(key, WORDS_IN_REQUESTS)
            yield ("words", "other_words_of", key), f"requests have no such field of words{known}"


def _limited_texts_exist(dialect: Dialect) -> Iterator[Contradiction]:
    for key, _ in _as_far_as_read(dialect.requests.text_maximum_of):
        if key not in FREE_TEXTS:
            known = did_you_mean(key, FREE_TEXTS)
            yield (
                ("requests", "text_maximum_of", key),
                f"expected one of {', '.join(FREE_TEXTS)}; found {key}{known}",
            )


def _required_anyway(dialect: Dialect, operation_id: str) -> Iterator[Contradiction]:
    required = _items(dialect, f"requests.{REQUIRES[operation_id]}")
    answer = REQUIRES_ONE_OF[operation_id]
    for index, name in enumerate(_items(dialect, f"requests.{answer}")):
        if name in required:
            yield (
                ("requests", answer, index),
                f"{name} is required anyway, by requests.{REQUIRES[operation_id]}",
            )


def _unknown_fields(
    dialect: Dialect, answer: str, known: Collection[str]
) -> Iterator[Contradiction]:
    for index, name in enumerate(_items(dialect, f"requests.{answer}")):
        if name not in known:
            yield (
                ("requests", answer, index),
                f"the document knows no such field, {name}{did_you_mean(name, known)}",
            )


def _both_secrets_sign(dialect: Dialect) -> Iterator[Contradiction]:
    """Section 4.3 leaves the order open, but in the advanced format both secrets sign."""
    if dialect.signatures.advanced.secrets in ONE_SECRET:
        yield (
            ("signatures", "advanced", "secrets"),
            "expected an answer by which all living secrets sign (section 4.3)",
        )


def _refusals_exist(dialect: Dialect) -> Iterator[Contradiction]:
    """What single operations and refusals have instead is about some that there are."""
    operations = tuple(LABELS)
    at_an_operation = [name for name in REFUSALS if name not in WITHOUT_OPERATION]
    for operation_id, statuses in _as_far_as_read(dialect.errors.by_operation):
        location: Location = ("errors", "by_operation", operation_id)
        if operation_id not in operations:
            yield location, f"there is no such operation{did_you_mean(operation_id, operations)}"
        for name, _ in _as_far_as_read(statuses):
            if name not in at_an_operation:
                known = did_you_mean(name, at_an_operation)
                yield (*location, name), f"no operation has such a refusal{known}"
    for name, body in _as_far_as_read(dialect.errors.bodies):
        if name not in (*REFUSALS, *KEY_REFUSALS):
            known = did_you_mean(name, (*REFUSALS, *KEY_REFUSALS))
            yield ("errors", "bodies", name), f"there is no such refusal{known}"
        elif not (body is None or isinstance(body, Mapping)):
            yield ("errors", "bodies", name), "expected an object, or null for no body"


def _as_far_as_read(mapping: object) -> list[tuple[str, Any]]:
    """The members of a mapping; none of what is UNREAD."""
    return list(mapping.items()) if isinstance(mapping, Mapping) else []


def _prefix_can_be_in_the_key(dialect: Dialect) -> Iterator[Contradiction]:
    secret = dialect.signatures.secret
    if secret.prefix_in_key is True and secret.form not in (SecretForm.TEXT, UNREAD):
        yield (
            ("signatures", "secret", "prefix_in_key"),
            f"expected false, since a prefix is no {secret.form}",
        )


def _keys_fit_the_algorithm(dialect: Dialect) -> Iterator[Contradiction]:
    """What signs is known: the endpoint's secrets, or a key of the service."""
    for name in ("simple", "advanced"):
        scheme, place = getattr(dialect.signatures, name), ("signatures", name)
        if UNREAD in (scheme.algorithm, scheme.public_key, scheme.private_key):
            continue
        yield from (((*place, field), words) for field, words in _wrong_keys(scheme))
        if scheme.is_secret_a_seed:
            yield from _wrong_seeds(dialect.signatures.secret)


def _wrong_seeds(secret: Secrets) -> Iterator[Contradiction]:
    why = f"since each secret is a private key of {Algorithm.ED25519}"
    if secret.form is SecretForm.TEXT:
        yield ("signatures", "secret", "form"), f"expected hex or a form of base64, {why}"
    if secret.generated_bytes not in (ED25519_KEY, UNREAD):
        yield ("signatures", "secret", "generated_bytes"), f"expected {ED25519_KEY}, {why}"


def _wrong_keys(scheme: SignatureScheme) -> Iterator[tuple[str, str]]:
    algorithm, given = scheme.algorithm, scheme.public_key
    if not algorithm.signs:
        yield "algorithm", "expected an algorithm that signs the body (section 6, item 3)"
    elif not algorithm.has_public_key:
        for field in ("public_key", "private_key"):
            if getattr(scheme, field) is not None:
                yield field, f"expected null, since {algorithm} signs with secrets"
    elif given is None and algorithm is not Algorithm.ED25519:
        yield "public_key", f"expected the public key of the service, since {algorithm} needs one"
    elif given is None and scheme.private_key is not None:
        yield "private_key", "expected null, since without public_key each secret is a private key"
    elif given is not None:
        yield from _wrong_pair(algorithm, given, scheme.private_key)


def _wrong_pair(
    algorithm: Algorithm, public: str, private: str | None
) -> Iterator[tuple[str, str]]:
    try:
        key = public_key(algorithm, public)
    except ValueError as problem:
        yield "public_key", str(problem)
        return
    try:
        if private is not None and public_key_of(algorithm, private) != key:
            yield "private_key", "expected the private key that public_key belongs to"
    except ValueError as problem:
        yield "private_key", str(problem)


def _identifier_is_sent(dialect: Dialect) -> Iterator[Contradiction]:
    """A receiver cannot check a signature over an identifier that is not sent to it."""
    for name in ("simple", "advanced"):
        scheme = getattr(dialect.signatures, name)
        if UNREAD in (scheme.value, scheme.signed):
            continue
        in_header = "{id}" in scheme.value or dialect.delivery.event_id_header is not None
        if "{id}" in scheme.signed and not in_header:
            yield (
                ("signatures", name, "signed"),
                (
                    "{id} is signed but not sent; put it into value or name a"
                    " delivery.event_id_header"
                ),
            )


def _values(dialect: Dialect, path: str) -> list[Any]:
    """The values that an answer allows; none if it is undecided, or null for what there is not."""
    value = attrgetter(path)(dialect)
    if isinstance(value, Answer):
        return [each for each in value.allowed if each is not None]
    return [] if value is None else [value]


def _items(dialect: Dialect, path: str) -> tuple[str, ...]:
    """The items of an answer that is a list; none if it could not be read."""
    value = attrgetter(path)(dialect)
    return () if value is UNREAD else tuple(value)


def _location(path: str) -> Location:
    return tuple(path.split("."))


_CHECKS: Final = (
    template_contradictions,
    _numbers_are_in_order,
    _words_are_apart,
    _headers_are_apart,
    _filters_are_new,
    _fields_exist,
    _fields_without_value_exist,
    _identifier_patterns_are_usable,
    _enumerated_fields_exist,
    _limited_texts_exist,
    _both_secrets_sign,
    _identifier_is_sent,
    _prefix_can_be_in_the_key,
    _keys_fit_the_algorithm,
    _refusals_exist,
)
