"""Other times that a sender may have signed, and what is wrong with the time that it sent."""

import math
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from hookproof.receiver.signatures.diagnosis.deviation import Aspect, Deviation, Variant, Variants
from hookproof.receiver.signatures.signed_message import WHOLE_NUMBER, read_date
from hookproof.spec.dialect.signature_scheme import SignatureScheme
from hookproof.spec.dialect.vocabulary import SignatureTime

PER_SECOND: Final = {
    "seconds": 1,
    "milliseconds": 1000,
    "microseconds": 10**6,
    "nanoseconds": 10**9,
}
# Larger numbers count smaller units than seconds; as seconds this is in the year 3058.
LAST_SECOND: Final = 2**35
STALE_S: Final = 300
# Durations from here on are said in words too, in seconds.
LONG_S: Final = 3600
UNITS: Final = {"year": 31557600, "day": 86400, "hour": 3600, "minute": 60, "second": 1}
HOURS_OF_A_DAY: Final = 24
LEAD_S: Final = 30
# No delivery has an age of so many seconds; a time in another unit than is expected has.
UNBELIEVABLE_S: Final = 20 * 365.25 * 86400
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def time_variants(sent: Sequence[str], known: Sequence[float]) -> Variants[str]:
    """The texts of the time as sent, and others derived from them.

    `known` are other times, in Unix seconds.
    """

    def generate(distance: int) -> Iterator[Variant[str]]:
        if distance == 0:
            yield from (Variant(value=text) for text in sent or ("",))
        if distance == 1:
            for text in filter(WHOLE_NUMBER.fullmatch, sent):
                yield from _in_other_units(text)
                yield from _known_times(text, known)
                yield from _spellings(text)

    return Variants(generate)


def stale_times(sent: Sequence[str]) -> Iterator[Variant[str]]:
    """Times up to STALE_S seconds before the one sent, as retries may sign, and just after it."""
    for text in filter(WHOLE_NUMBER.fullmatch, sent):
        yield from (_shifted(text, -seconds) for seconds in range(1, STALE_S + 1))
        yield from (_shifted(text, seconds) for seconds in range(1, LEAD_S + 1))


def unsent_times(scheme: SignatureScheme, now: float) -> Iterator[Variant[str]]:
    """Times shortly before `now`, in Unix seconds, for a delivery that has none."""
    unit_s = scheme.timestamp_unit.in_seconds
    # A number of seconds may be finite, and that of milliseconds not.
    for second in range(int(now), int(now) - STALE_S, -1) if math.isfinite(now / unit_s) else ():
        words = "did not send the time that it signed"
        yield _variant(words, str(round(second / unit_s)))


def deviation_of_sent_time(scheme: SignatureScheme, text: str, now: float) -> Deviation | None:
    """What is wrong with a time outside the tolerance of `now`, in Unix seconds."""
    wants_date = scheme.timestamp_unit is SignatureTime.RFC3339
    sent = _read(scheme, text)
    if sent is None:
        expected = (
            "an RFC 3339 time is" if wants_date else f"a number of {scheme.timestamp_unit} is"
        )
        return (
            _deviation(f"sent the time as {text[:40]!r} where {expected} expected")
            if text
            else None
        )
    if not math.isfinite(now):
        return None
    age = now - sent
    if abs(age) <= scheme.tolerance_s:
        return None
    for unit, per_second in PER_SECOND.items() if not wants_date else ():
        # A time of a saved delivery may be of any age: then its size tells the unit.
        if abs(now - int(text) / per_second) <= scheme.tolerance_s or (
            abs(age) > UNBELIEVABLE_S and unit == _unit(text) != scheme.timestamp_unit
        ):
            return _deviation(f"sent the time in {unit} where {scheme.timestamp_unit} are expected")
    where = "before" if age > 0 else "after"
    return _deviation(
        f"sent a time that is {abs(age):.0f} s{_in_words(age)} {where} its arrival, "
        f"{scheme.tolerance_s:g} s are accepted"
    )


def _read(scheme: SignatureScheme, text: str) -> float | None:
    """A sent time in Unix seconds; None if it is not in the scheme's form."""
    if scheme.timestamp_unit is SignatureTime.RFC3339:
        return read_date(text)
    return int(text) * scheme.timestamp_unit.in_seconds if WHOLE_NUMBER.fullmatch(text) else None


def _in_words(seconds: float) -> str:
    return f" ({duration(seconds)})" if abs(seconds) >= LONG_S else ""


def duration(seconds: float) -> str:
    """A duration in the unit that people would say it in, without its sign: `40 days`."""
    seconds = abs(seconds)
    unit, length = next(
        ((unit, length) for unit, length in UNITS.items() if seconds >= 2 * length or length == 1),
    )
    if unit == "hour" and round(seconds / length) == HOURS_OF_A_DAY:
        return "1 day"
    count = round(seconds / length)
    return f"{count} {unit}{'' if count == 1 else 's'}"


def _deviation(words: str) -> Deviation:
    return Deviation(aspect=Aspect.TIME, words=words)


def _variant(words: str, value: str, *, rare: bool = False) -> Variant[str]:
    return Variant(value=value, deviations=(_deviation(words),), rare=rare)


def _unit(text: str) -> str:
    """The unit of a number, guessed by its size."""
    return next(
        (unit for unit, per_second in PER_SECOND.items() if int(text) < LAST_SECOND * per_second),
        "seconds",
    )


def _seconds(text: str) -> float:
    return int(text) / PER_SECOND[_unit(text)]


def sent_seconds(text: str) -> float | None:
    """A time in Unix seconds, whatever its unit and form; None if it is none."""
    return _seconds(text) if WHOLE_NUMBER.fullmatch(text) else read_date(text)


def _in_other_units(text: str) -> Iterator[Variant[str]]:
    sent_unit = _unit(text)
    for unit, per_second in PER_SECOND.items():
        if unit != sent_unit:
            words = f"signed the time in {unit}, sent it in {sent_unit}"
            yield _variant(words, str(int(text) * per_second // PER_SECOND[sent_unit]))


def _spellings(text: str) -> Iterator[Variant[str]]:
    try:
        date = EPOCH + timedelta(seconds=_seconds(text))
    except OverflowError:
        return
    plain = date.strftime("%Y-%m-%dT%H:%M:%S")
    for written in (
        f"{plain}Z",
        f"{plain}+00:00",
        f"{plain}.{date.microsecond // 1000:03d}Z",
        f"{plain}.{date:%f}Z",
    ):
        yield _variant(f"signed the time as {written}, sent it as a number", written, rare=True)
    yield _variant(
        "signed the time with a decimal point, sent it as a whole number", f"{text}.0", rare=True
    )


def _known_times(text: str, known: Sequence[float]) -> Iterator[Variant[str]]:
    per_second = PER_SECOND[_unit(text)]
    for time in known:
        if not math.isfinite(time * per_second):
            continue
        distance = _distance(_seconds(text) - time)
        words = f"signed another time that is known, {distance} the one that it sent"
        yield _variant(words, str(int(time * per_second)))


def _shifted(text: str, seconds: int) -> Variant[str]:
    words = f"signed a time that is {_distance(-seconds)} the one that it sent"
    return _variant(words, str(int(text) + seconds * PER_SECOND[_unit(text)]))


def _distance(seconds: float) -> str:
    return f"{abs(seconds):g} s {'before' if seconds > 0 else 'after'}"
