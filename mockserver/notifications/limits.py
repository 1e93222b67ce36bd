"""How much the notifications may cost: a server whose endpoints all fail at once must not drown in
telling so.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationLimits:
    """Times are in seconds.

    An endpoint gets one notification of each kind in `window_s`. A notification is tried `attempts`
    times, each for `timeout_s` at most, with `wait_s` after the first try and twice as much after
    every further one. `max_unsent` is how many may wait or be under way on a channel; what comes on top
    is dropped. `max_windows` is how many may be open at once; beyond them nothing is told.
    """

    window_s: float = 60.0
    attempts: int = 3
    wait_s: float = 2.0
    timeout_s: float = 10.0
    max_unsent: int = 1000
    max_windows: int = 50_000
    chats_at_once: int = 64
    mails_at_once: int = 4
