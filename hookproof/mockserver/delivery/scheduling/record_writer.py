"""Stores what became of deliveries: the records of one round together."""

import logging
from collections.abc import Iterator, Sequence

from hookproof.mockserver.delivery.own_trouble import is_own_trouble
from hookproof.mockserver.delivery.scheduling.endpoint_queue import EndpointQueue
from hookproof.mockserver.delivery.scheduling.outcomes import Outcomes
from hookproof.mockserver.delivery.store_port import Record


class RecordWriter:
    """Collects records until the next round; an error of the store is logged, never raised.

    `is_blocked`: the store has no space or memory now, and the records wait here until it has.
    """

    def __init__(self, outcomes: Outcomes, log: logging.Logger) -> None:
        self._outcomes = outcomes
        self._log = log
        self._collected: list[tuple[EndpointQueue, Record]] = []
        self.is_blocked = False

    def add(self, queue: EndpointQueue, record: Record) -> None:
        self._collected.append((queue, record))

    def write(self) -> Iterator[tuple[EndpointQueue, Record, bool]]:
        """Store the collected records and yield each with whether it was stored."""
        collected, self._collected = self._collected, []
        if not collected:
            return
        all_stored = self._store([record for _, record in collected])
        if self.is_blocked:
            self._collected = collected + self._collected
            return
        for queue, record in collected:
            # One at a time if storing all failed: a bad record must not affect the others.
            yield queue, record, all_stored or (len(collected) > 1 and self._store([record]))

    def _store(self, records: Sequence[Record]) -> bool:
        """Store the records and return whether that succeeded."""
        try:
            self._outcomes.write(records)
            self.is_blocked = False
        except Exception as error:  # noqa: BLE001  an error of the store must not stop the engine
            self.is_blocked = is_own_trouble(error)
            self._log.exception("the store failed to keep the results of %s", _describe(records))
            return False
        try:
            self._outcomes.report_exhausted(records)
        except Exception:  # noqa: BLE001  the next exhausted delivery tries again
            self._log.exception("the store failed to deactivate an endpoint")
        return True


def _describe(records: Sequence[Record]) -> str:
    return (
        f"{len(records)} deliveries" if len(records) > 1 else f"delivery {records[0].delivery.id}"
    )
