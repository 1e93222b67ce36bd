"""The search: every way to sign is tried against the received signatures, fewest deviations first.

The effort is limited by a number of hashes and hashed bytes, never by a clock, so that the same
delivery gets the same diagnosis on every machine.
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
    Deviation,
    Diagnosis,
    KnownValues,
    Variant,
    sentence,
)
from hookproof.receiver.signatures.diagnosis.digest_variants import HASHES, Digest, digest_variants
from hookproof.receiver.signatures.diagnosis.join_variants import join_variants
from hookproof.receiver.signatures.diagnosis.key_variants import key_variants
from hookproof.receiver.signatures.diagnosis.signature_readings import (
    ENCODING_NAMES,
    HeaderReadings,
    read_loosely,
)
from hookproof.receiver.signatures.diagnosis.time_variants import (
    deviation_of_sent_time,
    stale_times,
    time_variants,
    unsent_times,
)
from hookproof.receiver.signatures.signed_message import PLACEHOLDER, WHOLE_NUMBER, Headers
from hookproof.receiver.signatures.verification import Verified, verify
from hookproof.spec.dialect.signature_scheme import Secrets, SignatureScheme
from hookproof.spec.dialect.vocabulary import Hash

EFFORT_OF_A_HASH: Final = 2048
# In bytes hashed, plus EFFORT_OF_A_HASH for each hash.
MOST_EFFORT: Final = 6 * 2**20
# How many deviations are tried together, not counting those of the header.
MOST_DEVIATIONS: Final = 3
# The long list of stale times is tried once nothing with this many deviations fits.
STALE_TIMES_AFTER: Final = 1

STEPS: Final = 5
TIME: Final = "{timestamp}"

Deviations = tuple[Deviation, ...]


class EffortExhausted(Exception):
    """The search has computed as much as it may."""


def diagnose(
    scheme: SignatureScheme,
    secret_rules: Secrets,
    secrets: Sequence[str],
    headers: Headers,
    event_id_header: str | None,
    body: bytes,
    now: float,
    *,
    known: KnownValues | None = None,
) -> Diagnosis | None:
    """Explain a delivery that does not verify; None for one that does.

    Accepts the arguments of `verify`, and never raises.
    """
    if isinstance(
        verify(scheme, secret_rules, secrets, headers, event_id_header, body, now), Verified
    ):
        return None
    readings = read_loosely(scheme, headers, event_id_header)
    search = _Search(scheme, secret_rules, secrets, readings, body, now, known or KnownValues())
    signing_deviations = search.run() if readings.signatures else None
    time_deviations = _time_deviations(scheme, readings, now)
    if signing_deviations is None:
        return Diagnosis(
            cause="; ".join(
                [
                    *(deviation.words for deviation in time_deviations),
                    unexplained(scheme, readings, headers, body),
                ]
            ),
            deviations=time_deviations,
            explained=False,
            hashes=search.hashes,
        )
    deviations = (*signing_deviations, *time_deviations)
    return Diagnosis(
        cause=_cause(deviations), deviations=deviations, explained=True, hashes=search.hashes
    )


def _cause(deviations: Deviations) -> str:
    # A delivery may be refused although its signature is good: for a header sent twice, say.
    return (
        sentence(deviations)
        or "signed as it should be; nothing but the reason of the refusal is wrong"
    )


def _time_deviations(scheme: SignatureScheme, readings: HeaderReadings, now: float) -> Deviations:
    wrong = deviation_of_sent_time(scheme, readings.times[0], now) if readings.times else None
    return (wrong,) if wrong else ()


@dataclass(frozen=True, slots=True)
class _ReceivedSignatures:
    """The signatures to find.

    `whole` maps them to the deviations of their header and encoding. `folded` holds the texts, in
    lower case, of those whose letters are all of one case.
    """

    whole: Mapping[bytes, Deviations]
    folded: frozenset[str]

    @classmethod
    def from_readings(cls, readings: HeaderReadings) -> "_ReceivedSignatures":
        whole: dict[bytes, Deviations] = {}
        for variant in readings.signatures:
            whole.setdefault(variant.value, variant.deviations)
        folded = frozenset(
            text.lower()
            for text in readings.texts
            if text in {text.lower(), text.upper()} and len(text) % 4 == 0
        )
        return cls(whole=whole, folded=folded)

    def deviations_from(self, digest: bytes) -> Deviations | None:
        """How the signature that this digest explains deviates from it; None if there is none."""
        deviations = self.whole.get(digest)
        if deviations is not None:
            return deviations
        for value, value_deviations in self.whole.items():
            if len(value) != len(digest) and (digest.startswith(value) or value.startswith(digest)):
                return (*value_deviations, _wrong_length(len(value), len(digest)))
        if self.folded and base64.b64encode(digest).decode().lower() in self.folded:
            return (
                Deviation(
                    aspect=Aspect.ENCODING, words="changed the case of the signature's base64"
                ),
            )
        return None


def _wrong_length(sent: int, whole: int) -> Deviation:
    change = "cut the signature off after" if sent < whole else "lengthened the signature to"
    return Deviation(aspect=Aspect.ENCODING, words=f"{change} {sent} bytes, it has {whole}")


class SigningAttempt(NamedTuple):
    """One way to sign, and its variants; a plain tuple, since there are thousands."""

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
        readings: HeaderReadings,
        body: bytes,
        now: float,
        known: KnownValues,
    ) -> None:
        is_sent = {"timestamp": bool(readings.times), "id": readings.identifier is not None}
        self.hashes = 0
        self._effort = 0
        self._scheme = scheme
        self._readings = readings
        self._body = body
        self._now = now
        self._identifier = (readings.identifier or "").encode(errors="replace")
        self._targets = _ReceivedSignatures.from_readings(readings)
        self._bodies = body_variants(body, known.bodies)
        self._keys = key_variants(rules, secrets, known.secrets)
        self._joins = join_variants(scheme.signed, [name for name in is_sent if is_sent[name]])
        self._times = time_variants(readings.times, known.times)
        self._digests = digest_variants(
            scheme.hash, {len(variant.value) for variant in readings.signatures}
        )

    def run(self) -> Deviations | None:
        """The fewest deviations that explain a signature; None if nothing that was tried does."""
        try:
            return self._try(self._all_attempts())
        except EffortExhausted:
            return None

    def _all_attempts(self) -> Iterator[SigningAttempt]:
        for total in range(MOST_DEVIATIONS + 1):
            for split in _splits(total):
                yield from self._attempts(*split)
            if total == STALE_TIMES_AFTER:
                yield from self._stale_attempts()

    def _try(self, attempts: Iterator[SigningAttempt]) -> Deviations | None:
        for attempt in attempts:
            if self._effort >= MOST_EFFORT:
                raise EffortExhausted
            self.hashes += 1
            self._effort += EFFORT_OF_A_HASH + len(attempt.message)
            deviations = self._targets.deviations_from(
                attempt.digest.compute(attempt.key, attempt.message)
            )
            if deviations is not None:
                return (
                    *(deviation for part in attempt.parts for deviation in part.deviations),
                    *deviations,
                )
        return None

    def _attempts(
        self, body: int, key: int, join: int, time: int, digest: int
    ) -> Iterator[SigningAttempt]:
        """All ways to sign with these numbers of deviations in each step."""
        total = body + key + join + time + digest
        joins = self._joins.at(join, rare=join == total)
        times = self._times.at(time, rare=time == total)
        bodies = self._bodies.at(body, rare=body == total)
        keys = self._keys.at(key, rare=key == total)
        digests = self._digests.at(digest, rare=digest == total)
        for join_variant, time_variant in product(joins, times):
            if time and TIME not in join_variant.value:
                continue
            for body_variant in bodies:
                message = self._message(join_variant.value, time_variant.value, body_variant.value)
                for digest_variant, key_variant in product(digests, keys):
                    if digest_variant.value.is_keyed or not key:
                        yield SigningAttempt(
                            digest_variant.value,
                            key_variant.value,
                            message,
                            (body_variant, key_variant, join_variant, time_variant, digest_variant),
                        )

    def _stale_attempts(self) -> Iterator[SigningAttempt]:
        """All ways whose only deviation is an old, a later or an unsent time."""
        if TIME not in self._scheme.signed:
            return
        times = (
            stale_times(self._readings.times)
            if self._readings.times
            else unsent_times(self._scheme, self._now)
        )
        for time_variant in times:
            message = self._message(self._scheme.signed, time_variant.value, self._body)
            for key_variant in self._keys.at(0, rare=True):
                yield SigningAttempt(
                    self._digests.at(0, rare=True)[0].value,
                    key_variant.value,
                    message,
                    (time_variant,),
                )

    def _message(self, template: str, time: str, body: bytes) -> bytes:
        fields = {"timestamp": time.encode(), "id": self._identifier, "body": body}
        return b"".join(
            [
                fields[part] if index % 2 else part.encode()
                for index, part in enumerate(_parts(template))
            ]
        )


@lru_cache(maxsize=512)
def _parts(template: str) -> tuple[str, ...]:
    return tuple(PLACEHOLDER.split(template))


def _splits(total: int) -> Iterator[tuple[int, ...]]:
    """Every way to distribute this many deviations over the steps, most on the body first."""
    steps = (range(total, -1, -1) for _ in range(STEPS))
    yield from (split for split in product(*steps) if sum(split) == total)


# Digest sizes in bytes.
SIZES: Final = {Hash.SHA256: 32, Hash.SHA512: 64}
NO_KNOWN_CAUSE: Final = "no known cause"


def unexplained(
    scheme: SignatureScheme, readings: HeaderReadings, headers: Headers, body: bytes
) -> str:
    """Describe the failed search, with whatever looks odd nevertheless."""
    oddities = list(_odd_length(headers, body))
    if not any(
        value.strip() for name, value in headers if name.lower() == scheme.header.lower()
    ) and not _has_whole_signature(scheme, readings):
        return "; ".join(["sent no signature", *oddities])
    return "; ".join([f"{NO_KNOWN_CAUSE}: {_describe_size(scheme, readings)}", *oddities])


def _describe_size(scheme: SignatureScheme, readings: HeaderReadings) -> str:
    name, encoding = HASHES[scheme.hash], ENCODING_NAMES[scheme.encoding]
    if _has_whole_signature(scheme, readings):
        return (
            f"the signature has the size of {name}, but no known secret makes it of any known form"
            " of what was sent; another secret signed, or the body is not the one that was signed"
        )
    return (
        f"nothing in the headers has the size of {name} in {encoding}, {SIZES[scheme.hash]} bytes"
    )


def _has_whole_signature(scheme: SignatureScheme, readings: HeaderReadings) -> bool:
    return any(len(variant.value) == SIZES[scheme.hash] for variant in readings.signatures)


def _odd_length(headers: Headers, body: bytes) -> Iterator[str]:
    """A body that was changed in transit may differ in length from its Content-Length."""
    lengths = [value.strip() for name, value in headers if name.lower() == "content-length"]
    if len(lengths) == 1 and WHOLE_NUMBER.fullmatch(lengths[0]) and int(lengths[0]) != len(body):
        yield (
            f"the body has {len(body)} bytes and its Content-Length says {lengths[0]}: "
            "it was changed on its way"
        )
