"""Finds how a delivery was signed, from a secret that is known (section 6, item 3).

The search that explains bad signatures, run backwards: every header is read for texts that may be
signatures, every way to join the identifier, the time and the body is signed with every key that
the secret can stand for, and compared.
"""

import hmac
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations, product
from typing import Final

from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.receiver.signatures.base64_text import decode_base64
from hookproof.receiver.signatures.verification import secret_key
from hookproof.spec.dialect.answer import NOT_ASKED
from hookproof.spec.dialect.signature_scheme import Secrets
from hookproof.spec.dialect.vocabulary import BASE64_VARIANTS, Encoding, Hash, SecretForm

# The number of bytes of each hash.
SIZES: Final = {Hash.SHA1: 20, Hash.SHA256: 32, Hash.SHA512: 64}
NUMBER: Final = re.compile(r"(?<![0-9A-Za-z])[0-9]{7,16}(?![0-9A-Za-z])")
# What stands between two parts of what is signed.
JOINS: Final = (".", ",", ":", "|", "", "\n", "-", "_", ";", " ", "/", "+", "&")
# All ways of signing that are tried, in words.
TRIED: Final = (
    f"HMAC with {', '.join(SIZES)} in {', '.join(Encoding)}; of the body, alone or joined with"
    f" the event's id and a time by any of {' '.join(map(repr, JOINS))}; with the secret as"
    f" {', '.join(SecretForm)}, with its prefix and without"
)
# What begins a secret, up to a separator.
SECRET_PREFIX: Final = re.compile(r"^[A-Za-z][A-Za-z0-9]{0,15}[_.:-]")


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundText:
    """A text within a header's value that may be a signature.

    `encodings` are all in which it is the text of the digest: not every text shows its alphabet.
    """

    header: str
    start: int
    end: int
    encodings: tuple[Encoding, ...]
    digest: bytes

    @property
    def hash(self) -> Hash:
        return next(each for each, size in SIZES.items() if size == len(self.digest))


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundSignature:
    """How a signature was made: the text in the header, what was signed, and with which key.

    `signed` is a template; `timestamp` is the text that was signed for the time, empty if none
    was. `rules` are those by which the secret becomes the key.
    """

    secret: str
    text: FoundText
    signed: str
    timestamp: str
    rules: Secrets


def possible_signatures(headers: Sequence[tuple[str, str]]) -> Iterator[FoundText]:
    """Every text in the headers that is a hash's number of bytes, in hex or base64."""
    for header, value in headers:
        for size in SIZES.values():
            found: dict[tuple[int, int, bytes], list[Encoding]] = {}
            for encoding, pattern in _patterns(size).items():
                for match in re.finditer(pattern, value):
                    digest = _decoded(match.group(), encoding)
                    if digest is not None:
                        found.setdefault((*match.span(), digest), []).append(encoding)
            for (start, end, digest), encodings in found.items():
                yield FoundText(
                    header=header,
                    start=start,
                    end=end,
                    encodings=tuple(encodings),
                    digest=digest,
                )


def find_signature(
    delivery: ReceivedDelivery, secret: str, rules: Sequence[Secrets], event_id: str
) -> FoundSignature | None:
    """How this secret signed the delivery; None if no way that was tried explains a signature."""
    texts = list(possible_signatures(delivery.headers))
    times = dict.fromkeys(match for _, value in delivery.headers for match in NUMBER.findall(value))
    keys = dict(_keys(secret, rules))
    for template, parts in _templates(list(times), event_id):
        message = b"".join(delivery.body if part is None else part.encode() for part in parts)
        for (key, key_rules), kind in product(keys.items(), {text.hash for text in texts}):
            digest = hmac.digest(key, message, kind.value)
            for text in texts:
                if text.digest == digest:
                    timestamp = next((part for part in parts if part in times), "")
                    return FoundSignature(
                        secret=secret,
                        text=text,
                        signed=template,
                        timestamp=timestamp or "",
                        rules=key_rules,
                    )
    return None


def secret_rules(
    prefix: str, form: SecretForm, generated_bytes: int, secret: str
) -> Iterator[Secrets]:
    """The ways in which a secret's text may become the key, the likeliest first.

    `prefix` and `form` are those of the secrets that were seen.
    """
    own = SECRET_PREFIX.match(secret)
    without_prefix = Secrets(
        prefix="", form=SecretForm.TEXT, generated_bytes=generated_bytes, other_forms=NOT_ASKED
    )
    for begin in dict.fromkeys([prefix, "", own.group() if own else ""]):
        for each in dict.fromkeys([form, *SecretForm]):
            yield replace(without_prefix, prefix=begin, form=each)
        if begin:
            yield replace(without_prefix, prefix=begin, prefix_in_key=True)


def _keys(secret: str, rules: Sequence[Secrets]) -> Iterator[tuple[bytes, Secrets]]:
    known = set()
    for each in rules:
        try:
            key = secret_key(each, secret)
        except ValueError:
            continue
        if key not in known:
            known.add(key)
            yield key, each


def _patterns(size: int) -> dict[Encoding, str]:
    """In the order of preference where a text is one in several encodings."""
    padding = "=" * (-size % 3)
    count = (size * 4 + 2) // 3
    patterns = {Encoding.HEX: f"(?<![0-9A-Za-z])[0-9a-f]{{{2 * size}}}(?![0-9A-Za-z])"}
    for word, variant in BASE64_VARIANTS.items():
        letters, end = variant.letters, padding if variant.padded else ""
        patterns[Encoding(word)] = f"(?<![{letters}])[{letters}]{{{count}}}{end}(?![{letters}=])"
    return patterns


def _decoded(text: str, encoding: Encoding) -> bytes | None:
    try:
        if encoding is Encoding.HEX:
            return bytes.fromhex(text)
        return decode_base64(encoding, text)
    except ValueError:
        return None


def _templates(times: Sequence[str], event_id: str) -> Iterator[tuple[str, tuple[str | None, ...]]]:
    """Every way to join the parts, the body among them (None), with its template."""
    yield "{body}", (None,)
    for time in [*times, None]:
        parts = {"{body}": None, "{id}": event_id}
        if time is not None:
            parts["{timestamp}"] = time
        for count in range(2, len(parts) + 1):
            for names in permutations(parts, count):
                if "{body}" not in names or (time is not None and "{timestamp}" not in names):
                    continue
                yield from _joined(names, parts)


def _joined(
    names: Sequence[str], parts: dict[str, str | None]
) -> Iterator[tuple[str, tuple[str | None, ...]]]:
    for joins in product(JOINS, repeat=len(names) - 1):
        template, values = names[0], [parts[names[0]]]
        for join, name in zip(joins, names[1:], strict=True):
            template += join + name
            values += [join, parts[name]]
        yield template, tuple(values)
