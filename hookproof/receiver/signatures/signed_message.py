"""What a delivery's headers say about its signature, read by its scheme's templates (section 6).

`read_headers` parses the headers and `signed_bytes` rebuilds what was signed. Both are independent
of any signer, so that a signer's mistake cannot cancel out against the same mistake here.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import Final

from hookproof.receiver.signatures.schemes.model import ProviderScheme
from hookproof.receiver.signatures.schemes.request_parts import REQUEST_PART
from hookproof.spec.dialect.signature_scheme import SignatureScheme
from hookproof.spec.dialect.vocabulary import Algorithm, SignatureTime

Headers = Sequence[tuple[str, str]]

PLACEHOLDER: Final = re.compile(r"\{(id|timestamp|body|signatures|signature|version)\}")
# What may be signed besides, such as the URL of the request.
ANY_PART: Final = re.compile(rf"\{{(id|timestamp|body|{REQUEST_PART})\}}")
# Bounded wherever two may be adjacent, so that no header makes matching slow.
SHAPES: Final = {
    "id": r"[ -~]{0,256}?",
    "timestamp": r"[ -~]{0,40}?",
    "body": r"(?!)",  # no header holds the body
    "signatures": r".*",
    "version": r"[!-~]{1,40}?",
    "signature": r"[!-~]+",
}
# In a label, the number of its position from 1.
NUMBER: Final = "{n}"
WHOLE_NUMBER: Final = re.compile(r"[0-9]{1,20}")


class Reason(StrEnum):
    """Why a delivery is not verified."""

    SECRET_NOT_USABLE = "secret not usable"  # noqa: S105 - it names a reason
    MISSING_HEADER = "missing header"
    SEVERAL_HEADERS = "several headers"
    MALFORMED = "malformed"
    NO_TIMESTAMP = "no timestamp"
    TIMESTAMP_TOO_OLD = "timestamp too old"
    TIMESTAMP_TOO_FAR_AHEAD = "timestamp too far ahead"
    WRONG_VERSION = "wrong version"
    NO_SIGNATURE_MATCHES = "no signature matches"


class VerificationRefused(Exception):
    """Verification fails here; `verify` turns this into its result."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedMessage:
    """The `fields` that templates name, and the signatures.

    `timestamp` is in Unix seconds, None if none was sent. `signatures` are the texts of those with
    a version of the scheme, in order; None for one whose version does not fit its position.
    """

    fields: Mapping[str, str]
    timestamp: float | None
    signatures: tuple[str | None, ...]


def read_headers(
    scheme: SignatureScheme, headers: Headers, event_id_header: str | None
) -> SignedMessage:
    """Parse the headers; raises VerificationRefused."""
    fields, signatures = read_signatures(scheme, headers)
    if scheme.timestamp_header is not None:
        _add(
            fields,
            "timestamp",
            _only(headers, scheme.timestamp_header, missing=Reason.NO_TIMESTAMP),
        )
    if event_id_header is not None and "{id}" in scheme.signed + scheme.value:
        _add(fields, "id", _only(headers, event_id_header))
    if "{timestamp}" in scheme.signed and "timestamp" not in fields:
        raise VerificationRefused(
            Reason.NO_TIMESTAMP, "the scheme signs a timestamp and has no place for it"
        )
    timestamp = _timestamp(scheme, fields["timestamp"]) if "timestamp" in fields else None
    return SignedMessage(fields=fields, timestamp=timestamp, signatures=signatures)


def read_signatures(
    scheme: SignatureScheme, headers: Headers
) -> tuple[dict[str, str], tuple[str | None, ...]]:
    """The fields and signatures of the header that carries these; raises VerificationRefused."""
    fields = _fields(scheme.value, _only(headers, scheme.header))
    return fields, _signatures(scheme, fields.pop("signatures", ""))


def signed_bytes(
    scheme: SignatureScheme,
    fields: Mapping[str, str],
    body: bytes,
    parts: Mapping[str, bytes] | None = None,
) -> bytes:
    """The bytes that were signed: the fields as sent, the raw body, and `parts` of the request.

    Raises VerificationRefused.
    """
    signed = b""
    for index, part in enumerate(ANY_PART.split(scheme.signed)):
        if index % 2 == 0:
            signed += part.encode()
        elif part == "body":
            signed += body
        elif parts is not None and part in parts:
            signed += parts[part]
        elif fields.get(part, "").isascii():
            signed += fields.get(part, "").encode()
        else:
            raise VerificationRefused(Reason.MALFORMED, f"the {part} is not plain ASCII")
    return signed


