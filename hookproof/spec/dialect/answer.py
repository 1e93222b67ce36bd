"""The answer of a dialect to one gap: one value, several, or none."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

T = TypeVar("T")


class Undecided(Exception):
    """A single answer was needed, but the dialect leaves the gap undecided."""


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """The values that a dialect allows for one gap, the preferred one first.

    An undecided answer has no value.
    """

    allowed: tuple[T, ...]
    # Why the gap stays undecided.
    reason: str = ""

    @property
    def decided(self) -> bool:
        return bool(self.allowed)

    @property
    def value(self) -> T:
        """The preferred value; raises Undecided."""
        if not self.allowed:
            raise Undecided(self.reason)
        self._note_preference()
        return self.allowed[0]

    def prefers(self, value: T) -> bool:
        """Whether this is the preferred value; never if the answer is undecided."""
        self._note_preference()
        return self.allowed[:1] == (value,)

    def allows(self, actual: object) -> bool:
        """Whether `actual` agrees with the dialect; everything agrees with an undecided answer."""
        return not self.allowed or actual in self.allowed

    def _note_preference(self) -> None:
        noted = _preferences.get()
        if noted is not None and len(self.allowed) > 1:
            noted[id(self)] = self


_preferences: Final[ContextVar[dict[int, Answer[Any]] | None]] = ContextVar(
    "preferences", default=None
)


@contextmanager
def noted_preferences() -> Iterator[dict[int, Answer[Any]]]:
    """Note the answers, by their `id`, of which the first of several values is used as if it were
    the only one. The caller may clear what was noted.
    """
    noted: dict[int, Answer[Any]] = {}
    token = _preferences.set(noted)
    try:
        yield noted
    finally:
        _preferences.reset(token)


# The answer to a gap that is younger than the format of the files, which need not have it.
NOT_ASKED: Final[Answer[Any]] = Answer((), reason="the dialect does not say")

# What stands in a dialect for an answer that cannot be read in its file, so that the others can be
# examined.
UNREAD: Final[Answer[Any]] = Answer((), reason="the answer cannot be read")
