"""The journal: what was asked of the API lately, and how often in all. It keeps no header and no
body.
"""

import time
from collections import Counter, deque
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from hookproof.mockserver.api.routes import Route

_KEPT_ENTRIES: Final = 5000
_MAX_PATH_LENGTH: Final = 200


class RequestEntry(NamedTuple):
    """One request. `operation` and `project` are None for a path that means nothing; `at` is in
    unix seconds.
    """

    sequence: int
    at: float
    method: str
    path: str
    operation: str | None
    project: str | None
    status: int

    def matches(self, wanted: dict[str, str]) -> bool:
        """Whether every wanted field has the wanted text."""
        return all(str(getattr(self, name)) == text for name, text in wanted.items())


class RequestJournal:
    """The latest requests, and counts of all by operation and status."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        # Plain tuples: each becomes a RequestEntry only when it is read.
        self._entries: deque[tuple[Any, ...]] = deque(maxlen=_KEPT_ENTRIES)
        self._sequence = 0
        self.counts: Counter[tuple[str | None, int]] = Counter()

    def record(self, method: str, path: str, route: Route | None, status: int) -> None:
        """Write down a request and its status."""
        self._sequence += 1
        operation, project = (
            (None, None) if route is None else (route.operation.operation_id, route.values[0])
        )
        self.counts[operation, status] += 1
        if len(path) > _MAX_PATH_LENGTH:
            path = path[:_MAX_PATH_LENGTH]
        self._entries.append(
            (self._sequence, self._now(), method, path, operation, project, status)
        )

    def entries(self, wanted: dict[str, str]) -> list[dict[str, Any]]:
        """The kept requests that match, oldest first."""
        return [
            entry._asdict()
            for entry in map(RequestEntry._make, self._entries)
            if entry.matches(wanted)
        ]

    def clear(self) -> None:
        """Forget the entries; counts go on."""
        self._entries.clear()
