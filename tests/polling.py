"""Waiting for a state that nothing announces: a file, a port, another process."""

import time
from collections.abc import Callable
from typing import Final

DEADLINE_S: Final = 300.0
PAUSE_S: Final = 0.02


def poll_until(
    condition: Callable[[], object], description: str, deadline_s: float = DEADLINE_S
) -> None:
    """Ask again and again until the condition holds; fails after the deadline.

    Only for what has no event to wait for.
    """
    deadline = time.monotonic() + deadline_s
    while not condition():
        assert time.monotonic() < deadline, f"not within {deadline_s:g} s: {description}"
        time.sleep(PAUSE_S)
