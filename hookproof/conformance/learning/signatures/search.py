"""Finds how a delivery was signed, from a secret that is known (section 6, item 3).

The search that explains bad signatures, run backwards: every header is read for texts that may be
signatures, every way to join the identifier, the time and the body is signed with every key that
the secret can stand for, and compared; or verified, where a public key is known.
"""

import hashlib
import hmac
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations, product
from typing import Final

from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.receiver.signatures.bytes_as_text import from_text
from hookproof.receiver.signatures.schemes.algorithms import public_key_check
from hookproof.receiver.signatures.schemes.model import CURVE_SIGNATURE
from hookproof.receiver.signatures.schemes.public_keys import public_text
from hookproof.receiver.signatures.verification import secret_key
from hookproof.spec.dialect.answer import NOT_ASKED
from hookproof.spec.dialect.signature_scheme import Secrets
from hookproof.spec.dialect.signing_key import ED25519_KEY, public_key
from hookproof.spec.dialect.vocabulary import (
    BASE64_VARIANTS,
    Algorithm,
    Encoding,
    Hash,
    SecretForm,
)

# The number of bytes of each hash.
SIZES: Final = {Hash.SHA1: 20, Hash.SHA256: 32, Hash.SHA512: 64}
# A number of units since 1970, or a time in RFC 3339.
DATE: Final = r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)"
TIME: Final = re.compile(rf"(?<![0-9A-Za-z])(?:[0-9]{{7,16}}|{DATE})(?![0-9A-Za-z])")
# What stands between two parts of what is signed.
JOINS: Final = (".", ",", ":", "|", "", "\n", "-", "_", ";", " ", "/", "+", "&")
# All ways of signing that are tried, in words.
TRIED: Final = (
    f"HMAC, or a hash after the secret, with {', '.join(SIZES)} in {', '.join(Encoding)};"
    " of the body, alone or joined with the event's id or the URL, and a time, by any of"
    f" {' '.join(map(repr, JOINS))}; with the secret as"
    f" {', '.join(SecretForm)}, with its prefix and without; {Algorithm.ED25519}, with the secret"
    " as the private key; and what a public_key verifies that the dialect of --extends has"
)
KEYED_HASHES: Final[Mapping[Algorithm, Callable[[bytes, bytes, str], bytes]]] = {
    Algorithm.HMAC: hmac.digest,
    Algorithm.PLAIN_HASH: lambda key, message, name: hashlib.new(name, key + message).digest(),
}
# In bytes: signatures of ECDSA in DER, whose two numbers may begin with zeros.
IN_DER: Final = range(66, 73)
RSA_SIZES: Final = (256, 384, 512)
# What begins a secret, up to a separator.
SECRET_PREFIX: Final = re.compile(r"^[A-Za-z][A-Za-z0-9]{0,15}[_.:-]")


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnKey:
    """A public key in DER by which a service may sign; `hashes` are those to try, in order."""

    algorithm: Algorithm
    key: bytes
    hashes: tuple[Hash, ...]

    @property
    def sizes(self) -> Sequence[int]:
        """How many bytes its signatures may have."""
        if self.algorithm is Algorithm.ECDSA:
            return IN_DER
        return RSA_SIZES if "rsa" in self.algorithm else (CURVE_SIGNATURE,)


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
        """The hash of this size."""
        return next(each for each, size in SIZES.items() if size == len(self.digest))


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundSignature:
    """How a signature was made: the text in the header, what was signed, and with which key.

    `signed` is a template; `timestamp` is the text that was signed for the time, empty if none
    was. `rules` are those by which the secret becomes the key; None where a key of the service
    signed, and no secret.
    """

    secret: str
    text: FoundText
    algorithm: Algorithm
    hash: Hash
    signed: str
    timestamp: str
    rules: Secrets | None


def possible_signatures(
    headers: Sequence[tuple[str, str]], sizes: Sequence[int] = tuple(SIZES.values())
) -> Iterator[FoundText]:
    """Every text in the headers that stands for so many bytes, in hex or base64."""
    for header, value in headers:
        for size in sizes:
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
    delivery: ReceivedDelivery, secret: str, rules: Sequence[Secrets], event_id: str, url: str
) -> FoundSignature | None:
    """How this secret signed the delivery to a URL; None if no way that was tried explains a
    signature.
    """
    texts = list(possible_signatures(delivery.headers))
    times = dict.fromkeys(match for _, value in delivery.headers for match in TIME.findall(value))
    keys = dict(_keys(secret, rules))
    templates = list(_templates(list(times), event_id, url)) if texts else []
    for algorithm, (template, parts) in product(KEYED_HASHES, templates):
        message = b"".join(delivery.body if part is None else part.encode() for part in parts)
        for (key, key_rules), kind in product(keys.items(), {text.hash for text in texts}):
            digest = KEYED_HASHES[algorithm](key, message, kind.value)
            for text in texts:
                if text.digest == digest:
                    timestamp = next((part for part in parts if part in times), "")
                    return FoundSignature(
                        secret=secret,
                        text=text,
                        algorithm=algorithm,
                        hash=text.hash,
                        signed=template,
                        timestamp=timestamp or "",
                        rules=key_rules,
                    )
    for key, key_rules in keys.items():
        if len(key) == ED25519_KEY:
            public = OwnKey(
                algorithm=Algorithm.ED25519,
                key=public_key(Algorithm.ED25519, public_text(key)),
                hashes=(Hash.SHA512,),  # which it has in itself (RFC 8032, section 5.1)
            )
            found = find_own_signature(delivery, public, event_id, url)
            if found is not None:
                return replace(found, secret=secret, rules=key_rules)
    return None


def find_own_signature(
    delivery: ReceivedDelivery, own: OwnKey, event_id: str, url: str
) -> FoundSignature | None:
    """How the key of the service signed the delivery; None if no signature is verified by it."""
    texts = list(possible_signatures(delivery.headers, own.sizes))
    times = dict.fromkeys(match for _, value in delivery.headers for match in TIME.findall(value))
    for template, parts in _templates(list(times), event_id, url) if texts else ():
        message = b"".join(delivery.body if part is None else part.encode() for part in parts)
        for text, kind in product(texts, own.hashes):
            if public_key_check(own.algorithm, kind.value, own.key, message, text.digest):
                return FoundSignature(
                    secret="",
                    text=text,
                    algorithm=own.algorithm,
                    hash=kind,
                    signed=template,
                    timestamp=next((part for part in parts if part in times), "") or "",
                    rules=None,
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
        return from_text(encoding, text)
    except ValueError:
        return None


def _templates(
    times: Sequence[str], event_id: str, url: str
) -> Iterator[tuple[str, tuple[str | None, ...]]]:
    """Every way to join the parts, the body among them (None), with its template; the URL takes
    the place of the identifier.
    """
    yield "{body}", (None,)
    for (name, value), time in product((("{id}", event_id), ("{url}", url)), [*times, None]):
        parts = {"{body}": None, name: value}
        if time is not None:
            parts["{timestamp}"] = time
        for count in range(2, len(parts) + 1):
            for names in permutations(parts, count):
                if "{body}" not in names or (time is not None and "{timestamp}" not in names):
                    continue
                if name == "{url}" and name not in names:  # which was tried before
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
