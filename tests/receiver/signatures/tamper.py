"""Tamper with signed deliveries and check that the verifier accepts none.

Run `python -m tests.receiver.signatures.tamper [COUNT]`. Nine of ten messages are a good vector of
a random dialect with one change: bits of the signature or of the body, the length of either, the
time, the identifier, or a piece of another vector. Messages that come out unchanged, or differ only
in what the scheme does not sign, are not counted. The tenth is a request of a provider, or of a
dialect with another algorithm than HMAC (`tampered_requests`).
"""

import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache

from hookproof.receiver.signatures.verification import Verified, verify
from hookproof.receiver.vectors.corpus import good_vectors
from hookproof.receiver.vectors.vector import Vector
from hookproof.spec.dialect.reader import load_dialect
from tests.receiver.signatures.tampered_requests import tamper_with_requests

SEED = 20250101
# Requests take longer: one of so many messages.
IN_EACH = 10
SIGNATURE = re.compile(r"[0-9A-Za-z+/]{40,}={0,2}")
ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+/="


# Makes one random change to a vector.
Change = Callable[[random.Random, Vector], Vector]


def flip_bit_of_body(rng: random.Random, vector: Vector) -> Vector:
    body = bytearray(vector.body)
    body[rng.randrange(len(body))] ^= 1 << rng.randrange(8)
    return replace(vector, body=bytes(body))


def insert_into_body(rng: random.Random, vector: Vector) -> Vector:
    at = rng.randrange(len(vector.body) + 1)
    inserted = rng.randbytes(rng.randrange(1, 4))
    return replace(vector, body=vector.body[:at] + inserted + vector.body[at:])


def change_signatures(rng: random.Random, vector: Vector) -> Vector:
    """Change one character of each signature."""

    def changed(match: re.Match[str]) -> str:
        text, at = match[0], rng.randrange(len(match[0]))
        return text[:at] + rng.choice(ALPHABET) + text[at + 1 :]

    return with_replaced_signatures(vector, changed)


def truncate_signatures(rng: random.Random, vector: Vector) -> Vector:
    return with_replaced_signatures(vector, lambda match: match[0][: rng.randrange(len(match[0]))])


def with_replaced_signatures(vector: Vector, change: Callable[[re.Match[str]], str]) -> Vector:
    name = vector.scheme.header
    return vector.with_header(name, SIGNATURE.sub(change, vector.header(name)))


def move_time(rng: random.Random, vector: Vector) -> Vector:
    moved = str(rng.randrange(10**9, 2 * 10**9))
    headers = tuple(
        (name, re.sub(r"(?<!\w)1735689600(?!\w|\.)", moved, value))
        for name, value in vector.headers
    )
    return replace(vector, headers=headers)


def replace_identifier(rng: random.Random, vector: Vector) -> Vector:
    return vector.with_header(vector.event_id_header, f"{rng.getrandbits(64):x}")


def exchange_body(rng: random.Random, vector: Vector) -> Vector:
    return replace(vector, body=rng.choice(varied_vectors()).body)


CHANGES: dict[str, Change] = {
    "body": flip_bit_of_body,
    "body length": insert_into_body,
    "signature": change_signatures,
    "signature length": truncate_signatures,
    "time": move_time,
    "identifier": replace_identifier,
    "exchanged": exchange_body,
}


@cache
def varied_vectors() -> tuple[Vector, ...]:
    return tuple(vector for vector in good_vectors() if 0 < len(vector.body) < 1000)


def is_equivalent(original: Vector, other: Vector) -> bool:
    """Whether a scheme does not distinguish two deliveries."""
    if original.body != other.body:
        return False
    signed = [
        name
        for name, _ in original.headers
        if name != original.event_id_header or "{id}" in original.scheme.signed
    ]
    # Hex in either case is the same signature.
    fold = str.lower if original.scheme.encoding == "hex" else str
    return all(fold(original.header(name)) == fold(other.header(name)) for name in signed)


def tamper(count: int, seed: int = SEED) -> tuple[Counter[str], list[Vector]]:
    """How many messages of each kind were tried, and those that were accepted."""
    rng = random.Random(seed)
    rules = {
        name: load_dialect(name).signatures.secret
        for name in {vector.dialect for vector in varied_vectors()}
    }
    tried: Counter[str] = Counter()
    accepted = []
    while tried.total() < count:
        original = rng.choice(varied_vectors())
        kind = rng.choice(tuple(CHANGES))
        vector = CHANGES[kind](rng, original)
        if is_equivalent(original, vector):
            continue
        tried[kind] += 1
        outcome = verify(
            vector.scheme,
            rules[vector.dialect],
            vector.secrets,
            vector.headers,
            vector.event_id_header,
            vector.body,
            vector.now,
        )
        unchanged = "signature" in kind and has_unchanged_signature(original, vector)
        if isinstance(outcome, Verified) and not unchanged:
            accepted.append(vector)
    return tried, accepted


def has_unchanged_signature(original: Vector, vector: Vector) -> bool:
    """Whether one of several signatures is unchanged, which suffices for acceptance."""
    headers = [v.header(v.scheme.header) for v in (original, vector)]
    if vector.scheme.encoding == "hex":  # either case is the same signature
        headers = [header.lower() for header in headers]
    texts = [set(SIGNATURE.findall(header)) for header in headers]
    return bool(texts[0] & texts[1])


def main() -> None:
    """Tamper, print what was tried, and exit with 1 if anything was accepted."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    started = time.monotonic()
    of_requests = count // IN_EACH
    tried, accepted = tamper(count - of_requests)
    requests, verified = tamper_with_requests(of_requests, SEED)
    tried.update({f"{kind} of requests": times for kind, times in requests.items()})
    for name in sorted({request.name for request in verified}):
        sys.stdout.write(f"accepted of {name}\n")
    for kind, times in sorted(tried.items()):
        sys.stdout.write(f"{kind:22} {times:9,}\n")
    sys.stdout.write(
        f"{'tampered':22} {tried.total():9,} in {time.monotonic() - started:.0f} s, "
        f"accepted {len(accepted) + len(verified)}\n"
    )
    sys.exit(1 if accepted or verified else 0)


if __name__ == "__main__":
    main()
