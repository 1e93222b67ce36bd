"""The placeholder in generated sequences for a uid that only the target's answer shows."""

import re
from typing import Final

_FORM: Final = re.compile(r"uid-from-request-([0-9]+)")


def uid_from(place: int) -> str:
    """The placeholder for the uid in the answer to a request; `place` counts from 0."""
    return f"uid-from-request-{place}"


def place_of(text: str) -> int | None:
    """The place in a placeholder; None for any other text."""
    match = _FORM.fullmatch(text)
    return int(match[1]) if match else None
