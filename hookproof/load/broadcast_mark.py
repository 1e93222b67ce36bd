"""The mark of a broadcast: members of its `data` that identify a delivery and show alterations.

    {"hookproof": "RUN.NUMBER", "intended_us": 1700000000000000, "pad": "...", "check": 3735928559}

`RUN` names the run and `NUMBER` the broadcast, counted from 0; `intended_us` is the time of its
slot in Unix microseconds, an integer that a double holds exactly, or 0 if the receiver's clock is
another one; `check` is the CRC-32 of the other three, and of whatever members `data` has besides.
So a delivery shows by itself whether it is what was broadcast and how late it is, and nothing has
to be stored for it meanwhile.
"""

import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

MEMBERS: Final = frozenset({"hookproof", "intended_us", "pad", "check"})
# Up to here a double holds each whole number.
LARGEST_EXACT: Final = 2**53
MARK: Final = re.compile(rb'"hookproof"\s*:\s*"([0-9a-z]{1,32})\.([0-9]{1,9})"')


@dataclass(frozen=True, slots=True, kw_only=True)
class BroadcastMark:
    """The mark of a delivery.

    `intended_at` is in Unix seconds, None if it was altered or is that of another clock.
    """

    run: str
    number: int
    intended_at: float | None
    altered: bool


def data_with_mark(run: str, number: int, intended_at: float, pad: str) -> bytes:
    """The `data` of a broadcast as JSON; `pad` is plain ASCII without quotes and backslashes."""
    name, intended_us = f"{run}.{number}", int(intended_at * 1e6)
    check = _check(name, intended_us, pad)
    # By hand, since this is done for each broadcast.
    members = f'"hookproof":"{name}","intended_us":{intended_us},"pad":"{pad}","check":{check}'
    return f"{{{members}}}".encode()


def marked_data(
    members: Mapping[str, Any], run: str, number: int, intended_at: float, pad: str
) -> bytes:
    """As `data_with_mark`, with further members; raises TypeError for what JSON cannot hold and
    ValueError for members that have the names of the mark's own.
    """
    if not MEMBERS.isdisjoint(members):
        raise ValueError(f"the members {', '.join(sorted(MEMBERS))} are the mark's own")
    name, intended_us = f"{run}.{number}", int(intended_at * 1e6)
    # As a reader sees them: what JSON turns into something else, such as a tuple, is no alteration.
    check = _check(name, intended_us, pad, orjson.loads(orjson.dumps(members)))
    mark = {"hookproof": name, "intended_us": intended_us, "pad": pad, "check": check}
    return orjson.dumps({**members, **mark})


def read_mark(body: bytes) -> BroadcastMark | None:
    """The mark in a delivery's body, None if it has none."""
    match = MARK.search(body)
    if match is None:
        return None
    run, number = match[1].decode(), int(match[2])
    intended_us = _unaltered_time(body)
    if intended_us is None:
        return BroadcastMark(run=run, number=number, intended_at=None, altered=True)
    intended_at = intended_us / 1e6 if intended_us else None
    return BroadcastMark(run=run, number=number, intended_at=intended_at, altered=False)


def _unaltered_time(body: bytes) -> int | None:
    """The intended time of an unaltered body, whatever its spacing; None for an altered one."""
    try:
        data: Any = orjson.loads(body)
    except ValueError:
        return None
    if not isinstance(data, dict) or not data.keys() >= MEMBERS:
        return None
    name, intended_us, pad, check = (
        data.pop(key) for key in ("hookproof", "intended_us", "pad", "check")
    )
    if not (isinstance(name, str) and isinstance(intended_us, int) and isinstance(pad, str)):
        return None
    return intended_us if check == _check(name, intended_us, pad, data) else None


def _check(name: str, intended_us: int, pad: str, others: Mapping[str, Any] | None = None) -> int:
    check = zlib.crc32(f"{name} {intended_us} {pad}".encode())
    if not others:
        return check
    return zlib.crc32(orjson.dumps(_same_numbers(others), option=orjson.OPT_SORT_KEYS), check)


def _same_numbers(value: Any) -> Any:
    """A value whose whole numbers are all written alike: 1 and 1.0 are the same to JSON."""
    match value:
        case float():
            return int(value) if value.is_integer() and abs(value) <= LARGEST_EXACT else value
        case dict():
            return {key: _same_numbers(item) for key, item in value.items()}
        case list():
            return [_same_numbers(item) for item in value]
    return value
