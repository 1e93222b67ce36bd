"""Identifiers and timestamps in the dialect's form (section 2.9).

They are formatted by hand because every request needs them.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from hookproof.spec.dialect.vocabulary import IdentifierForm, TimestampForm

# Returns the given number of random bytes.
Entropy = Callable[[int], bytes]
# Returns a new identifier.
Identifiers = Callable[[], str]
# Formats a time given in unix seconds.
TimestampWriter = Callable[[float], str]

_CROCKFORD: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS: Final = tuple(high + low for high in _CROCKFORD for low in _CROCKFORD)
_LATEST: Final = datetime(9999, 12, 31, tzinfo=UTC).timestamp()


def create_identifier_source(
    form: IdentifierForm, entropy: Entropy, time_ns: Callable[[], int]
) -> Identifiers:
    """Return a source of identifiers; those with a time in them grow with `time_ns`."""

    def ulid() -> str:
        number = (time_ns() // 1_000_000 & 0xFFFFFFFFFFFF) << 80 | int.from_bytes(
            entropy(10), "big"
        )
        return "".join([_PAIRS[number >> shift & 0x3FF] for shift in range(120, -1, -10)])

    def uuid() -> str:
        number = (time_ns() // 1_000_000 & 0xFFFFFFFFFFFF) << 80 | int.from_bytes(
            entropy(10), "big"
        )
        # RFC 9562, section 5.7: the version (7) and the variant (binary 10).
        number = number & ~(0xF << 76) & ~(0x3 << 62) | 0x7 << 76 | 0x2 << 62
        text = f"{number:032x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"

    def opaque() -> str:
        return entropy(16).hex()

    return {IdentifierForm.ULID: ulid, IdentifierForm.UUID: uuid, IdentifierForm.OPAQUE: opaque}[
        form
    ]


def create_timestamp_writer(form: TimestampForm) -> TimestampWriter:
    """Return a formatter of times, in UTC where the form has a zone."""

    def microseconds(time_s: float) -> str:
        return _utc_datetime(time_s).isoformat(timespec="microseconds")[:-6] + "Z"

    def milliseconds(time_s: float) -> str:
        return _utc_datetime(time_s).isoformat(timespec="milliseconds")[:-6] + "Z"

    def unix(time_s: float) -> str:
        return f"{round(time_s * 1000):013d}"

    return {
        TimestampForm.RFC3339_MICROSECONDS: microseconds,
        TimestampForm.RFC3339: milliseconds,
        TimestampForm.UNIX_MILLISECONDS: unix,
    }[form]


def _utc_datetime(time_s: float) -> datetime:
    return datetime.fromtimestamp(min(time_s, _LATEST), UTC)
