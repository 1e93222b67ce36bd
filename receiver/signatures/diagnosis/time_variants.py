"""Other times that a sender may have signed, and what is wrong with the time that it sent."""

import math
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from hookproof.receiver.signatures.diagnosis.deviation import Aspect, Deviation, Variant, Variants
from hookproof.receiver.signatures.signed_message import WHOLE_NUMBER
from hookproof.spec.dialect.model import SignatureScheme

PER_SECOND: Final = {
    "seconds": 1,
    "milliseconds": 1000,
    "microseconds": 10**6,
    "nanoseconds": 10**9,
}
# A number from here on counts smaller units; it is a time in the thirty-first century.
LAST_SECOND: Final = 2**35
STALE_S: Final = 300
LEAD_S: Final = 30
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def time_variants(sent: Sequence[str], known: Sequence[float]) -> Variants[str]:
    """The texts of the time as sent, and others made of them; `known` are other times, in Unix
    seconds.
    """

    def make(distance: int) -> Iterator[Variant[str]]:
        if distance == 0:
            yield from (Variant(value=text) for text in sent or ("",))
        if distance == 1:
            for text in filter(WHOLE_NUMBER.fullmatch, sent):
                yield from _in_other_units(text)
                yield from _earlier(text, known)
                yield from _spelled(text)

    return Variants(make)


def stale_times(sent: Sequence[str]) -> Iterator[Variant[str]]:
    """Times up to STALE_S seconds before those that were sent, as a retry may sign them, and
    shortly after them.
    """
    for text in filter(WHOLE_NUMBER.fullmatch, sent):
        yield from (_moved(text, -seconds) for seconds in range(1, STALE_S + 1))
        yield from (_moved(text, seconds) for seconds in range(1, LEAD_S + 1))


def unsent_times(scheme: SignatureScheme, now: float) -> Iterator[Variant[str]]:
    """Times shortly before `now`, in Unix seconds, for a delivery that shows none."""
    for second in range(int(now), int(now) - STALE_S, -1) if math.isfinite(now) else ():
        words = "did not send the time that it signed"
        yield _told(words, str(round(second / scheme.timestamp_unit.in_seconds)))


def time_sent_wrong(scheme: SignatureScheme, text: str, now: float) -> Deviation | None:
    """What is wrong with a time that lies beyond the tolerance of `now`, in Unix seconds."""
    if not WHOLE_NUMBER.fullmatch(text) or not math.isfinite(now):
        return None
    age = now - int(text) * scheme.timestamp_unit.in_seconds
    if abs(age) <= scheme.tolerance_s:
        return None
    for unit, per_second in PER_SECOND.items():
        if abs(now - int(text) / per_second) <= scheme.tolerance_s:
            return _wrong(f"sent the time in {unit} where {scheme.timestamp_unit} are expected")
    where = "before" if age > 0 else "after"
    return _wrong(
        f"sent a time that is {abs(age):g} s {where} its arrival, {scheme.tolerance_s:g} s are accepted"
    )


def _wrong(words: str) -> Deviation:
    return Deviation(aspect=Aspect.TIME, words=words)


def _told(words: str, value: str, *, rare: bool = False) -> Variant[str]:
    return Variant(value=value, deviations=(_wrong(words),), rare=rare)


def _unit(text: str) -> str:
    """The unit that a number of so many digits counts."""
    return next(
        (unit for unit, per_second in PER_SECOND.items() if int(text) < LAST_SECOND * per_second),
        "seconds",
    )


def _seconds(text: str) -> float:
    return int(text) / PER_SECOND[_unit(text)]


def _in_other_units(text: str) -> Iterator[Variant[str]]:
    own = _unit(text)
    for unit, per_second in PER_SECOND.items():
        if unit != own:
            words = f"signed the time in {unit}, sent it in {own}"
            yield _told(words, str(int(text) * per_second // PER_SECOND[own]))


def _spelled(text: str) -> Iterator[Variant[str]]:
    try:
        moment = EPOCH + timedelta(seconds=_seconds(text))
    except OverflowError:
        return
    plain = moment.strftime("%Y-%m-%dT%H:%M:%S")
    for written in (
        f"{plain}Z",
        f"{plain}+00:00",
        f"{plain}.{moment.microsecond // 1000:03d}Z",
        f"{plain}.{moment:%f}Z",
    ):
        yield _told(f"signed the time as {written}, sent it as a number", written, rare=True)
    yield _told(
        "signed the time with a decimal point, sent it as a whole number", f"{text}.0", rare=True
    )


def _earlier(text: str, known: Sequence[float]) -> Iterator[Variant[str]]:
    per_second = PER_SECOND[_unit(text)]
    for time in filter(math.isfinite, known):
        words = f"signed another time that is known, {_distance(_seconds(text) - time)} the one that it sent"
        yield _told(words, str(int(time * per_second)))


def _moved(text: str, seconds: int) -> Variant[str]:
    words = f"signed a time that is {_distance(-seconds)} the one that it sent"
    return _told(words, str(int(text) + seconds * PER_SECOND[_unit(text)]))


def _distance(seconds: float) -> str:
    return f"{abs(seconds):g} s {'before' if seconds > 0 else 'after'}"
