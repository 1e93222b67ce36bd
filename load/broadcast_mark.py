"""The mark of a broadcast: members of its `data` by which a delivery is known again, and seen to be
altered or not.

    {"hookproof": "RUN.NUMBER", "intended_us": 1700000000000000, "pad": "...", "check": 3735928559}

`RUN` names the run and `NUMBER` the broadcast, counted from 0; `intended_us` is the moment of its
slot in Unix microseconds, an integer that a double holds exactly; `check` is the CRC-32 of the
other three. So a delivery tells by itself whether it is what was broadcast, and how late it is, and
nothing has to be kept for it meanwhile.
"""

import re
import zlib
from dataclasses import dataclass
from typing import Any, Final

import orjson

MEMBERS: Final = frozenset({"hookproof", "intended_us", "pad", "check"})
MARK: Final = re.compile(rb'"hookproof"\s*:\s*"([0-9a-z]{1,32})\.([0-9]{1,9})"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What a delivery says of itself; `intended_at` is Unix seconds, None where `altered` says not
    to trust it.
    """

    run: str
    number: int
    intended_at: float | None
    altered: bool


def marked_data(run: str, number: int, intended_at: float, pad: str) -> bytes:
    """The `data` of a broadcast as JSON; `pad` is plain ASCII without quotes and backslashes."""
    name, intended_us = f"{run}.{number}", int(intended_at * 1e6)
    check = _check(name, intended_us, pad)
    return f'{{"hookproof":"{name}","intended_us":{intended_us},"pad":"{pad}","check":{check}}}'.encode()


def read_mark(body: bytes) -> Mark | None:
    """The mark in a delivery's body; None where it carries none."""
    found = MARK.search(body)
    if found is None:
        return None
    run, number = found[1].decode(), int(found[2])
    intended_us = _whole(body)
    if intended_us is None:
        return Mark(run=run, number=number, intended_at=None, altered=True)
    return Mark(run=run, number=number, intended_at=intended_us / 1e6, altered=False)


def _whole(body: bytes) -> int | None:
    """The intended time of a body that is as it was broadcast, whatever its spacing; None for any
    other.
    """
    try:
        data: Any = orjson.loads(body)
    except ValueError:
        return None
    if not isinstance(data, dict) or data.keys() != MEMBERS:
        return None
    name, intended_us, pad, check = (
        data[key] for key in ("hookproof", "intended_us", "pad", "check")
    )
    if not (isinstance(name, str) and isinstance(intended_us, int) and isinstance(pad, str)):
        return None
    return intended_us if check == _check(name, intended_us, pad) else None


def _check(name: str, intended_us: int, pad: str) -> int:
    return zlib.crc32(f"{name} {intended_us} {pad}".encode())
