"""Variations of good vectors: what may be wrong with a delivery, and what is only unusual."""

import base64
import re
import string
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from hookproof.receiver.signatures.bytes_as_text import loose_base64, to_text
from hookproof.receiver.signatures.signed_message import Reason, label_at
from hookproof.receiver.vectors.vector import Vector, notes
from hookproof.spec.dialect.vocabulary import BASE64_VARIANTS, Encoding

_ALPHABET: Final = f"{string.ascii_uppercase}{string.ascii_lowercase}{string.digits}+/"
SIGNATURE: Final = re.compile(r"[0-9A-Za-z+/_-]{40,}={0,2}")

# The end of the name, the vector, the expected reason (None: accept), and the explanation.
Change = tuple[str, Vector, Reason | None, str]


def signature_texts(vector: Vector) -> list[str]:
    """The texts of the signatures in the header."""
    return SIGNATURE.findall(vector.header(vector.scheme.header))


def with_signatures(vector: Vector, *signatures: str) -> Vector:
    """The vector with other texts for its signatures."""
    value = vector.header(vector.scheme.header)
    for old, new in zip(signature_texts(vector), signatures, strict=True):
        value = value.replace(old, new)
    return vector.with_header(vector.scheme.header, value)


def _digest(vector: Vector, text: str) -> bytes:
    return bytes.fromhex(text) if vector.scheme.encoding is Encoding.HEX else loose_base64(text)


def _text(vector: Vector, digest: bytes) -> str:
    return to_text(vector.scheme.encoding, digest)


