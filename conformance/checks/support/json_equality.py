"""JSON values compared exactly: a number that lost a digit on its way is another value.

Objects are the same whatever the order of their members, and numbers whatever their spelling
(RFC 8259), so that a service may write the JSON anew as long as it alters nothing.
"""

import json
from decimal import Decimal
from typing import Any

from hookproof.conformance.model.evidence import NOT_JSON


def exact(raw: bytes) -> Any:
    """The JSON value of these bytes with its numbers as int or Decimal, or NOT_JSON."""
    try:
        return json.loads(raw, parse_float=Decimal, parse_constant=_refused)
    except (ValueError, RecursionError, ArithmeticError):
        return NOT_JSON


def same(left: Any, right: Any) -> bool:
    """Whether two values that `exact` read are the same; NOT_JSON is not even equal to itself."""
    if (
        left is NOT_JSON
        or right is NOT_JSON
        or isinstance(left, bool) is not isinstance(right, bool)
    ):
        return False
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(
            same(value, right[name]) for name, value in left.items()
        )
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


def _refused(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")
