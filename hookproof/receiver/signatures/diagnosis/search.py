"""The search: every way to sign is tried against the received signatures, fewest deviations first.

The effort is limited by a number of hashes and hashed bytes, never by a clock, so that the same
delivery gets the same diagnosis on every machine.
"""

import base64
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Any, Final, NamedTuple

from hookproof.receiver.signatures.diagnosis.body_variants import body_variants
from hookproof.receiver.signatures.diagnosis.content_digest import (
    covers_other_body,
    deviations_of_digest,
)
from hookproof.receiver.signatures.diagnosis.deviation import (
    Aspect,
    Deviation,
    Diagnosis,
    KnownValues,
    Variant,
    Variants,
    sentence,
)
from hookproof.receiver.signatures.diagnosis.digest_variants import Digest, digest_variants
from hookproof.receiver.signatures.diagnosis.header_repairs import plain_name, repaired
from hookproof.receiver.signatures.diagnosis.join_variants import join_variants, other_urls
from hookproof.receiver.signatures.diagnosis.key_variants import MENDED, key_variants
from hookproof.receiver.signatures.diagnosis.oddities import content_length
from hookproof.receiver.signatures.diagnosis.signature_readings import (
    HeaderReadings,
    read_loosely,
)
from hookproof.receiver.signatures.diagnosis.time_variants import (
    deviation_of_sent_time,
    stale_times,
    time_variants,
    unsent_times,
)
from hookproof.receiver.signatures.diagnosis.unexplained import verdict_on
from hookproof.receiver.signatures.schemes.forwarded_url import forwarded_line
from hookproof.receiver.signatures.schemes.model import SIGNATURE_BASE, ProviderScheme
from hookproof.receiver.signatures.schemes.request_parts import (
    RequestLine,
    crc32_text,
    request_parts,
    signed_settings,
)
from hookproof.receiver.signatures.signed_message import ANY_PART, Headers, VerificationRefused
from hookproof.receiver.signatures.verification import Verified, prepared, verify, verifying_keys
from hookproof.spec.dialect.signature_scheme import Secrets, SignatureScheme
from hookproof.spec.dialect.vocabulary import Algorithm

EFFORT_OF_A_HASH: Final = 2048
# In bytes hashed, plus EFFORT_OF_A_HASH for each hash.
MOST_EFFORT: Final = 6 * 2**20
# How many deviations are tried together, not counting those of the header.
MOST_DEVIATIONS: Final = 3
# How many bytes of a signature differ where a character or two were changed.
MOST_WRONG_BYTES: Final = 2
# A signature is verified by a public key as slowly as this many bytes are hashed.
EFFORT_OF_A_PUBLIC_KEY: Final = 64 * 1024
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
    line: RequestLine | None = None,
) -> Diagnosis | None:
    """Explain a delivery that does not verify; None for one that does.

    Accepts the arguments of `verify`, and never raises.
    """
    outcome = verify(scheme, secret_rules, secrets, headers, event_id_header, body, now, line)
    if isinstance(outcome, Verified):
        return None
    sent_body = body
    found_headers, renamed, body, parts = _prepared(scheme, headers, event_id_header, body, line)
    if isinstance(scheme, ProviderScheme):
        not_given = [name for name, text in signed_settings(scheme).items() if not text]
        if not_given:
            return _not_given(not_given[0])
        if scheme.signs_messages and not parts:
            return _unread(outcome.detail, "other signature")
    arguments = (scheme, secret_rules, secrets, headers, event_id_header, sent_body, now)
    at_once = (
        _deviation_of_url(*arguments, line)
        or _token_deviation(scheme, secrets, found_headers)
        or _mended_token(scheme, secrets, found_headers)
    )
    if at_once is not None:
        return Diagnosis(cause=at_once.words, deviations=(at_once,), explained=True, hashes=0)
    readings = read_loosely(scheme, found_headers, event_id_header)
    search = _Search(
        scheme,
        *_known_keys(scheme, secret_rules, secrets, known or KnownValues()),
        readings,
        body,
        now,
        content_length(headers),
        line,
        next((value for name, value in headers if name.lower() == "host"), None),
        parts,
    )
    arguments = (scheme, secret_rules, secrets, found_headers, event_id_header, sent_body, now)
    if renamed and isinstance(verify(*arguments, line), Verified):
        found: tuple[Deviations, bytes] | None = ((), body)
    elif readings.signatures and scheme.algorithm.signs:
        found = search.run()
    else:
        found = None
    time_deviations = _time_deviations(scheme, readings, now)
    if found is None:
        verdict = verdict_on(scheme, readings, headers, body, outcome)
        return Diagnosis(
            cause="; ".join([*(each.words for each in time_deviations), verdict.cause]),
            deviations=time_deviations,
            explained=False,
            hashes=search.hashes,
            remedy=verdict.remedy,
        )
    signing_deviations, signed_body = found
    if covers_other_body(parts, found_headers, body):
        of_body, signed_body = deviations_of_digest(
            found_headers, body, known or KnownValues(), content_length(headers)
        )
        signing_deviations = (*of_body, *signing_deviations)
    deviations = (*signing_deviations, *renamed, *time_deviations)
    return Diagnosis(
        cause=_cause(deviations),
        deviations=deviations,
        explained=True,
        hashes=search.hashes,
        signed_body=signed_body,
    )


