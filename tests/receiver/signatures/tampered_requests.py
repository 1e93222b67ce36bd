"""Requests of every provider scheme and of every algorithm of a dialect, and changes to them.

What is changed is one character of the body, of a member, of the URL, the time, the signature or
the secret: only what a scheme signs, so that none of them may be verified.
"""

import gzip
import json
import random
import re
import string
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final
from urllib.parse import parse_qsl

from hookproof.mockserver.delivery.attempt.signing import SignatureFormat
from hookproof.receiver.signatures.schemes.catalogue import load_scheme
from hookproof.receiver.signatures.schemes.model import ProviderScheme
from hookproof.receiver.signatures.schemes.request_parts import RequestLine
from hookproof.receiver.signatures.verification import Verified, verify
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.signature_scheme import Secrets, SignatureScheme
from tests.receiver.signatures.schemes.provider_signers import (
    DATE,
    GIVEN,
    JSON,
    NAMES,
    TIME,
    URL,
    signed,
)
from tests.spec.dialect_variants import variant
from tests.spec.signing_dialects import ALGORITHMS, own_key_dialect, seed_secret, seeds_dialect

SIGNATURE: Final = re.compile(r"(?<![0-9A-Za-z+/_-])[0-9A-Za-z+/_-]{27,}={0,2}")
LETTERS: Final = string.ascii_letters + string.digits
MEMBER: Final = "body:"
# How many signatures are cut off, of those that are changed.
SHORTENED: Final = 0.2
PARTS_OF_URL: Final = ("{url}", "{decoded_url}", "{path}", "{form}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedRequest:
    """A request, and by what it is verified, at `now` in Unix seconds."""

    name: str
    scheme: SignatureScheme
    rules: Secrets
    secret: str
    id_header: str | None
    headers: tuple[tuple[str, str], ...]
    body: bytes
    now: float
    line: RequestLine

    @property
    def is_verified(self) -> bool:
        outcome = verify(
            self.scheme, self.rules, [self.secret], self.headers, self.id_header, self.body,
            self.now, self.line,
        )  # fmt: skip
        return isinstance(outcome, Verified)

    @property
    def signs_message(self) -> bool:
        """Whether it has an HTTP message signature, which covers all that is changed here."""
        return isinstance(self.scheme, ProviderScheme) and self.scheme.signs_messages


@cache
def signed_requests() -> tuple[SignedRequest, ...]:
    """One of each provider scheme, and one of each algorithm of a dialect."""
    plain = {f"signatures.{each}.algorithm": "plain_hash" for each in ("simple", "advanced")}
    dialects = {
        "plain hash": (variant(plain), "a made-up secret"),
        "secrets as seeds": (seeds_dialect(), seed_secret()),
        **{f"own key, {each}": (own_key_dialect(each), "unused") for each in ALGORITHMS},
    }
    return (
        *map(_of_provider, NAMES),
        *(_of_dialect(name, *each) for name, each in dialects.items()),
    )


def _of_provider(name: str) -> SignedRequest:
    request, scheme = signed(name), load_scheme(GIVEN.get(name, name))
    return SignedRequest(
        name=name,
        scheme=scheme.signature,
        rules=scheme.secret,
        secret=request.secret,
        id_header=scheme.entry.id_header,
        headers=request.headers,
        body=request.body,
        now=TIME,
        line=RequestLine(method="POST", url=URL),
    )


def _of_dialect(name: str, dialect: Dialect, secret: str) -> SignedRequest:
    scheme, rules = dialect.signatures.advanced, dialect.signatures.secret
    return SignedRequest(
        name=name,
        scheme=scheme,
        rules=rules,
        secret=secret,
        id_header=dialect.delivery.event_id_header,
        headers=tuple(SignatureFormat(scheme, rules).headers([secret], "event", TIME, JSON)),
        body=JSON,
        now=TIME,
        line=RequestLine(method="POST", url=URL),
    )


def other_letter(rng: random.Random, text: str, among: str = LETTERS) -> str:
    """A text with another letter or digit at one place that has one."""
    at = rng.choice([index for index, letter in enumerate(text) if letter in among])
    others = [letter for letter in among if letter.lower() != text[at].lower()]
    return text[:at] + rng.choice(others) + text[at + 1 :]


def change_body(rng: random.Random, request: SignedRequest) -> SignedRequest | None:
    """Another byte somewhere; of a form, another name or value."""
    parts = ("{body}", "{crc32}", "{form}")
    if not request.signs_message and not any(part in request.scheme.signed for part in parts):
        return None
    if not request.scheme.algorithm.signs:
        return None
    is_zipped = isinstance(request.scheme, ProviderScheme) and request.scheme.inflated
    body = bytearray(gzip.decompress(request.body) if is_zipped else request.body)
    body[rng.randrange(len(body))] ^= 1 << rng.randrange(8)
    if "{form}" in request.scheme.signed and fields(body) == fields(request.body):
        return None
    return replace(request, body=gzip.compress(body, mtime=0) if is_zipped else bytes(body))


def fields(body: bytes | bytearray) -> list[tuple[str, str]]:
    """What stands in a form, whose escapes may be written in several ways."""
    return parse_qsl(body.decode("latin-1"), keep_blank_values=True, encoding="latin-1")


def change_member(rng: random.Random, request: SignedRequest) -> SignedRequest | None:
    """Another text of a member of the body that is signed."""
    paths = re.findall(r"\{body:([\w.-]+)\}", request.scheme.signed)
    if not paths or not isinstance(request.scheme, ProviderScheme):
        return None
    document = json.loads(request.body)
    *above, name = f"{request.scheme.within}.{rng.choice(paths)}".split(".")
    place: Any = document
    for step in filter(None, above):
        place = place[int(step) if isinstance(place, list) else step]
    place[name] = f"{place.get(name) or ''}{rng.choice(LETTERS)}"
    return replace(request, body=json.dumps(document).encode())


def change_signature(rng: random.Random, request: SignedRequest) -> SignedRequest:
    """Another character of the signature, or fewer of them."""

    def changed(match: re.Match[str]) -> str:
        text = match[0]
        if rng.random() < SHORTENED:
            return text[: rng.randrange(len(text.rstrip("=")))]
        # Of HTTP message signatures, bits after the last byte may be anything (RFC 8941, 4.2.7).
        kept = text[-3:] if request.signs_message else ""
        return other_letter(rng, text.removesuffix(kept)) + kept

    signs, header = request.scheme.algorithm.signs, request.scheme.header
    pattern = SIGNATURE if signs else re.compile(r"(?<=^Basic ).+|^(?!Basic ).+")
    if header.startswith(MEMBER):
        name = re.escape(header.rpartition(".")[2])
        body = re.sub(rf'(?<="{name}": ")[^"]+', changed, request.body.decode())
        return replace(request, body=body.encode())
    headers = tuple(
        (name, pattern.sub(changed, value) if name.lower() == header.lower() else value)
        for name, value in request.headers
    )
    return replace(request, headers=headers)


def change_time(rng: random.Random, request: SignedRequest) -> SignedRequest | None:
    """Another time, at which the receiver's clock is too."""
    if not request.signs_message and "{timestamp}" not in request.scheme.signed:
        return None
    later_s = rng.randrange(1, 9)
    now = TIME + later_s
    date = f"{DATE[:-3]}{int(DATE[-3:-1]) + later_s:02}Z"

    def moved(text: str) -> str:
        return text.replace(str(TIME), str(now)).replace(DATE, date)

    headers = tuple((name, moved(value)) for name, value in request.headers)
    return replace(request, headers=headers, body=moved_body(request, moved), now=now)


def moved_body(request: SignedRequest, moved: Callable[[str], str]) -> bytes:
    """The body with another time, where it has the time."""
    in_body = (request.scheme.timestamp_header or "").startswith(MEMBER)
    return moved(request.body.decode()).encode() if in_body else request.body


def change_url(rng: random.Random, request: SignedRequest) -> SignedRequest | None:
    signed_parts = [part for part in PARTS_OF_URL if part in request.scheme.signed]
    if not request.signs_message and not signed_parts:
        return None
    line = replace(request.line, url=other_letter(rng, URL, string.ascii_lowercase))
    return None if "%3" not in line.url.upper() else replace(request, line=line)


def change_secret(rng: random.Random, request: SignedRequest) -> SignedRequest | None:
    if request.scheme.algorithm.has_public_key or request.name == "secrets as seeds":
        return None
    before, after = request.rules.prefix, request.secret.removeprefix(request.rules.prefix)
    among = "0123456789abcdef" if request.rules.form == "hex" else LETTERS
    # The last character of base64 may have bits that nothing reads.
    text = before + other_letter(rng, after[:-4], among) + after[-4:]
    return replace(request, secret=text)


CHANGES: Final[dict[str, Callable[[random.Random, SignedRequest], SignedRequest | None]]] = {
    "body": change_body,
    "member": change_member,
    "signature": change_signature,
    "time": change_time,
    "URL": change_url,
    "secret": change_secret,
}


def tamper_with_requests(count: int, seed: int) -> tuple[Counter[str], list[SignedRequest]]:
    """How many requests were changed in each way, and those that were verified nevertheless."""
    rng, tried, accepted = random.Random(seed), Counter[str](), list[SignedRequest]()
    while tried.total() < count:
        original, kind = rng.choice(signed_requests()), rng.choice(tuple(CHANGES))
        changed = CHANGES[kind](rng, original)
        if changed is not None and changed != original:
            tried[kind] += 1
            accepted += [changed] if changed.is_verified else []
    return tried, accepted
