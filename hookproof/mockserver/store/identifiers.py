"""Identifiers and timestamps in the dialect's form (section 2.9).

They are formatted by hand because every request needs them.
"""

import re
import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Final, Protocol

from hookproof.spec.dialect.vocabulary import UNIX_DIGITS, UNIX_UNITS, IdentifierForm, TimestampForm

# Returns the given number of random bytes.
Entropy = Callable[[int], bytes]
# Formats a time given in unix seconds.
TimestampWriter = Callable[[float], str]


class Identifiers(Protocol):
    """Returns a new identifier, of a resource by the name of its schema or of something else."""

    def __call__(self, resource: str = "") -> str: ...


# A part of a pattern as the dialect allows it: a set or a single letter, and how often.
_PATTERN_PART: Final = re.compile(r"(\[[^]]+\]|.)(?:\{(\d+)(?:,(\d+))?\})?")
_LETTERS: Final = string.ascii_letters + string.digits + "_:~-"
_CROCKFORD: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS: Final = tuple(high + low for high in _CROCKFORD for low in _CROCKFORD)
_LATEST: Final = datetime(9999, 12, 31, tzinfo=UTC).timestamp()


def create_identifier_source(
    form: IdentifierForm,
    entropy: Entropy,
    time_ns: Callable[[], int],
    patterns: Mapping[str, str] = MappingProxyType({}),
) -> Identifiers:
    """Return a source of identifiers; those with a time in them grow with `time_ns`.

    `patterns` are those of single resources, which have no time in them.
    """

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

    usual = {IdentifierForm.ULID: ulid, IdentifierForm.UUID: uuid, IdentifierForm.OPAQUE: opaque}
    sources = {resource: _pattern_source(text, entropy) for resource, text in patterns.items()}

    def identifier(resource: str = "") -> str:
        return sources.get(resource, usual[form])()

    return identifier


def _pattern_source(pattern: str, entropy: Entropy) -> Callable[[], str]:
    """A source of texts that a dialect's pattern of identifiers describes."""
    parts = [_Part.of(*match.groups()) for match in _PATTERN_PART.finditer(pattern)]
    return lambda: "".join(part.drawn(entropy) for part in parts)


@dataclass(frozen=True, slots=True)
class _Part:
    """A letter, or so many of a set of letters."""

    letters: str
    least: int
    most: int

    @classmethod
    def of(cls, letters: str, least: str | None, most: str | None) -> "_Part":
        fewest = int(least or 1)
        chosen = "".join(filter(re.compile(letters).fullmatch, _LETTERS))
        return cls(chosen, fewest, int(most or fewest))

    def drawn(self, entropy: Entropy) -> str:
        number = int.from_bytes(entropy(8 + self.most), "big")
        count = self.least + number % (self.most - self.least + 1)
        text = ""
        for _ in range(count):
            number, place = divmod(number, len(self.letters))
            text += self.letters[place]
        return text


def create_timestamp_writer(form: TimestampForm) -> TimestampWriter:
    """Return a formatter of times, in UTC where the form has a zone."""

    def microseconds(time_s: float) -> str:
        return _utc_datetime(time_s).isoformat(timespec="microseconds")[:-6] + "Z"

    def milliseconds(time_s: float) -> str:
        return _utc_datetime(time_s).isoformat(timespec="milliseconds")[:-6] + "Z"

    def unix(time_s: float) -> str:
        return f"{round(time_s * UNIX_UNITS[form]):0{UNIX_DIGITS[form]}d}"

    return {
        TimestampForm.RFC3339_MICROSECONDS: microseconds,
        TimestampForm.RFC3339: milliseconds,
    }.get(form, unix)


def _utc_datetime(time_s: float) -> datetime:
    return datetime.fromtimestamp(min(time_s, _LATEST), UTC)
