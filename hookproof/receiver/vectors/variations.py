"""Variations of good vectors: what may be wrong with a delivery, and what is only unusual."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from hookproof.receiver.signatures.signed_message import Reason
from hookproof.receiver.vectors.signature_variations import (
    Change,
    loosely_written,
    other_encodings,
    other_labels,
    other_secret,
    several_signatures,
    signature_texts,
    with_signatures,
    wrong_signatures,
)
from hookproof.receiver.vectors.vector import Vector, notes

# What a number may be written with that many libraries read too (U+0660 to U+0669).
ARABIC_DIGITS: Final = {ord("0") + digit: 0x0660 + digit for digit in range(10)}

# The good vectors whose name ends so are varied.
VARIED: Final = "a small object"

SEVERAL: Final = "2 living secrets"


def derive_vectors(vector: Vector, good: Sequence[Vector]) -> Iterator[Vector]:
    """Derive vectors from a good one; `good` are all good ones."""
    changes: list[Change] = []
    if vector.name.endswith(VARIED):
        for vary in (
            wrong_signatures,
            other_encodings,
            loosely_written,
            other_labels,
            _bodies,
            _secrets,
            _headers,
            _times,
            _identifiers,
        ):
            changes += vary(vector)
        changes += _swapped(vector, good)
    if vector.name.endswith(SEVERAL) and len(signature_texts(vector)) > 1:
        changes += several_signatures(vector)
    for name, other, reason, why in changes:
        yield replace(
            other,
            name=f"{vector.name}: {name}",
            reason=reason,
            why=why,
            notes=notes(vector.dialect, name),
        )


def _bodies(vector: Vector) -> Iterator[Change]:
    body = vector.body
    for name, other in (
        ("a digit of the body changed", body.replace(b"1", b"2")),
        ("a line end after the body", body + b"\n"),
        ("a space before the body", b" " + body),
        ("the body with spaces", body.replace(b":", b": ")),
        ("the body cut off", body[:-1]),
        ("an empty body", b""),
        ("a byte order mark before the body", "\ufeff".encode() + body),
        ("a key of the body escaped", body.replace(b"o", b"\\u006f")),
        ("the body in UTF-16", body.decode().encode("utf-16")),
    ):
        yield (
            name,
            replace(vector, body=other),
            Reason.NO_SIGNATURE_MATCHES,
            "the raw bytes are signed, all of them",
        )


def _secrets(vector: Vector) -> Iterator[Change]:
    (secret,) = vector.secrets
    other = other_secret(secret)
    yield (
        "another secret",
        replace(vector, secrets=(other,)),
        Reason.NO_SIGNATURE_MATCHES,
        "another secret signed",
    )
    yield (
        "a second secret beside the right one",
        replace(vector, secrets=(other, secret)),
        None,
        "one of them signed",
    )
    yield (
        "no secret at all",
        replace(vector, secrets=()),
        Reason.SECRET_NOT_USABLE,
        "nothing can be verified",
    )


def _headers(vector: Vector) -> Iterator[Change]:
    """Headers that are missing, repeated or written differently."""
    own = vector.scheme.header
    value = vector.header(own)
    without = tuple(header for header in vector.headers if header[0] != own)
    missing, several = Reason.MISSING_HEADER, Reason.SEVERAL_HEADERS
    yield (
        "no signature header",
        replace(vector, headers=without),
        missing,
        "an unsigned delivery is not verified",
    )
    yield "no headers", replace(vector, headers=()), missing, "an unsigned delivery is not verified"
    moved = (*without, (f"{own}-2", value))
    yield (
        "the signature in another header",
        replace(vector, headers=moved),
        missing,
        "the scheme defines the header",
    )
    doubled = "which of them counts is ambiguous"
    wrong = with_signatures(
        vector, *(text[::-1].replace("=", "A") for text in signature_texts(vector))
    ).header(own)
    for name, further in (("the same twice", value), ("a wrong one after it", wrong)):
        headers = (*vector.headers, (own.lower(), further))
        yield f"two signature headers, {name}", replace(vector, headers=headers), several, doubled
    yield (
        "an empty signature header",
        vector.with_header(own, ""),
        Reason.MALFORMED,
        "nothing was signed",
    )
    for name, write in (("capital letters", str.upper), ("small letters", str.lower)):
        headers = tuple((write(key), candidate) for key, candidate in vector.headers)
        yield (
            f"header names in {name}",
            replace(vector, headers=headers),
            None,
            "header names are case-insensitive",
        )
    headers = (("X-Unrelated", "1"), *reversed(vector.headers))
    yield (
        "headers in another order, among others",
        replace(vector, headers=headers),
        None,
        "the order of headers is insignificant",
    )


def _times(vector: Vector) -> Iterator[Change]:
    """Times that are old, early, or not those that were signed."""
    scheme = vector.scheme
    if scheme.timestamp_header is None and "{timestamp}" not in scheme.value:
        return
    text = str(round(vector.now / scheme.timestamp_unit.in_seconds))
    tolerance = scheme.tolerance_s
    for name, now, reason in (
        ("as old as is accepted", vector.now + tolerance, None),
        ("as far ahead as is accepted", vector.now - tolerance, None),
        ("a second too old", vector.now + tolerance + 1, Reason.TIMESTAMP_TOO_OLD),
        ("a day old", vector.now + 86400, Reason.TIMESTAMP_TOO_OLD),
        ("a second too far ahead", vector.now - tolerance - 1, Reason.TIMESTAMP_TOO_FAR_AHEAD),
        ("a day ahead", vector.now - 86400, Reason.TIMESTAMP_TOO_FAR_AHEAD),
    ):
        why = (
            "an old delivery may be a replay, and so may one from the future"
            if reason
            else "clocks differ a little"
        )
        yield name, replace(vector, now=now), reason, why
    moved, malformed = Reason.NO_SIGNATURE_MATCHES, Reason.MALFORMED
    for name, other, reason in (
        ("a time one later than was signed", str(int(text) + 1), moved),
        ("a time one earlier than was signed", str(int(text) - 1), moved),
        ("a negative time", f"-{text}", malformed),
        ("a time with a fraction", f"{text}.0", malformed),
        ("a time in words", "now", malformed),
        ("an empty time", "", Reason.NO_TIMESTAMP),
        ("a time of thirty digits", "9" * 30, malformed),
        ("letters after the time", f"{text}abc", malformed),
        ("a time with an exponent", f"{text[0]}.{text[1:]}e{len(text) - 1}", malformed),
        ("a time with underscores", f"{int(text):_}", malformed),
        ("a time in other digits", text.translate(ARABIC_DIGITS), malformed),
        ("a time with a plus", f"+{text}", malformed),
        ("a time with a zero before it", f"0{text}", moved),
    ):
        headers = tuple((key, value.replace(text, other)) for key, value in vector.headers)
        yield (
            name,
            replace(vector, headers=headers),
            reason,
            "the time is signed, as a whole number",
        )
    if scheme.timestamp_header is not None:
        own = scheme.timestamp_header
        without = tuple(header for header in vector.headers if header[0] != own)
        yield (
            "no time header",
            replace(vector, headers=without),
            Reason.NO_TIMESTAMP,
            "the time is signed",
        )
        twice = (*vector.headers, (own.lower(), text))
        yield (
            "two time headers",
            replace(vector, headers=twice),
            Reason.SEVERAL_HEADERS,
            "which of them was signed is ambiguous",
        )


def _identifiers(vector: Vector) -> Iterator[Change]:
    own = vector.event_id_header
    if own is None:
        return
    if "{id}" not in vector.scheme.signed:
        yield (
            "another identifier",
            vector.with_header(own, "another"),
            None,
            "the scheme does not sign the identifier",
        )
        return
    yield (
        "another identifier",
        vector.with_header(own, "another"),
        Reason.NO_SIGNATURE_MATCHES,
        "it is signed",
    )
    without = tuple(header for header in vector.headers if header[0] != own)
    yield (
        "no identifier",
        replace(vector, headers=without),
        Reason.MISSING_HEADER,
        "the identifier is signed",
    )
    beyond = vector.with_header(own, "\u00e9v\u00e9nement")
    yield (
        "an identifier beyond ASCII",
        beyond,
        Reason.MALFORMED,
        "a verifier must refuse this and must not crash",
    )


def _swapped(vector: Vector, good: Sequence[Vector]) -> Iterator[Change]:
    """Signatures that are valid for another delivery."""
    same = [
        candidate
        for candidate in good
        if candidate.scheme == vector.scheme
        and candidate.secrets == vector.secrets
        and candidate is not vector
    ]
    for other in same[:1]:
        swapped = vector.with_header(vector.scheme.header, other.header(vector.scheme.header))
        yield (
            "the signature of another body",
            swapped,
            Reason.NO_SIGNATURE_MATCHES,
            "it signs another delivery",
        )
