"""Numbers that a target shows, which may have any number of digits (RFC 8259, section 6)."""

import math


def shown_number(value: object) -> float | None:
    """A number as one to count with; None for what is none, or is beyond what a float holds."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
