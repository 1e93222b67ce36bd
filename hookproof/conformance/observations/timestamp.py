"""The timestamps in responses, whose form is a gap (section 2.9)."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from hookproof.spec.dialect.vocabulary import UNIX_UNITS, TimestampForm

# How many timestamps that were read are remembered.
KEPT: Final = 4096
_SECONDS: Final = re.compile(r"\d\d:\d\d:\d\d(?:\.(\d+))?")


def unix_seconds(text: object, form: TimestampForm) -> float | None:
    """The time that a timestamp of this form names, in Unix seconds; None for anything else."""
    return _unix_seconds(text, form) if isinstance(text, str) else None


@lru_cache(maxsize=KEPT)  # each is judged many times
def _unix_seconds(text: str, form: TimestampForm) -> float | None:
    try:
        if unit := UNIX_UNITS.get(form):
            return int(text) / unit
        time = datetime.fromisoformat(text.upper())  # RFC 3339, section 5.6: t and z are T and Z
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def moment(text: object, forms: Iterable[TimestampForm]) -> float | None:
    """The time that a timestamp names in the first of these forms that fits, in Unix seconds."""
    times = (unix_seconds(text, form) for form in forms)
    return next((time for time in times if time is not None), None)


def is_before(one: str, other: str, forms: Iterable[TimestampForm]) -> bool:
    """Whether the first timestamp names an earlier moment, also if the other was cut.

    A service may show a time with all its digits where it is made, and later with those that its
    database keeps. False if either names none.
    """
    forms = tuple(forms)
    first, second = moment(one, forms), moment(other, forms)
    if first is None or second is None:
        return False
    return first < second and second - first >= _imprecision_s(one, other)


def name_one_moment(one: str, other: str, forms: Iterable[TimestampForm]) -> bool:
    """Whether two timestamps may be the same time, as cut or as spelled otherwise."""
    forms = tuple(forms)
    if moment(one, forms) is None or moment(other, forms) is None:
        return one == other
    return not is_before(one, other, forms) and not is_before(other, one, forms)


def _imprecision_s(one: str, other: str) -> float:
    """Two timestamps of one moment, each cut after its own digits, differ by less than this."""
    units = {_unit_s(one), _unit_s(other)}
    return max(units) if len(units) > 1 else 0.0


def _unit_s(text: str) -> float:
    """What the last digit of the seconds stands for; 0 where a text shows none."""
    seconds = _SECONDS.search(text)
    return 0.0 if seconds is None else 10.0 ** -len(seconds[1] or "")
