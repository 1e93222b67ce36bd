"""Variations of good vectors: what may be wrong with a delivery, and what is only unusual."""

import base64
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from hookproof.receiver.signatures.signed_message import Reason
from hookproof.receiver.vectors.vector import Vector, notes
from hookproof.spec.dialect.vocabulary import Encoding

SIGNATURE: Final = re.compile(r"[0-9A-Za-z+/]{40,}={0,2}")
# The good vectors whose name ends so are varied.
VARIED: Final = "a small object"
SEVERAL: Final = "2 living secrets"

# The end of the name, the vector, the expected reason (None: accept), and the explanation.
Change = tuple[str, Vector, Reason | None, str]


def derive_vectors(vector: Vector, good: Sequence[Vector]) -> Iterator[Vector]:
    """Derive vectors from a good one; `good` are all good ones."""
    changes: list[Change] = []
    if vector.name.endswith(VARIED):
        for vary in (
            _signatures,
            _encodings,
            _labels,
            _bodies,
            _secrets,
            _headers,
            _times,
            _identifiers,
        ):
            changes += vary(vector)
        changes += _swapped(vector, good)
    if vector.name.endswith(SEVERAL) and len(_signature_texts(vector)) > 1:
        changes += _several(vector)
    for name, other, reason, why in changes:
        yield replace(
            other,
            name=f"{vector.name}: {name}",
            reason=reason,
            why=why,
            notes=notes(vector.dialect, name),
        )


def _signature_texts(vector: Vector) -> list[str]:
    """The texts of the signatures in the header."""
    return SIGNATURE.findall(vector.header(vector.scheme.header))


def _with_signatures(vector: Vector, *signatures: str) -> Vector:
    """The vector with other texts for its signatures."""
    value = vector.header(vector.scheme.header)
    for old, new in zip(_signature_texts(vector), signatures, strict=True):
        value = value.replace(old, new)
    return vector.with_header(vector.scheme.header, value)


def _digest(vector: Vector, text: str) -> bytes:
    return bytes.fromhex(text) if vector.scheme.encoding is Encoding.HEX else base64.b64decode(text)


def _text(vector: Vector, digest: bytes) -> str:
    return (
        digest.hex()
        if vector.scheme.encoding is Encoding.HEX
        else base64.b64encode(digest).decode()
    )


def _signatures(vector: Vector) -> Iterator[Change]:
    """Wrong signatures."""
    (text,) = _signature_texts(vector)
    digest = _digest(vector, text)
    no, half = Reason.NO_SIGNATURE_MATCHES, len(digest) // 2
    for name, other, why in (
        ("truncated by a byte", digest[:-1], "a signature has to be compared whole"),
        (
            "the first half alone",
            digest[:half],
            "a verifier that compares beginnings takes any forgery of a few bytes",
        ),
        (
            "the first byte alone",
            digest[:1],
            "a verifier that compares beginnings is guessed in 256 tries",
        ),
        ("lengthened by a byte", digest + b"\x00", "what follows a signature is part of it"),
        (
            "one bit of the first byte changed",
            bytes([digest[0] ^ 1]) + digest[1:],
            "every bit counts",
        ),
        (
            "one bit of the last byte changed",
            digest[:-1] + bytes([digest[-1] ^ 1]),
            "every bit counts",
        ),
        ("all bytes zero", bytes(len(digest)), "it is no signature by any known secret"),
        ("its bytes reversed", digest[::-1], "the order of the bytes counts"),
    ):
        yield name, _with_signatures(vector, _text(vector, other)), no, why
    yield (
        "truncated by a character",
        _with_signatures(vector, text[:-1]),
        no,
        "a signature has to be compared whole",
    )
    yield "no signature", _with_signatures(vector, ""), Reason.MALFORMED, "nothing was signed"
    beyond = "a verifier must refuse this and not fail over it"
    yield (
        "text beyond ASCII",
        _with_signatures(vector, "\u00e9" * len(text)),
        Reason.MALFORMED,
        beyond,
    )


