"""How busy the receiver of a run and its machine are while deliveries arrive.

Where they were the limit, what was measured is theirs and not the target's.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from hookproof.load.latency import histogram, note

WINDOW_S: Final = 1.0
_STAT: Final = Path("/proc/stat")
# The fields of its first line, proc_stat(5): idle and iowait, of eight that do not overlap.
_IDLE: Final = slice(3, 5)
_ALL: Final = slice(0, 8)


def machine_ticks() -> tuple[int, int]:
    """The idle time and the whole time of the machine's processors so far; zeros if unknown."""
    try:
        fields = [int(text) for text in _STAT.read_text("ascii").partition("\n")[0].split()[1:]]
    except (OSError, ValueError):
        return 0, 0
    return sum(fields[_IDLE]), sum(fields[_ALL])


class OwnLoad:
    """Adds up the windows of a run in which something arrived; `arrived` counts arrivals."""

    def __init__(
        self,
        arrived: Callable[[], int],
        *,
        clock: Callable[[], float] = time.monotonic,
        cpu: Callable[[], float] = time.process_time,
        machine: Callable[[], tuple[int, int]] = machine_ticks,
    ) -> None:
        self._arrived = arrived
        self._clock, self._cpu, self._machine = clock, cpu, machine
        self.begin()

    def begin(self) -> None:
        """Forget what was, since a run begins."""
        self.lateness: Any = histogram()
        self._sums = [0.0] * 4
        self._read()

    def note_delay(self, delay_s: float) -> None:
        """Note by how much a timer of this process was late; called many times a second."""
        note(self.lateness, delay_s)
        if self._clock() - self._last[0] >= WINDOW_S:
            self._close_window()

    def shares(self) -> tuple[float | None, float | None]:
        """The share of a core that this process used, and the share of the machine that was idle.

        None where nothing is known.
        """
        self._close_window()
        wall, used, idle, whole = self._sums
        return (used / wall if wall else None), (idle / whole if whole else None)

    def _close_window(self) -> None:
        before, count = self._last, self._count
        self._read()
        if self._count != count:
            changes = (now - then for now, then in zip(self._last, before, strict=True))
            self._sums = [total + change for total, change in zip(self._sums, changes, strict=True)]

    def _read(self) -> None:
        self._last = (self._clock(), self._cpu(), *self._machine())
        self._count = self._arrived()
