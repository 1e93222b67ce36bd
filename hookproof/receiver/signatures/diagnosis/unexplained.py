"""What can be said of a delivery whose signature nothing that was tried explains.

Nobody is accused without a sign: secret and body only where the header is in the form of the
scheme, and the secret only where the body has the length that was sent and shows no change.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from hookproof.receiver.signatures.bytes_as_text import loose_base64
from hookproof.receiver.signatures.diagnosis.digest_variants import HASHES
from hookproof.receiver.signatures.diagnosis.oddities import (
    SIGNATURE_NAME,
    SIGNATURE_TEXT,
    content_length,
    lost_compression,
    oddities_of,
    sign_of_change,
)
from hookproof.receiver.signatures.diagnosis.signature_readings import (
    ENCODING_NAMES,
    HeaderReadings,
)
from hookproof.receiver.signatures.schemes.algorithms import signature_size
from hookproof.receiver.signatures.schemes.model import ProviderScheme
from hookproof.receiver.signatures.schemes.request_parts import signed_settings
from hookproof.receiver.signatures.signed_message import Headers, Reason
from hookproof.receiver.signatures.verification import Unverified
from hookproof.spec.dialect.signature_scheme import SignatureScheme
from hookproof.spec.dialect.vocabulary import Algorithm

NO_KNOWN_CAUSE: Final = "no known cause"
ED25519_SIZE: Final = 64


class Verdict(NamedTuple):
    """The cause in words, and the name of what may help, one of `remedies.BY_NAME`."""

    cause: str
    remedy: str


def verdict_on(
    scheme: SignatureScheme,
    readings: HeaderReadings,
    headers: Headers,
    body: bytes,
    refused: Unverified,
) -> Verdict:
    """Describe a failed search, with whatever looks odd nevertheless."""
    oddities = list(oddities_of(headers, body))
    algorithm = scheme.algorithm
    is_there = any(
        value.strip() for name, value in headers if name.lower() == scheme.header.lower()
    )
    if not is_there and not _has_whole_signature(scheme, readings):
        alike = list(_alike(headers))
        remedy = "other signature" if alike or oddities else "unsigned"
        return Verdict("; ".join([_not_sent(scheme, alike), *oddities]), remedy)
    if not algorithm.signs:
        words = f"sent another token as {scheme.header} than the secret given here"
        return Verdict(words, "another secret")
    found = f"{NO_KNOWN_CAUSE}: {_describe_size(scheme, readings)}"
    if not _has_whole_signature(scheme, readings):
        remedy = "other signature" if readings.signatures else "unsigned"
        return Verdict("; ".join([found, *oddities]), remedy)
    words, remedy = _most_likely(scheme, readings, headers, body, refused)
    return Verdict("; ".join([found, words, *oddities]), remedy)


def _not_sent(scheme: SignatureScheme, alike: list[str]) -> str:
    if not alike:
        return "sent no signature"
    return f"sent no {scheme.header}; {', '.join(alike)} looks like a signature of another kind"


def _alike(headers: Headers) -> Iterator[str]:
    """The headers that may be signatures of a kind that the scheme does not have."""
    for name, value in headers:
        if SIGNATURE_NAME.search(name) and (text := SIGNATURE_TEXT.search(value)):
            yield f"{name[:60]} ({_size_of(text[0])} bytes)"


def _size_of(text: str) -> int:
    try:
        return len(bytes.fromhex(text))
    except ValueError:
        pass
    try:
        return len(loose_base64(text))
    except ValueError:
        return len(text)


def _most_likely(
    scheme: SignatureScheme,
    readings: HeaderReadings,
    headers: Headers,
    body: bytes,
    refused: Unverified,
) -> Verdict:
    """Which of secret, body and headers is the wrong one, as far as it shows."""
    secret = _name_of_secret(scheme)
    besides = _wrong_besides(scheme, readings, refused, secret)
    if besides is not None:
        return besides
    length = content_length(headers)
    if length not in {None, len(body)} or sign_of_change(headers, body):
        words = f"the body is not the one that was signed, and nothing is known about the {secret}"
        return Verdict(words, "changed unseen" if length in {None, len(body)} else "changed")
    if lost_compression(headers, body):
        words = f"whether the {secret} or the body differs from what was signed is not known"
        return Verdict(words, "changed unseen")
    if not _is_in_form(scheme, readings):
        words = (
            f"it is not known whether the {secret} or the way to sign is not the one that is "
            "expected: the headers are not in the form that was expected"
        )
        return Verdict(words, "other form")
    if length is None:
        words = f"another {secret} signed, or the body is not the one that was signed"
    else:
        words = (
            f"most likely another {secret} signed, as the body has the {length} bytes that its "
            "Content-Length says; or the body was changed without changing its length"
        )
    return Verdict(words, "another secret")


def _wrong_besides(
    scheme: SignatureScheme, readings: HeaderReadings, refused: Unverified, secret: str
) -> Verdict | None:
    """What is wrong whatever the body is, if it shows."""
    if refused.reason is Reason.SECRET_NOT_USABLE and scheme.algorithm.has_public_key:
        words = "what was given is not written as a public key of this sender is"
        return Verdict(words, "public key")
    if isinstance(scheme, ProviderScheme) and scheme.signs_messages:
        words = (
            f"another {secret} signed, or something that the signature covers is not as it was: "
            "a header, the method or the URL"
        )
        return Verdict(words, "another secret")
    missing = _missing(scheme, readings)
    if missing is None:
        return None
    words = f"the {missing} is signed and was not found here, without which nothing verifies"
    return Verdict(words, "missing header")


def _name_of_secret(scheme: SignatureScheme) -> str:
    name = "key" if scheme.algorithm.has_public_key else "secret"
    settings = signed_settings(scheme) if isinstance(scheme, ProviderScheme) else {}
    return " or ".join([name, *settings])


def _missing(scheme: SignatureScheme, readings: HeaderReadings) -> str | None:
    """What is signed besides the body and is not in the headers."""
    if "{id}" in scheme.signed and readings.identifier is None:
        return "identifier"
    return "time" if "{timestamp}" in scheme.signed and not readings.times else None


def _is_in_form(scheme: SignatureScheme, readings: HeaderReadings) -> bool:
    """Whether the verifier reads a signature of the right size where it is expected."""
    size = signature_size(scheme)
    return readings.strict is not None and any(
        not variant.deviations and size in {None, len(variant.value)}
        for variant in readings.signatures
    )


def _has_whole_signature(scheme: SignatureScheme, readings: HeaderReadings) -> bool:
    size = signature_size(scheme)
    return any(size in {None, len(variant.value)} for variant in readings.signatures)


def _describe_size(scheme: SignatureScheme, readings: HeaderReadings) -> str:
    size, algorithm = signature_size(scheme), scheme.algorithm
    if algorithm.has_public_key:
        kind = "ECDSA on P-256" if algorithm is Algorithm.ECDSA_RAW else algorithm.value
        of_size = f" is {size} bytes, as those of {kind} are: it" if size else ""
        return (
            f"the signature{of_size} needs the sender's public key, "
            "and the one that was given verifies none of the known forms of what was sent"
        )
    name, encoding = HASHES[scheme.hash], ENCODING_NAMES[scheme.encoding]
    if _has_whole_signature(scheme, readings):
        return (
            f"the signature has the size of {name}, but no known secret makes it of any known form"
            " of what was sent"
        )
    others = {len(variant.value) for variant in readings.signatures}
    hint = (
        f"; {ED25519_SIZE} bytes are there, the size of an ed25519 signature, "
        "which needs the sender's public key"
        if ED25519_SIZE in others
        else ""
    )
    return f"nothing in the headers has the size of {name} in {encoding}, {size} bytes{hint}"
