"""The search: every way to sign, tried against the signatures that came, the fewest deviations
first.

What is tried is bounded by a count of hashes and of hashed bytes and never by a clock, so that the
same delivery gets the same answer on every machine.
"""

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any, Final, NamedTuple

from hookproof.receiver.signatures.diagnosis.body_variants import body_variants
from hookproof.receiver.signatures.diagnosis.deviation import (
    Aspect,
    Bisection,
    Deviation,
    Variant,
    sentence,
)
from hookproof.receiver.signatures.diagnosis.digest_variants import Digest, digest_variants
from hookproof.receiver.signatures.diagnosis.join_variants import join_variants
from hookproof.receiver.signatures.diagnosis.key_variants import key_variants
from hookproof.receiver.signatures.diagnosis.known_values import Known
from hookproof.receiver.signatures.diagnosis.signature_readings import Heard, hear
from hookproof.receiver.signatures.diagnosis.time_variants import (
    stale_times,
    time_sent_wrong,
    time_variants,
    unsent_times,
)
from hookproof.receiver.signatures.diagnosis.unexplained import unexplained
from hookproof.receiver.signatures.signed_message import PLACEHOLDER, Headers
from hookproof.receiver.signatures.verification import Verified, verify
from hookproof.spec.dialect.model import Secrets, SignatureScheme

EFFORT_OF_A_HASH: Final = 2048
# In bytes hashed; to begin a hash is counted as so many bytes more.
MOST_EFFORT: Final = 6 * 2**20
# Deviations of one delivery that are searched for together, those of its header aside.
FURTHEST: Final = 3
# The long list of stale times is tried when nothing with so many deviations fits.
STALE_AFTER: Final = 1

STEPS: Final = 5
TIME: Final = "{timestamp}"

Told = tuple[Deviation, ...]


class Spent(Exception):
    """The search has computed as much as it may."""


def bisect(
    scheme: SignatureScheme,
    secret_rules: Secrets,
    secrets: Sequence[str],
    headers: Headers,
    event_id_header: str,
    body: bytes,
    now: float,
    *,
    known: Known | None = None,
) -> Bisection | None:
    """Explain a delivery that does not verify; None for one that does. Takes what `verify` takes,
    and never raises.
    """
    if isinstance(
        verify(scheme, secret_rules, secrets, headers, event_id_header, body, now), Verified
    ):
        return None
    heard = hear(scheme, headers, event_id_header)
    search = _Search(scheme, secret_rules, secrets, heard, body, now, known or Known())
    found = search.run() if heard.signatures else None
    late = _time_told(scheme, heard, now)
    if found is None:
        return Bisection(
            cause="; ".join(
                [*(one.words for one in late), unexplained(scheme, heard, headers, body)]
            ),
            deviations=late,
            explained=False,
            hashes=search.hashes,
        )
    deviations = (*found, *late)
    return Bisection(
        cause=_cause(deviations), deviations=deviations, explained=True, hashes=search.hashes
    )


def _cause(deviations: Told) -> str:
    # The signature may be good and the delivery refused all the same: for a header sent twice, for
    # example.
    return (
        sentence(deviations)
        or "signed as it should be; nothing but the reason of the refusal is wrong"
    )


def _time_told(scheme: SignatureScheme, heard: Heard, now: float) -> Told:
    wrong = time_sent_wrong(scheme, heard.times[0], now) if heard.times else None
    return (wrong,) if wrong else ()


@dataclass(frozen=True, slots=True)
class _Targets:
    """The signatures to be met. `folded` holds those whose letters are all of one case, by their
    text in small.
    """

    whole: Mapping[bytes, Told]
    folded: Mapping[str, str]

    @classmethod
    def of(cls, heard: Heard) -> "_Targets":
        whole: dict[bytes, Told] = {}
        for variant in heard.signatures:
            whole.setdefault(variant.value, variant.deviations)
        folded = {
            text.lower(): text for text in heard.texts if text in {text.lower(), text.upper()}
        }
        return cls(
            whole=whole, folded={text: own for text, own in folded.items() if len(text) % 4 == 0}
        )

    def met(self, digest: bytes) -> Told | None:
        """How the signature that this digest explains deviates from it; None: there is none."""
        told = self.whole.get(digest)
        if told is not None:
            return told
        for value, further in self.whole.items():
            if len(value) != len(digest) and (digest.startswith(value) or value.startswith(digest)):
                return (*further, _cut(len(value), len(digest)))
        if self.folded and base64.b64encode(digest).decode().lower() in self.folded:
            return (
                Deviation(
                    aspect=Aspect.ENCODING, words="changed the case of the signature's base64"
                ),
            )
        return None


