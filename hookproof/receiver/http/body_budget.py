"""What all requests under way may hold together, as each alone is bounded by its own limits."""

import logging
from typing import Final, Protocol

LOG: Final = logging.getLogger(__name__)
MOST_BYTES: Final = 64 * 2**20


class Holder(Protocol):
    """A connection that holds bytes of requests that are not handled yet."""

    def make_room(self) -> None:
        """Refuse what is under way, and hold nothing any more."""
        ...


class BodyBudget:
    """The bytes under way of one receiver; beyond its limit the largest holder is refused.

    So a sender of small bodies is served while others hold many large ones.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._held: dict[Holder, int] = {}
        self._total = 0
        self.refused = 0

    def hold(self, holder: Holder, count: int) -> None:
        """Note how many bytes a connection holds now."""
        self._total += count - self._held.pop(holder, 0)
        if count:
            self._held[holder] = count
        while self._total > self._most_bytes:
            largest = max(self._held, key=self._held.__getitem__)
            self.refused += 1
            if self.refused.bit_count() == 1:  # the first, the second, the fourth, ...
                LOG.warning(
                    "requests under way hold more than %d MiB: the largest are refused, %d so far",
                    self._most_bytes // 2**20,
                    self.refused,
                )
            largest.make_room()