def _encodings(vector: Vector) -> Iterator[Change]:
    """The right bytes in another encoding."""
    (text,) = _signature_texts(vector)
    digest = _digest(vector, text)
    for name, other in (
        ("in hex", digest.hex()),
        ("in base64", base64.b64encode(digest).decode()),
        ("in base64url", base64.urlsafe_b64encode(digest).decode()),
        ("in base64 without padding", base64.b64encode(digest).decode().rstrip("=")),
        ("in base64 of its hex", base64.b64encode(digest.hex().encode()).decode()),
        (
            "with its letters' case swapped",
            text.swapcase() if vector.scheme.encoding is Encoding.BASE64 else text,
        ),
    ):
        if other != text:
            why = "the scheme has one writing for a signature"
            yield (
                f"written {name}",
                _with_signatures(vector, other),
                Reason.NO_SIGNATURE_MATCHES,
                why,
            )


def _labels(vector: Vector) -> Iterator[Change]:
    """Labels that the scheme does not define."""
    if not vector.scheme.versions:
        return
    (text,) = _signature_texts(vector)
    item = vector.scheme.item.replace("{signature}", text)
    own = item.replace("{version}", vector.scheme.versions[0])
    value = vector.header(vector.scheme.header)

    def labelled(new: str) -> Vector:
        return vector.with_header(vector.scheme.header, value.replace(own, new))

    why = "a signature of another version was made by other rules"
    for label in ("v0", "v9"):
        yield (
            f"labelled {label}",
            labelled(item.replace("{version}", label)),
            Reason.WRONG_VERSION,
            why,
        )
    yield (
        "without a label",
        labelled(text),
        Reason.MALFORMED,
        "the label says by which rules it was made",
    )
    newer = item.replace("{version}", "v9").replace(text, text[::-1].replace("=", "A"))
    if vector.scheme.separator:
        why = "a sender may add signatures of a version to come"
        yield (
            "a newer version after it",
            labelled(f"{own}{vector.scheme.separator}{newer}"),
            None,
            why,
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
    other = _other_secret(secret)
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
        "its header is the scheme's",
    )
    doubled = "whoever reads the first and whoever reads the last must not disagree"
    wrong = _with_signatures(
        vector, *(text[::-1].replace("=", "A") for text in _signature_texts(vector))
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
            "names of headers have no case",
        )
    headers = (("X-Unrelated", "1"), *reversed(vector.headers))
    yield (
        "headers in another order, among others",
        replace(vector, headers=headers),
        None,
        "their order means nothing",
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
            "an old delivery may be a replay, and so may be one that is ahead"
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
            "which of them was signed?",
        )


def _identifiers(vector: Vector) -> Iterator[Change]:
    own = vector.event_id_header
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
        "a verifier must refuse this and not fail over it",
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


def _several(vector: Vector) -> Iterator[Change]:
    """Several signatures, some of them wrong."""
    first, last = _signature_texts(vector)
    wrong = [_text(vector, bytes(len(_digest(vector, text)))) for text in (first, last)]
    no = Reason.NO_SIGNATURE_MATCHES
    yield (
        "the last of them alone valid",
        _with_signatures(vector, wrong[0], last),
        None,
        "one valid signature is enough",
    )
    yield (
        "the first of them alone valid",
        _with_signatures(vector, first, wrong[1]),
        None,
        "one valid signature is enough",
    )
    yield (
        "none of them valid",
        _with_signatures(vector, *wrong),
        no,
        "no known secret made any of them",
    )
    for index, name in enumerate(("first", "second")):
        known = replace(vector, secrets=(vector.secrets[index],))
        yield (
            f"the {name} secret alone known",
            known,
            None,
            "one of the signatures is by this secret",
        )
    unknown = replace(vector, secrets=tuple(map(_other_secret, vector.secrets)))
    yield "neither secret known", unknown, no, "other secrets signed"


def _other_secret(secret: str) -> str:
    """A secret of the same form: the middle, between prefix and padding, is reversed."""
    return secret[:8] + secret[8:-4][::-1] + secret[-4:]