def _cut(sent: int, whole: int) -> Deviation:
    did = "cut the signature off after" if sent < whole else "lengthened the signature to"
    return Deviation(aspect=Aspect.ENCODING, words=f"{did} {sent} bytes, it has {whole}")


class Way(NamedTuple):
    """One way to sign, and the variants that it is made of; there are thousands, so it is a plain
    tuple.
    """

    digest: Digest
    key: bytes
    message: bytes
    parts: tuple[Variant[Any], ...]


class _Search:
    """One search; `hashes` counts what it computed."""

    def __init__(
        self,
        scheme: SignatureScheme,
        rules: Secrets,
        secrets: Sequence[str],
        heard: Heard,
        body: bytes,
        now: float,
        known: Known,
    ) -> None:
        sent = {"timestamp": bool(heard.times), "id": heard.identifier is not None}
        self.hashes = 0
        self._effort = 0
        self._scheme = scheme
        self._heard = heard
        self._body = body
        self._now = now
        self._identifier = (heard.identifier or "").encode(errors="replace")
        self._targets = _Targets.of(heard)
        self._bodies = body_variants(body, known.bodies)
        self._keys = key_variants(rules, secrets, known.secrets)
        self._joins = join_variants(scheme.signed, [name for name, shown in sent.items() if shown])
        self._times = time_variants(heard.times, known.times)
        self._digests = digest_variants(
            scheme.hash, {len(variant.value) for variant in heard.signatures}
        )

    def run(self) -> Told | None:
        """The deviations that explain a signature, the fewest there are; None if nothing does that
        was tried.
        """
        try:
            return self._try(self._all_ways())
        except Spent:
            return None

    def _all_ways(self) -> Iterator[Way]:
        for total in range(FURTHEST + 1):
            for split in _splits(total):
                yield from self._ways(*split)
            if total == STALE_AFTER:
                yield from self._stale_ways()

    def _try(self, ways: Iterator[Way]) -> Told | None:
        for way in ways:
            if self._effort >= MOST_EFFORT:
                raise Spent
            self.hashes += 1
            self._effort += EFFORT_OF_A_HASH + len(way.message)
            found = self._targets.met(way.digest.of(way.key, way.message))
            if found is not None:
                return (*(one for part in way.parts for one in part.deviations), *found)
        return None

    def _ways(self, body: int, key: int, join: int, time: int, digest: int) -> Iterator[Way]:
        """All ways to sign with so many deviations in each step."""
        total = body + key + join + time + digest
        joins, times = (
            self._joins.at(join, rare=join == total),
            self._times.at(time, rare=time == total),
        )
        bodies, keys = (
            self._bodies.at(body, rare=body == total),
            self._keys.at(key, rare=key == total),
        )
        digests = self._digests.at(digest, rare=digest == total)
        for joined, at in product(joins, times):
            if time and TIME not in joined.value:
                continue
            for content in bodies:
                message = self._message(joined.value, at.value, content.value)
                for made, by in product(digests, keys):
                    if made.value.keyed or not key:
                        yield Way(made.value, by.value, message, (content, by, joined, at, made))

    def _stale_ways(self) -> Iterator[Way]:
        """All ways that deviate by an old, a new or an unsent time alone."""
        if TIME not in self._scheme.signed:
            return
        times = (
            stale_times(self._heard.times)
            if self._heard.times
            else unsent_times(self._scheme, self._now)
        )
        for at in times:
            message = self._message(self._scheme.signed, at.value, self._body)
            for by in self._keys.at(0, rare=True):
                yield Way(self._digests.at(0, rare=True)[0].value, by.value, message, (at,))

    def _message(self, template: str, time: str, body: bytes) -> bytes:
        fields = {"timestamp": time.encode(), "id": self._identifier, "body": body}
        return b"".join(
            [
                fields[part] if place % 2 else part.encode()
                for place, part in enumerate(_parts(template))
            ]
        )


@lru_cache(maxsize=512)
def _parts(template: str) -> tuple[str, ...]:
    return tuple(PLACEHOLDER.split(template))


def _splits(total: int) -> Iterator[tuple[int, ...]]:
    """Every way to spread so many deviations over the steps, the body's first."""
    steps = (range(total, -1, -1) for _ in range(STEPS))
    yield from (split for split in product(*steps) if sum(split) == total)
