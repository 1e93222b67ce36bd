"""How far behind a service is: how long the events of this run wait before they are delivered.

A broadcast reaches every endpoint of its project, those of other experiments too, so most of a
backlog is this run's own. What a destination gets of other events shows how long its queue is. Once
a service is far behind, what any destination got shows it for all: one that makes one attempt after
the other comes to an endpoint long after it came to another.
"""

import re
from collections.abc import Collection, Iterable
from typing import Final

from hookproof.conformance.observations.destinations import MARKED, Destination
from hookproof.receiver.inbox.delivery import ReceivedDelivery

# It begins with fixed letters, so that a megabyte of other letters is read once.
MARKER: Final = re.compile(rb"%s-[0-9a-f]{16}" % MARKED.encode())


# In seconds. Where no rate limit holds events back, none waits so long for a service that keeps up.
FAR_BEHIND_S: Final = 8.0


class Backlog:
    """When the events of a run were sent, by their markers, in Unix seconds."""

    def __init__(self) -> None:
        self._sent_at: dict[bytes, float] = {}
        self._longest_s = 0.0

    def note(self, marker: str, sent_at: float) -> None:
        self._sent_at[marker.encode()] = sent_at

    def behind_s(
        self, deliveries: Iterable[ReceivedDelivery], destinations: Collection[Destination]
    ) -> float:
        """The longest of these times, in seconds; 0 if there is none."""
        return max(self.longest_waits_s(deliveries, destinations).values(), default=0.0)

    def longest_waits_s(
        self, deliveries: Iterable[ReceivedDelivery], destinations: Collection[Destination]
    ) -> dict[str, float]:
        """The longest time from an event of this run to its first arrival, in seconds, by token.

        Where the service is far behind, each of the destinations has the longest time of the run.
        """
        waits: dict[str, dict[bytes, float]] = {}
        for delivery in deliveries:
            for marker in MARKER.findall(delivery.body):
                if marker in self._sent_at:
                    wait_s = delivery.arrived_at - self._sent_at[marker]
                    waits.setdefault(delivery.token, {}).setdefault(marker, wait_s)
        longest_s = {token: max(of_token.values()) for token, of_token in waits.items()}
        unlimited = [each.token for each in destinations if "rate_limit" not in each.settings]
        self._longest_s = max(
            [self._longest_s, *(longest_s.get(token, 0.0) for token in unlimited)]
        )
        if self._longest_s < FAR_BEHIND_S:
            return longest_s
        return {**longest_s, **dict.fromkeys(unlimited, self._longest_s)}
