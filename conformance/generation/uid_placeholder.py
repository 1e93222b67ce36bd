"""What stands in generated sequences for a uid that only the target's answer will show."""

import re
from typing import Final

_FORM: Final = re.compile(r"uid-from-request-([0-9]+)")


def uid_from(place: int) -> str:
    """Stands for the uid in the answer to the request at this place of its sequence, from 0."""
    return f"uid-from-request-{place}"


def place_of(text: str) -> int | None:
    """The place that a text made by `uid_from` speaks of; None for any other text."""
    found = _FORM.fullmatch(text)
    return int(found[1]) if found else None
