"""Tamper with signed deliveries and check that the verifier accepts none.

Run `python -m tests.receiver.signatures.tamper [COUNT]`. Each message is a good vector of a random
dialect with one change: bits of the signature or of the body, the length of either, the time, the
identifier, or a piece of another vector. Messages that come out unchanged, or differ only in what
the scheme does not sign, are not counted.
"""

import random
import re
import sys
import time
from collections import Counter
from dataclasses import replace

from hookproof.receiver.signatures.verification import Verified, verify
from hookproof.receiver.vectors.corpus import good_vectors
from hookproof.receiver.vectors.vector import Vector
from hookproof.spec.dialect.reader import load_dialect

SEED = 20250101
SIGNATURE = re.compile(r"[0-9A-Za-z+/]{40,}={0,2}")
ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+/="


def tamper_once(rng: random.Random, vectors: list[Vector]) -> tuple[str, Vector]:
    """A kind of change, and a vector with it."""
    vector = rng.choice(vectors)
    kind = rng.choice(
        ("body", "body length", "signature", "signature length", "time", "identifier", "exchanged")
    )
    own = vector.scheme.header
    if kind == "body":
        body = bytearray(vector.body)
        body[rng.randrange(len(body))] ^= 1 << rng.randrange(8)
        return kind, replace(vector, body=bytes(body))
    if kind == "body length":
        at = rng.randrange(len(vector.body) + 1)
        return kind, replace(
            vector,
            body=vector.body[:at] + rng.randbytes(rng.randrange(1, 4)) + vector.body[at:],
        )
    if kind in {"signature", "signature length"}:
        return kind, vector.with_header(
            own,
            SIGNATURE.sub(lambda match: spoil_signature(rng, kind, match[0]), vector.header(own)),
        )
    if kind == "time":
        moved = str(rng.randrange(10**9, 2 * 10**9))
        headers = tuple(
            (name, re.sub(r"(?<!\w)1735689600(?!\w|\.)", moved, value))
            for name, value in vector.headers
        )
        return kind, replace(vector, headers=headers)
    if kind == "identifier":
        return kind, vector.with_header(vector.event_id_header, f"{rng.getrandbits(64):x}")
    return kind, replace(vector, body=rng.choice(vectors).body)


def spoil_signature(rng: random.Random, kind: str, text: str) -> str:
    """A signature with a character changed, or truncated."""
    at = rng.randrange(len(text))
    return (
        text[:at]
        if kind == "signature length"
        else text[:at] + rng.choice(ALPHABET) + text[at + 1 :]
    )


def is_equivalent(original: Vector, other: Vector) -> bool:
    """Whether a scheme does not distinguish two deliveries."""
    if original.body != other.body:
        return False
    signed = [
        name
        for name, _ in original.headers
        if name != original.event_id_header or "{id}" in original.scheme.signed
    ]
    upper = original.scheme.encoding == "hex"
    texts = [
        [v.header(name).lower() if upper else v.header(name) for name in signed]
        for v in (original, other)
    ]
    return texts[0] == texts[1]


def tamper(count: int, seed: int = SEED) -> tuple[Counter[str], list[Vector]]:
    """How many messages of each kind were tried, and those that were accepted."""
    rng = random.Random(seed)
    vectors = [vector for vector in good_vectors() if 0 < len(vector.body) < 1000]
    rules = {
        name: load_dialect(name).signatures.secret
        for name in {vector.dialect for vector in vectors}
    }
    originals = {vector.name: vector for vector in vectors}
    tried: Counter[str] = Counter()
    accepted = []
    while tried.total() < count:
        kind, vector = tamper_once(rng, vectors)
        if is_equivalent(originals[vector.name], vector):
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
        unchanged = "signature" in kind and has_unchanged_signature(originals[vector.name], vector)
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
    tried, accepted = tamper(count)
    for kind, times in sorted(tried.items()):
        sys.stdout.write(f"{kind:18} {times:9,}\n")
    sys.stdout.write(
        f"{'tampered':18} {tried.total():9,} in {time.monotonic() - started:.0f} s, "
        f"accepted {len(accepted)}\n"
    )
    sys.exit(1 if accepted else 0)


if __name__ == "__main__":
    main()
