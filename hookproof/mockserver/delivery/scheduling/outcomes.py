"""Decides what becomes of a delivery after an attempt, and stores it (sections 1 and 2.3)."""

import logging
from collections.abc import Iterator, Sequence

from hookproof.mockserver.delivery.attempt.sender import AttemptResult
from hookproof.mockserver.delivery.own_trouble import is_own_trouble
from hookproof.mockserver.delivery.scheduling.endpoint_queue import EndpointQueue
from hookproof.mockserver.delivery.scheduling.retry import RetryRules
from hookproof.mockserver.delivery.store_port import (
    AttemptOutcome,
    Clock,
    DeliveryState,
    DeliveryStore,
    Failure,
    OutcomeObserver,
    PendingDelivery,
    Record,
)
from hookproof.spec.dialect.model import Dialect


class Outcomes:
    """Applies the retry rules to results, stores records and reports exhausted deliveries.

    Every method raises what the store raises.
    """

    def __init__(
        self,
        store: DeliveryStore,
        rules: RetryRules,
        dialect: Dialect,
        clock: Clock,
        observer: OutcomeObserver | None = None,
    ) -> None:
        self._store = store
        self._rules = rules
        self._deactivate_after = dialect.retry.deactivate_after.value
        self._clock = clock
        self._observer = observer

    def record_attempt(
        self, delivery: PendingDelivery, result: AttemptResult, started_at: float
    ) -> Record:
        """Return the record of an attempt that is over."""
        number, now = delivery.attempts + 1, self._clock()
        outcome = AttemptOutcome(
            number=number,
            started_at=started_at,
            finished_at=now,
            status=result.status,
            failure=result.failure,
            detail=result.detail,
        )
        state, due_at = self._verdict(number, result, now)
        return Record(delivery, outcome, state, due_at)

    def record_dropped(self, delivery: PendingDelivery) -> Record:
        """Return the record of a delivery above the rate limit, where the dialect drops those."""
        return self._record_unsent(
            delivery,
            DeliveryState.DROPPED,
            Failure.RATE_LIMIT,
            "above the rate limit of the endpoint",
        )

    def record_discarded(self, delivery: PendingDelivery) -> Record:
        """Return the record of a delivery whose endpoint is gone or disabled."""
        return self._record_unsent(
            delivery,
            DeliveryState.DISCARDED,
            Failure.ENDPOINT,
            "the endpoint does not receive any more",
        )

    def write(self, records: Sequence[Record]) -> None:
        """Store the records, all or none."""
        self._store.record(records)

    def report_exhausted(self, records: Sequence[Record]) -> None:
        """Disable endpoints that fail too often (section 3) and notify the observer (section 6).

        Call it after the records were stored.
        """
        exhausted = {
            record.delivery.id: record
            for record in records
            if record.state is DeliveryState.EXHAUSTED
        }
        last = {record.delivery.endpoint_uid: record.delivery.id for record in exhausted.values()}
        for record in exhausted.values():
            uid = record.delivery.endpoint_uid
            deactivated = (
                last[uid] == record.delivery.id
                and self._fails_too_often(uid)
                and self._store.deactivate(uid)
            )
            if self._observer is not None:
                self._observer.given_up(record.delivery, record.outcome, deactivated=deactivated)

    def _verdict(
        self, number: int, result: AttemptResult, now: float
    ) -> tuple[DeliveryState, float | None]:
        """Return the state after the attempt with this number, and when the next one is due."""
        if result.status is not None and self._rules.is_success(result.status):
            return DeliveryState.DELIVERED, None
        due_at = self._rules.next_due(number, result.retry_after)
        if due_at is None:
            return DeliveryState.EXHAUSTED, None
        if result.credentials_renewed:  # the answer was about the credentials that are replaced
            return DeliveryState.PENDING, now
        if self._rules.is_final(result.status):
            return DeliveryState.EXHAUSTED, None
        return DeliveryState.PENDING, due_at

    def _fails_too_often(self, endpoint_uid: str) -> bool:
        limit = self._deactivate_after
        return limit > 0 and self._store.exhausted_in_a_row(endpoint_uid) >= limit

    def _record_unsent(
        self, delivery: PendingDelivery, state: DeliveryState, failure: Failure, detail: str
    ) -> Record:
        now = self._clock()
        outcome = AttemptOutcome(
            number=None,
            started_at=now,
            finished_at=now,
            status=None,
            failure=failure,
            detail=detail,
        )
        return Record(delivery, outcome, state, None)


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