def wrong_signatures(vector: Vector) -> Iterator[Change]:
    """Signatures of which some bytes, or the length, are wrong."""
    (text,) = signature_texts(vector)
    digest = _digest(vector, text)
    unmatched, half = Reason.NO_SIGNATURE_MATCHES, len(digest) // 2
    for name, other, why in (
        ("truncated by a byte", digest[:-1], "a signature has to be compared whole"),
        (
            "the first half alone",
            digest[:half],
            "a verifier that compares prefixes accepts forgeries of a few bytes",
        ),
        (
            "the first byte alone",
            digest[:1],
            "a verifier that compares prefixes is broken by 256 guesses",
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
        ("all bytes zero", bytes(len(digest)), "it is not a signature by any known secret"),
        ("its bytes reversed", digest[::-1], "the order of the bytes counts"),
    ):
        yield name, with_signatures(vector, _text(vector, other)), unmatched, why
    yield (
        "truncated by a character",
        with_signatures(vector, text[:-1]),
        unmatched,
        "a signature has to be compared whole",
    )
    yield "no signature", with_signatures(vector, ""), Reason.MALFORMED, "nothing was signed"
    yield (
        "text beyond ASCII",
        with_signatures(vector, "\u00e9" * len(text)),
        Reason.MALFORMED,
        "a verifier must refuse this and must not crash",
    )


def other_encodings(vector: Vector) -> Iterator[Change]:
    """The right bytes in another encoding."""
    (text,) = signature_texts(vector)
    digest = _digest(vector, text)
    for name, other in (
        ("in hex", digest.hex()),
        ("in base64", base64.b64encode(digest).decode()),
        ("in base64url", base64.urlsafe_b64encode(digest).decode()),
        ("in base64 without padding", base64.b64encode(digest).decode().rstrip("=")),
        ("in base64 of its hex", base64.b64encode(digest.hex().encode()).decode()),
        (
            "with its letters' case swapped",
            text.swapcase() if vector.scheme.encoding in BASE64_VARIANTS else text,
        ),
    ):
        if other != text:
            yield (
                f"written {name}",
                with_signatures(vector, other),
                Reason.NO_SIGNATURE_MATCHES,
                "the scheme defines one encoding for signatures",
            )


def loosely_written(vector: Vector) -> Iterator[Change]:
    """The right signature, written so that only a lenient reader finds it.

    Beside another one that cannot be read it has to be accepted all the same.
    """
    (text,) = signature_texts(vector)
    scheme, value = vector.scheme, vector.header(vector.scheme.header)
    unmatched, one_text = Reason.NO_SIGNATURE_MATCHES, "one text alone stands for a signature"
    middle = len(text) // 2
    yield (
        "junk within the signature",
        with_signatures(vector, f"{text[:middle]}!{text[middle:]}"),
        unmatched,
        one_text,
    )
    digits, padding = text.rstrip("="), text[len(text.rstrip("=")) :]
    if padding:
        place = _ALPHABET.index(digits[-1]) ^ 1
        yield (
            "the unused bits of the signature set",
            with_signatures(vector, f"{digits[:-1]}{_ALPHABET[place]}{padding}"),
            unmatched,
            one_text,
        )
        yield (
            "text after the padding of the signature",
            with_signatures(vector, f"{text}AAAA"),
            unmatched,
            one_text,
        )
    item = scheme.item.replace("{version}", label_at(scheme, 0)) if scheme.versions else scheme.item
    own = item.replace("{signature}", text)
    if scheme.versions:
        followed = value.replace(own, f"{own},garbage")
        reason = Reason.MALFORMED if scheme.separator == "," else unmatched
        yield (
            "garbage after the signature",
            vector.with_header(scheme.header, followed),
            reason,
            "what follows a signature is part of it",
        )
    if scheme.separator and len(scheme.versions) == 1:
        broken = item.replace("{signature}", "@@@@")
        preceded = value.replace(own, f"{broken}{scheme.separator}{own}")
        yield (
            "one that cannot be read before the right one",
            vector.with_header(scheme.header, preceded),
            None,
            "one valid signature is enough",
        )
    if "{timestamp}" in scheme.value and scheme.separator:
        parts = value.split(scheme.separator)
        yield (
            "the signature before the time",
            vector.with_header(scheme.header, scheme.separator.join(reversed(parts))),
            Reason.MALFORMED,
            "the scheme defines the order of the parts",
        )


def other_labels(vector: Vector) -> Iterator[Change]:
    """Labels that the scheme does not define."""
    if not vector.scheme.versions:
        return
    (text,) = signature_texts(vector)
    item = vector.scheme.item.replace("{signature}", text)
    own = item.replace("{version}", label_at(vector.scheme, 0))
    value = vector.header(vector.scheme.header)

    def labelled(new: str) -> Vector:
        return vector.with_header(vector.scheme.header, value.replace(own, new))

    for label in ("v0", "v9"):
        yield (
            f"labelled {label}",
            labelled(item.replace("{version}", label)),
            Reason.WRONG_VERSION,
            "a signature of another version was made by other rules",
        )
    yield (
        "without a label",
        labelled(text),
        Reason.MALFORMED,
        "the label defines the rules by which it was made",
    )
    newer = item.replace("{version}", "v9").replace(text, text[::-1].replace("=", "A"))
    if vector.scheme.separator:
        yield (
            "a newer version after it",
            labelled(f"{own}{vector.scheme.separator}{newer}"),
            None,
            "a sender may add signatures of a future version",
        )


def several_signatures(vector: Vector) -> Iterator[Change]:
    """Several signatures, some of them wrong."""
    first, last = signature_texts(vector)
    wrong = [_text(vector, bytes(len(_digest(vector, text)))) for text in (first, last)]
    yield (
        "the last of them alone valid",
        with_signatures(vector, wrong[0], last),
        None,
        "one valid signature is enough",
    )
    yield (
        "the first of them alone valid",
        with_signatures(vector, first, wrong[1]),
        None,
        "one valid signature is enough",
    )
    yield (
        "none of them valid",
        with_signatures(vector, *wrong),
        Reason.NO_SIGNATURE_MATCHES,
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
    unknown = replace(vector, secrets=tuple(map(other_secret, vector.secrets)))
    yield "neither secret known", unknown, Reason.NO_SIGNATURE_MATCHES, "other secrets signed"


def other_secret(secret: str) -> str:
    """A secret of the same form: the middle, between prefix and padding, is reversed."""
    return secret[:8] + secret[8:-4][::-1] + secret[-4:]


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
