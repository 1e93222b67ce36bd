"""The request journal: the latest requests, without headers and bodies, and counts of all."""

from collections import Counter, deque
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from hookproof.mockserver.api.routes import Route

_KEPT_ENTRIES: Final = 5000
_MAX_PATH_LENGTH: Final = 200


class RequestEntry(NamedTuple):
    """One request; `at` is in unix seconds. Unknown paths have no operation and no project."""

    sequence: int
    at: float
    method: str
    path: str
    operation: str | None
    project: str | None
    status: int

    def matches(self, filters: dict[str, str]) -> bool:
        return all(str(getattr(self, name)) == text for name, text in filters.items())


class RequestJournal:
    """The latest requests, and counts of all requests by operation and status."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        # Plain tuples: each becomes a RequestEntry only when it is read.
        self._entries: deque[tuple[Any, ...]] = deque(maxlen=_KEPT_ENTRIES)
        self._sequence = 0
        self.counts: Counter[tuple[str | None, int]] = Counter()

    def record(self, method: str, path: str, route: Route | None, status: int) -> None:
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

    def entries(self, filters: dict[str, str]) -> list[dict[str, Any]]:
        """Return the latest requests that match the filters, oldest first."""
        return [
            entry._asdict()
            for entry in map(RequestEntry._make, self._entries)
            if entry.matches(filters)
        ]

    def clear(self) -> None:
        """Delete the entries; the counts continue."""
        self._entries.clear()