def _prepared(
    scheme: SignatureScheme,
    headers: Headers,
    event_id_header: str | None,
    body: bytes,
    line: RequestLine | None,
) -> tuple[Headers, Deviations, bytes, Mapping[str, bytes]]:
    """What the search reads: headers by their own names, which had others, body, further parts."""
    found_headers, renamed = repaired(scheme, headers, event_id_header)
    parts: Mapping[str, bytes] = {}
    if isinstance(scheme, ProviderScheme):
        if scheme.signs_messages:  # any header may be covered
            found_headers = [(plain_name(name), value) for name, value in found_headers]
        with suppress(VerificationRefused):
            found_headers, body, parts = prepared(scheme, found_headers, body, line)
    elif line is not None:
        parts = request_parts(line, found_headers, body)
    return found_headers, renamed, body, parts


def _known_keys(
    scheme: SignatureScheme, rules: Secrets, secrets: Sequence[str], known: KnownValues
) -> tuple[Secrets, Sequence[str], KnownValues]:
    """What the search tries as keys: what verifies, and what other secrets would."""
    others = {}
    for name, secret in known.secrets.items():
        with suppress(VerificationRefused):
            others[name] = verifying_keys(scheme, rules, [secret])[1][0]
    with suppress(VerificationRefused):
        rules, secrets = verifying_keys(scheme, rules, secrets)
    return rules, secrets, replace(known, secrets=others)


def _deviation_of_url(
    scheme: SignatureScheme,
    rules: Secrets,
    secrets: Sequence[str],
    headers: Headers,
    event_id_header: str | None,
    body: bytes,
    now: float,
    line: RequestLine | None,
) -> Deviation | None:
    """What is wrong with the URL, if nothing else is."""
    if not isinstance(scheme, ProviderScheme):
        return None
    for deviation, other in _other_lines(scheme, line, headers):
        outcome = verify(scheme, rules, secrets, headers, event_id_header, body, now, other)
        if isinstance(outcome, Verified):
            return deviation
    return None


def _other_lines(
    scheme: ProviderScheme, line: RequestLine | None, headers: Headers
) -> Iterator[tuple[Deviation, RequestLine]]:
    """The request with the URLs that a whole verification is tried with, and what differs."""
    if line is None:
        return
    forwarded = forwarded_line(line, headers)
    if forwarded != line:
        words = f"signed the URL {forwarded.url}, as the headers X-Forwarded-* say it"
        yield Deviation(aspect=Aspect.JOIN, words=words, remedy="forwarded"), forwarded
    # Elsewhere the URL is one of several parts, which the search joins.
    for words, url in other_urls(line.url) if scheme.signs_messages else ():
        deviation = Deviation(aspect=Aspect.JOIN, words=words, remedy="url")
        yield deviation, RequestLine(method=line.method, url=url)


def _not_given(setting: str) -> Diagnosis:
    """What can be said where something is signed that only the receiver knows: nothing more."""
    cause = f"{setting} is signed too and is in no request, so nothing can be verified without it"
    return _unread(cause, "setting not given")


def _unread(cause: str, remedy: str) -> Diagnosis:
    """The diagnosis of a delivery of which it is not known what was signed."""
    return Diagnosis(cause=cause, deviations=(), explained=False, hashes=0, remedy=remedy)


def _token_deviation(
    scheme: SignatureScheme, secrets: Sequence[str], headers: Headers
) -> Deviation | None:
    """Whether the header holds a secret itself, where a signature is expected."""
    if not scheme.algorithm.signs:
        return None
    values = [value for name, value in headers if name.lower() == scheme.header.lower()]
    # A word such as that of a Bearer token may stand before it.
    if any(
        secret and secret in {value, value.partition(" ")[2]}
        for value in values
        for secret in secrets
    ):
        words = f"sent the secret itself as {scheme.header}: it is a token, and no signature"
        return Deviation(aspect=Aspect.HEADER, words=words, remedy="token")
    return None


