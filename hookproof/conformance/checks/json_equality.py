"""JSON values compared as RFC 8259 sees them.

Objects are the same whatever the order of their members, and numbers whatever their spelling, so
that a service may write the JSON anew as long as it alters nothing. It may read numbers as doubles,
as many languages do (section 6 of the RFC): whether they keep all their digits is asked apart.
"""

import json
import math
import operator
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any, Final

from hookproof.conformance.model.evidence import NOT_JSON

MANY_DIGITS: Final = 300


def exact(raw: bytes) -> Any:
    """The JSON value of these bytes with its numbers as int or Decimal, or NOT_JSON."""
    try:
        return json.loads(raw, parse_float=Decimal, parse_int=_integer, parse_constant=_refused)
    except (ValueError, RecursionError, ArithmeticError):
        return NOT_JSON


def same(left: Any, right: Any) -> bool:
    """Whether two values that `exact` read are the same for a reader that reads numbers as doubles;
    NOT_JSON is not even equal to itself.
    """
    return _same(left, right, _same_as_doubles)


def same_to_the_digit(left: Any, right: Any) -> bool:
    """Whether two values that `exact` read are the same, with every digit of their numbers."""
    return _same(left, right, operator.eq)


def needs_more_than_doubles(value: Any) -> bool:
    """Whether a value that `exact` read holds a number that becomes another as a double."""
    return any(Decimal(repr(_as_double(number))) != number for number in _numbers(value))


def _numbers(value: Any) -> Iterator[int | Decimal]:
    if isinstance(value, dict | list):
        for member in value.values() if isinstance(value, dict) else value:
            yield from _numbers(member)
    elif isinstance(value, int | Decimal) and not isinstance(value, bool):
        yield value


def _same_as_doubles(left: Any, right: Any) -> bool:
    if isinstance(left, int | Decimal) and isinstance(right, int | Decimal):
        return _as_double(left) == _as_double(right)
    return bool(left == right)


def _as_double(number: int | Decimal) -> float:
    try:
        return float(number)
    except OverflowError:  # an integer beyond the largest double
        return math.inf if number > 0 else -math.inf


def _same(left: Any, right: Any, equal: Callable[[Any, Any], bool]) -> bool:
    if (
        left is NOT_JSON
        or right is NOT_JSON
        or isinstance(left, bool) is not isinstance(right, bool)
    ):
        return False
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(
            _same(value, right[name], equal) for name, value in left.items()
        )
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(
            _same(*pair, equal) for pair in zip(left, right, strict=True)
        )
    return bool(equal(left, right))


def _integer(text: str) -> int | Decimal:
    """An integer, as Decimal where int() would take long or refuse it."""
    return int(text) if len(text) < MANY_DIGITS else Decimal(text)


def _refused(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")
