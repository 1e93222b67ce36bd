"""Other keys that a sender may have made of a secret, and other secrets."""

import base64
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from hookproof.receiver.signatures.diagnosis.deviation import Aspect, Deviation, Variant, Variants
from hookproof.receiver.signatures.secret_key import secret_key
from hookproof.spec.dialect.model import Secrets

# What programs print for a value that is not there.
NO_SECRETS: Final = ("undefined", "null", "None", "nil")

# So many of the readings below are tried together with other deviations.
LIKELY_READINGS: Final = 6

# Raises ValueError for a text that cannot be read so.
Reading = Callable[[str], bytes]


def key_variants(
    rules: Secrets, secrets: Sequence[str], others: Mapping[str, str]
) -> Variants[bytes]:
    """The keys of the endpoint's own secrets, what else may be made of their texts, and the keys of
    `others`.
    """

    def make(distance: int) -> Iterator[Variant[bytes]]:
        if distance == 0:
            yield from (Variant(value=key) for key in _keys(rules, secrets))
        if distance == 1:
            for name, other in others.items():
                yield from (_with(f"signed with {name}", key) for key in _keys(rules, [other]))
            yield from _misread(rules, secrets)
            yield from _absent()
        if distance == 2:  # noqa: PLR2004 - another secret, and misread
            for name, other in others.items():
                for variant in _misread(rules, [other]):
                    mixed_up = Deviation(aspect=Aspect.SECRET, words=f"signed with {name}")
                    yield Variant(value=variant.value, deviations=(mixed_up, *variant.deviations))

    return Variants(make)


def _with(words: str, key: bytes, *, rare: bool = False) -> Variant[bytes]:
    return Variant(value=key, deviations=(Deviation(aspect=Aspect.SECRET, words=words),), rare=rare)


def _keys(rules: Secrets, secrets: Sequence[str]) -> Iterator[bytes]:
    for secret in secrets:
        try:
            yield secret_key(rules, secret)
        except ValueError:
            continue


def _misread(rules: Secrets, secrets: Sequence[str]) -> Iterator[Variant[bytes]]:
    for place, (words, reading) in enumerate(_readings(rules).items()):
        for secret in secrets:
            try:
                key = reading(secret)
            except ValueError:
                continue
            if key:
                yield _with(words, key, rare=place >= LIKELY_READINGS)


def _absent() -> Iterator[Variant[bytes]]:
    yield _with("signed with an empty secret", b"")
    for text in NO_SECRETS:
        yield _with(f"signed with {text!r} for a secret", text.encode(), rare=True)


def _readings(rules: Secrets) -> Mapping[str, Reading]:
    """What may be done to a secret's text, in words whose subject is the sender."""

    def stem(text: str) -> str:
        return text.removeprefix(rules.prefix)

    prefix = (
        {"took the whole text of the secret for the key, prefix and all": str.encode}
        if rules.prefix
        else {}
    )
    return prefix | {
        "took the text of the secret for the key, undecoded": lambda text: stem(text).encode(),
        "decoded the secret from base64": lambda text: _base64(stem(text)),
        "decoded the secret from base64url": lambda text: _base64(stem(text).translate(URL_SAFE)),
        "decoded the secret from base64, prefix and all": lambda text: _base64(
            text.translate(URL_SAFE)
        ),
        "decoded the secret from hex": lambda text: bytes.fromhex(stem(text)),
        "put the key into base64 first": lambda text: base64.b64encode(secret_key(rules, text)),
        "put the key into hex first": lambda text: secret_key(rules, text).hex().encode(),
        "left a line end after the secret": lambda text: secret_key(rules, text) + b"\n",
        "left a line end after the text of the secret": lambda text: text.encode() + b"\n",
        "cut the white space around the secret": lambda text: text.strip().encode(),
        "left the secret in quotation marks": lambda text: f'"{text}"'.encode(),
        "changed the secret to small letters": lambda text: text.lower().encode(),
        "changed the secret to capital letters": lambda text: text.upper().encode(),
    }


URL_SAFE: Final = str.maketrans("-_", "+/")


def _base64(text: str) -> bytes:
    return base64.b64decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4), validate=True)