def _mended_token(
    scheme: SignatureScheme, secrets: Sequence[str], headers: Headers
) -> Deviation | None:
    """Whether the header holds a secret that was copied with something around it."""
    if scheme.algorithm is not Algorithm.TOKEN:
        return None
    values = {value for name, value in headers if name.lower() == scheme.header.lower()}
    for (words, mend), secret in product(MENDED.items(), secrets):
        if words and mend(secret) in values:
            sent = words.replace("signed with", f"sent as {scheme.header}")
            return Deviation(aspect=Aspect.SECRET, words=sent, remedy="secret text")
    return None


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
        if deviations is not None or not digest:
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
    body: bytes
    parts: tuple[Variant[Any], ...]


class _Search:
    """One search; `hashes` counts what it computed."""

    def __init__(
        self,
        scheme: SignatureScheme,
        rules: Secrets,
        secrets: Sequence[str],
        known: KnownValues,
        readings: HeaderReadings,
        body: bytes,
        now: float,
        length: int | None,
        line: RequestLine | None,
        host: str | None,
        parts: Mapping[str, bytes],
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
        self._request_parts = parts
        # Of an HTTP message signature, the digest of the body is one line; see `content_digest`.
        self._bodies = (
            Variants(lambda distance: () if distance else (Variant(value=body),))
            if SIGNATURE_BASE in parts
            else body_variants(body, known.bodies, length)
        )
        self._keys = key_variants(rules, secrets, known.secrets)
        self._joins = join_variants(
            scheme.signed, [name for name in is_sent if is_sent[name]], line, host
        )
        self._times = time_variants(readings.times, known.times)
        self._digests = digest_variants(scheme, [each.value for each in readings.signatures])
        self._hash_effort = (
            EFFORT_OF_A_PUBLIC_KEY if scheme.algorithm.has_public_key else EFFORT_OF_A_HASH
        )

    def run(self) -> "tuple[Deviations, bytes] | None":
        """The fewest deviations that explain a signature, and the body that was signed.

        None if nothing that was tried does.
        """
        try:
            return self._try(self._all_attempts()) or self._nearly_right()
        except EffortExhausted:
            return self._nearly_right()

    def _nearly_right(self) -> "tuple[Deviations, bytes] | None":
        """Whether a signature differs in a character or two from the one that is expected."""
        for attempt in self._attempts(0, 0, 0, 0, 0):
            right = attempt.digest.compute(attempt.key, attempt.message)
            for value, deviations in self._targets.whole.items():
                if len(value) != len(right):
                    continue
                pairs = zip(value, right, strict=True)
                wrong = [index for index, (one, other) in enumerate(pairs) if one != other]
                if not wrong:  # the search ended before it came to this key
                    return deviations, self._body
                if len(wrong) <= MOST_WRONG_BYTES:
                    words = (
                        "signed all as expected, but a character or two of the signature are "
                        f"others: see byte {wrong[0] + 1} of {len(right)}"
                    )
                    mistake = Deviation(aspect=Aspect.ENCODING, words=words, remedy="copied")
                    return (*deviations, mistake), self._body
        return None

    def _all_attempts(self) -> Iterator[SigningAttempt]:
        for total in range(MOST_DEVIATIONS + 1):
            for split in _splits(total):
                yield from self._attempts(*split)
            if total == STALE_TIMES_AFTER:
                yield from self._stale_attempts()

    def _try(self, attempts: Iterator[SigningAttempt]) -> "tuple[Deviations, bytes] | None":
        for attempt in attempts:
            if self._effort >= MOST_EFFORT:
                raise EffortExhausted
            self.hashes += 1
            self._effort += self._hash_effort + len(attempt.message)
            deviations = self._targets.deviations_from(
                attempt.digest.compute(attempt.key, attempt.message)
            )
            if deviations is not None:
                return (
                    *(deviation for part in attempt.parts for deviation in part.deviations),
                    *deviations,
                ), attempt.body
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
                            body_variant.value,
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
                    self._body,
                    (time_variant,),
                )

    def _message(self, template: str, time: str, body: bytes) -> bytes:
        fields = {
            **self._request_parts,
            "timestamp": time.encode(errors="replace"),
            "id": self._identifier,
            "body": body,
        }
        if "crc32" in fields:
            fields["crc32"] = crc32_text(body)
        return b"".join(
            [
                fields.get(part, b"") if index % 2 else part.encode()
                for index, part in enumerate(_parts(template))
            ]
        )


@lru_cache(maxsize=512)
def _parts(template: str) -> tuple[str, ...]:
    return tuple(ANY_PART.split(template))


def _splits(total: int) -> Iterator[tuple[int, ...]]:
    """Every way to distribute this many deviations over the steps, most on the body first."""
    steps = (range(total, -1, -1) for _ in range(STEPS))
    yield from (split for split in product(*steps) if sum(split) == total)
