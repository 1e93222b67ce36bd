"""Other keys that a sender may have derived from a secret, and other secrets."""

import base64
import html
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Final
from urllib.parse import unquote

from hookproof.receiver.signatures.bytes_as_text import loose_base64
from hookproof.receiver.signatures.diagnosis.deviation import Aspect, Deviation, Variant, Variants
from hookproof.receiver.signatures.verification import secret_key
from hookproof.spec.dialect.signature_scheme import Secrets

# What programs print for a missing value.
MISSING_VALUES: Final = ("undefined", "null", "None", "nil")

# How many of the readings below are tried together with other deviations.
LIKELY_READINGS: Final = 6

# Raises ValueError for a text that cannot be read this way.
Reading = Callable[[str], bytes]


def key_variants(
    rules: Secrets, secrets: Sequence[str], others: Mapping[str, str]
) -> Variants[bytes]:
    """The keys of the endpoint's secrets, misreadings of these, and the keys of `others`."""

    def generate(distance: int) -> Iterator[Variant[bytes]]:
        if distance == 0:
            yield from (Variant(value=key) for key in _keys(rules, secrets))
        if distance == 1:
            for name, other in others.items():
                yield from (_variant(f"signed with {name}", key) for key in _keys(rules, [other]))
            yield from _mended_secrets(rules, secrets)
            yield from _misread_secrets(rules, secrets)
            yield from _missing_secrets()
        if distance == 2:  # noqa: PLR2004 - another secret, and misread
            for name, other in others.items():
                for variant in _misread_secrets(rules, [other]):
                    mixed_up = Deviation(aspect=Aspect.SECRET, words=f"signed with {name}")
                    yield Variant(value=variant.value, deviations=(mixed_up, *variant.deviations))

    return Variants(generate)


def _variant(words: str, key: bytes, *, rare: bool = False) -> Variant[bytes]:
    return Variant(value=key, deviations=(Deviation(aspect=Aspect.SECRET, words=words),), rare=rare)


def _keys(rules: Secrets, secrets: Sequence[str]) -> Iterator[bytes]:
    for secret in secrets:
        try:
            yield secret_key(rules, secret)
        except ValueError:
            continue


def _misread_secrets(rules: Secrets, secrets: Sequence[str]) -> Iterator[Variant[bytes]]:
    for index, (words, reading) in enumerate(_readings(rules).items()):
        for secret in secrets:
            try:
                key = reading(secret)
            except ValueError:
                continue
            if key:
                yield _variant(words, key, rare=index >= LIKELY_READINGS)


def _mended_secrets(rules: Secrets, secrets: Sequence[str]) -> Iterator[Variant[bytes]]:
    """The keys of secrets that were copied with something around them, or without something."""
    for secret, (words, mend) in product(secrets, MENDED.items()):
        mended = mend(secret)
        phrases = {mended: words}
        if rules.prefix and not mended.startswith(rules.prefix):
            added = (
                f"signed with a secret that begins with {rules.prefix!r}, which was left out here"
            )
            phrases[rules.prefix + mended] = "; ".join(filter(None, (words, added)))
        for text, phrase in phrases.items():
            deviation = Deviation(aspect=Aspect.SECRET, words=phrase, remedy="secret text")
            for key in _keys(rules, [text]) if text != secret else ():
                yield Variant(value=key, deviations=(deviation,), rare=True)


def _missing_secrets() -> Iterator[Variant[bytes]]:
    yield _variant("signed with an empty secret", b"")
    for text in MISSING_VALUES:
        yield _variant(f"signed with {text!r} for a secret", text.encode(), rare=True)


def _readings(rules: Secrets) -> Mapping[str, Reading]:
    """What may be done to a secret's text, as phrases whose subject is the sender."""

    def without_prefix(text: str) -> str:
        return text.removeprefix(rules.prefix)

    prefix = (
        {"took the whole text of the secret for the key, prefix and all": str.encode}
        if rules.prefix
        else {}
    )
    return prefix | {
        "took the text of the secret for the key, undecoded": lambda text: without_prefix(
            text
        ).encode(),
        "decoded the secret from base64": lambda text: _standard_base64(without_prefix(text)),
        "decoded the secret from base64url": lambda text: loose_base64(without_prefix(text)),
        "decoded the secret from base64, prefix and all": loose_base64,
        "decoded the secret from hex": lambda text: bytes.fromhex(without_prefix(text)),
        "put the key into base64 first": lambda text: base64.b64encode(secret_key(rules, text)),
        "put the key into hex first": lambda text: secret_key(rules, text).hex().encode(),
        "left a line end after the secret": lambda text: secret_key(rules, text) + b"\n",
        "left a line end after the text of the secret": lambda text: text.encode() + b"\n",
        "left the secret in quotation marks": lambda text: f'"{text}"'.encode(),
        "changed the secret to small letters": lambda text: text.lower().encode(),
        "changed the secret to capital letters": lambda text: text.upper().encode(),
    }


def _standard_base64(text: str) -> bytes:
    text = text.rstrip("=")
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)


def _as_it_is(text: str) -> str:
    return text


# What to do to the text that was given, and what that says about it.
MENDED: Final[Mapping[str, Callable[[str], str]]] = {
    "": _as_it_is,
    "signed with the secret without the white space around it: "
    "the secret that was given has white space at an end": str.strip,
    "signed with the secret without the invisible characters around it": lambda text: text.strip(
        "\ufeff\u200b\u2060\xa0 \t\r\n"
    ),
    "signed with the secret without the word before it, which ends in a space or in _": (
        lambda text: re.sub(r"^([a-z]+_|\w+ )(?=.)", "", text.strip())
    ),
    "signed with the secret without the quotation marks around it": lambda text: text.strip().strip(
        "\"'`"
    ),
    "signed with the secret without the label before it, such as 'v1,'": lambda text: re.sub(
        r"^v\d+[a-z]?,", "", text.strip()
    ),
    "signed with the secret without the name before it, such as 'SECRET='": lambda text: re.sub(
        r"^(export )?\w+=(?=.)", "", text.strip()
    ),
    "signed with the HTML-escaped secret (&lt; &gt; &amp;)": lambda text: html.escape(
        text, quote=False
    ),
    "signed with the HTML-escaped secret (&lt; &gt; &amp; &quot;)": lambda text: html.escape(
        text, quote=False
    ).replace('"', "&quot;"),
    "signed with the HTML-escaped secret (&lt; &gt; &amp; &quot; &#x27;)": html.escape,
    "signed with the HTML-escaped secret (&lt; &gt; &amp; &quot; &#039;)": lambda text: (
        html.escape(text, quote=False).replace('"', "&quot;").replace("'", "&#039;")
    ),
    "signed with the secret whose HTML escapes are resolved": html.unescape,
    "signed with the secret whose percent escapes are resolved": unquote,
    "signed with the secret without the backslashes in it": lambda text: text.replace("\\", ""),
    "signed with the secret without the line breaks in it": lambda text: "".join(text.split()),
}
