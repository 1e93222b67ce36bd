"""Contradictions within the templates of a dialect: key, error body, signatures (sections 5 to 7).

A placeholder is a word in braces. A receiver parses the value of a signature header, so its parts
must be separated by the text between them.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Final

from hookproof.spec.dialect.answer import UNREAD
from hookproof.spec.dialect.groups.signature_vocabulary import (
    BASE64_VARIANTS,
    Encoding,
    SigningSecrets,
)
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.signature_scheme import SignatureScheme
from hookproof.spec.strict_yaml.file_problem import Location
from hookproof.spec.strict_yaml.schema_wording import did_you_mean

Contradiction = tuple[Location, str]
_SchemeCheck = Callable[[SignatureScheme], Iterator[tuple[str, str]]]

# The placeholders of each template.
PLACEHOLDERS: Final[Mapping[str, tuple[str, ...]]] = {
    "key_format": ("key",),
    "body": ("message", "status", "any"),
    "signed": ("body", "timestamp", "id"),
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