def _only(headers: Headers, wanted: str, *, missing: Reason = Reason.MISSING_HEADER) -> str:
    values = [value for name, value in headers if name.lower() == wanted.lower()]
    if not values:
        raise VerificationRefused(missing, f"there is no {wanted} header")
    if len(values) > 1:
        raise VerificationRefused(
            Reason.SEVERAL_HEADERS, f"there are {len(values)} {wanted} headers"
        )
    return values[0]


def _add(fields: dict[str, str], name: str, text: str) -> None:
    if fields.setdefault(name, text) != text:
        raise VerificationRefused(
            Reason.MALFORMED, f"two headers contradict each other about the {name}"
        )


def _fields(template: str, text: str) -> dict[str, str]:
    matched = _pattern(template).fullmatch(text)
    if matched is None:
        raise VerificationRefused(
            Reason.MALFORMED, f"{text[:80]!r} does not have the form {template}"
        )
    return matched.groupdict()


@lru_cache(maxsize=256)
def _pattern(template: str) -> re.Pattern[str]:
    """A template as a pattern; a placeholder that occurs twice must match the same text twice."""
    pattern = ""
    for index, part in enumerate(PLACEHOLDER.split(template)):
        if index % 2 == 0:
            pattern += re.escape(part)
        elif f"(?P<{part}>" in pattern:
            pattern += f"(?P={part})"
        else:
            pattern += f"(?P<{part}>{SHAPES[part]})"
    return re.compile(pattern, re.DOTALL)


def _timestamp(scheme: SignatureScheme, text: str) -> float:
    if not text:
        raise VerificationRefused(Reason.NO_TIMESTAMP, "the timestamp is empty")
    if scheme.timestamp_unit is SignatureTime.RFC3339:
        date = read_date(text)
        if date is None:
            raise VerificationRefused(
                Reason.MALFORMED, f"the timestamp {text[:40]!r} is not an RFC 3339 time"
            )
        return date
    if not WHOLE_NUMBER.fullmatch(text):
        raise VerificationRefused(
            Reason.MALFORMED, f"the timestamp {text[:40]!r} is not a whole number"
        )
    return int(text) * scheme.timestamp_unit.in_seconds


def read_date(text: str) -> float | None:
    """An RFC 3339 time in Unix seconds; None if it is none."""
    try:
        date = datetime.fromisoformat(text)
        return date.timestamp() if date.tzinfo else None
    except (ValueError, OverflowError):
        return None


def _signatures(scheme: SignatureScheme, joined: str) -> tuple[str | None, ...]:
    """The signatures as in `SignedMessage`, at least one of them with the version of its position.

    Signatures of versions that the scheme does not name are ignored, so that a sender may add newer
    ones.
    """
    if isinstance(scheme, ProviderScheme) and scheme.algorithm is Algorithm.TOKEN:
        return (joined,)  # it may hold anything, separators too
    items = [_fields(scheme.item, item) for item in _items(scheme.separator, joined)]
    if "{version}" not in scheme.item:
        return tuple(item.get("signature") for item in items)
    labels = _labels(scheme.versions)
    known = [item for item in items if labels.fullmatch(item["version"])]
    signatures = tuple(
        item.get("signature") if item["version"] == label_at(scheme, index) else None
        for index, item in enumerate(known)
    )
    if not any(signatures):
        raise VerificationRefused(
            Reason.WRONG_VERSION,
            f"no signature has the version of its place: {', '.join(scheme.versions)}",
        )
    return signatures


def label_at(scheme: SignatureScheme, index: int) -> str:
    """The label of the signature at a position, counted from 0; empty if it has none."""
    if not scheme.versions:
        return ""
    label = scheme.versions[index] if index < len(scheme.versions) else scheme.versions[-1]
    return label.replace(NUMBER, f"{index + 1}")


@lru_cache(maxsize=256)
def _labels(versions: tuple[str, ...]) -> re.Pattern[str]:
    """All labels of a scheme, at whatever position."""
    return re.compile(
        "|".join(
            re.escape(label).replace(re.escape(NUMBER), WHOLE_NUMBER.pattern) for label in versions
        )
    )


def _items(separator: str, joined: str) -> list[str]:
    if not separator:
        return [joined]
    items = joined.split(separator)
    # Many senders write a space after a comma; between two signatures it is insignificant.
    return items if separator.isspace() else [item.strip(" \t") for item in items]
