"""How far behind a service is: how long the events of this run wait before they are delivered.

A broadcast reaches every endpoint of its project, those of other experiments too, so most of a
backlog is this run's own. What a destination gets of other events shows how long its queue is.
"""

import re
from collections.abc import Iterable
from typing import Final

from hookproof.conformance.observations.destinations import MARKED
from hookproof.receiver.inbox.delivery import ReceivedDelivery

# It begins with fixed letters, so that a megabyte of other letters is read once.
MARKER: Final = re.compile(rb"%s-[0-9a-f]{16}" % MARKED.encode())


class Backlog:
    """When the events of a run were sent, by their markers, in Unix seconds."""

    def __init__(self) -> None:
        self._sent_at: dict[bytes, float] = {}

    def note(self, marker: str, sent_at: float) -> None:
        self._sent_at[marker.encode()] = sent_at

    def longest_waits_s(self, deliveries: Iterable[ReceivedDelivery]) -> dict[str, float]:
        """The longest time from an event of this run to its first arrival, in seconds, by token."""
        waits: dict[str, dict[bytes, float]] = {}
        for delivery in deliveries:
            for marker in MARKER.findall(delivery.body):
                if marker in self._sent_at:
                    wait_s = delivery.arrived_at - self._sent_at[marker]
                    waits.setdefault(delivery.token, {}).setdefault(marker, wait_s)
        return {token: max(of_token.values()) for token, of_token in waits.items()}
