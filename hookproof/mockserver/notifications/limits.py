"""Limits on what notifications may cost, even if all endpoints fail at the same time."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationLimits:
    """All times are in seconds.

    An endpoint gets one notification of each kind in `window_s`. A notification is tried `attempts`
    times, each for at most `timeout_s`; the wait after the first try is `wait_s` and doubles with
    each further one. At most `max_unsent` notifications wait or are being sent on a channel;
    further ones are dropped. At most `max_windows` windows are open; beyond them nothing is sent.
    """

    window_s: float = 60.0
    attempts: int = 3
    wait_s: float = 2.0
    timeout_s: float = 10.0
    max_unsent: int = 1000
    max_windows: int = 50_000
    chats_at_once: int = 64
    mails_at_once: int = 4
