"""The rate limit of notifications: an endpoint that keeps failing is told of once in a window, and
of the rest later.

Sans-IO: times are monotonic seconds, given by the caller.
"""

from collections import OrderedDict
from dataclasses import dataclass, replace

from hookproof.mockserver.notifications.notice import Notice, NoticeKind

Key = tuple[str, NoticeKind]


@dataclass(slots=True, kw_only=True)
class NotificationWindow:
    """The time after a notification in which no other of its kind goes out, and what was held back
    in it.
    """

    ends: float
    held_back: int = 0
    first_at: float = 0.0
    latest: Notice | None = None

    def hold(self, notice: Notice) -> None:
        """Keep a notice back; only the latest one is remembered, the others are counted."""
        if self.latest is None:
            self.first_at = notice.at
        self.held_back += 1
        self.latest = notice


class NotificationRateLimit:
    """Lets one notice of a kind through for each endpoint and window.

    At most `most` windows are open; beyond them nothing is let through, and nothing is kept for
    later.
    """

    def __init__(self, window_s: float, max_windows: int) -> None:
        self._window_s = window_s
        self._max_windows = max_windows
        # All windows are equally long, so that the first one is the next to end.
        self._windows: OrderedDict[Key, NotificationWindow] = OrderedDict()

    @property
    def next_end(self) -> float | None:
        """When the next window ends; None without any."""
        return next((window.ends for window in self._windows.values()), None)

    def admits(self, notice: Notice, now: float) -> bool:
        """Whether a notice may go out now, which opens a window; otherwise it is held back until
        the window ends.
        """
        window = self._windows.get(window_key(notice))
        if window is not None:
            window.hold(notice)
            return False
        if len(self._windows) >= self._max_windows:
            return False
        self._windows[window_key(notice)] = NotificationWindow(ends=now + self._window_s)
        return True

    def close_ended(self, now: float) -> list[Notice]:
        """Close the windows that are over; for each that held something back, what to tell now, in
        a new window.
        """
        due = []
        while (end := self.next_end) is not None and end <= now:
            key, window = self._windows.popitem(last=False)
            if window.latest is not None:
                self._windows[key] = NotificationWindow(ends=now + self._window_s)
                due.append(
                    replace(
                        window.latest, held_back=window.held_back - 1, held_since=window.first_at
                    )
                )
        return due

    def clear(self) -> int:
        """Forget everything; how many notices had been held back and will never be told."""
        held_back = sum(window.held_back for window in self._windows.values())
        self._windows.clear()
        return held_back


def window_key(notice: Notice) -> Key:
    """What shares a window."""
    return notice.contact.uid, notice.kind
