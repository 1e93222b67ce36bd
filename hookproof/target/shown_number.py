"""Numbers that a target shows, which may have any number of digits (RFC 8259, section 6)."""

import math


def shown_number(value: object) -> float | None:
    """The number as a float; None if it is not a number, or larger than a float can be."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
