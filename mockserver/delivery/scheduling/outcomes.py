"""What becomes of a delivery after an attempt, written into the store (sections 1 and 2.3)."""

from collections.abc import Sequence

from hookproof.mockserver.delivery.attempt.sender import Answer
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
    """Judges attempts by the retry rules, writes down what became of deliveries and tells of those
    given up.

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

    def attempted(self, delivery: PendingDelivery, answer: Answer, started_at: float) -> Record:
        """What an attempt that is over makes of its delivery."""
        number, now = delivery.attempts + 1, self._clock()
        outcome = AttemptOutcome(
            number=number,
            started_at=started_at,
            finished_at=now,
            status=answer.status,
            failure=answer.failure,
            detail=answer.detail,
        )
        state, due_at = self._verdict(number, answer, now)
        return Record(delivery, outcome, state, due_at)

    def dropped(self, delivery: PendingDelivery) -> Record:
        """The rate limit holds a delivery back, and the dialect lets none wait."""
        return self._unsent(
            delivery,
            DeliveryState.DROPPED,
            Failure.RATE_LIMIT,
            "above the rate limit of the endpoint",
        )

    def discarded(self, delivery: PendingDelivery) -> Record:
        """The endpoint is gone or disabled."""
        return self._unsent(
            delivery,
            DeliveryState.DISCARDED,
            Failure.ENDPOINT,
            "the endpoint does not receive any more",
        )

    def write(self, records: Sequence[Record]) -> None:
        """Store the records, all or none; raises what the store raises."""
        self._store.record(records)

    def conclude(self, records: Sequence[Record]) -> None:
        """Disable endpoints that fail too often (section 3) and tell the observer of deliveries
        given up (section 6).

        The records were written; raises what the store raises.
        """
        exhausted = {
            one.delivery.id: one for one in records if one.state is DeliveryState.EXHAUSTED
        }
        last = {one.delivery.endpoint_uid: one.delivery.id for one in exhausted.values()}
        for one in exhausted.values():
            uid = one.delivery.endpoint_uid
            deactivated = (
                last[uid] == one.delivery.id
                and self._fails_too_often(uid)
                and self._store.deactivate(uid)
            )
            if self._observer is not None:
                self._observer.given_up(one.delivery, one.outcome, deactivated=deactivated)

    def _verdict(
        self, number: int, answer: Answer, now: float
    ) -> tuple[DeliveryState, float | None]:
        """Where a delivery stands after its attempt of this number, and when the next one is due."""
        if answer.status is not None and self._rules.delivered(answer.status):
            return DeliveryState.DELIVERED, None
        due_at = self._rules.next_due(number, answer.retry_after)
        if due_at is None:
            return DeliveryState.EXHAUSTED, None
        return DeliveryState.PENDING, now if answer.renewed else due_at

    def _fails_too_often(self, endpoint_uid: str) -> bool:
        limit = self._deactivate_after
        return limit > 0 and self._store.exhausted_in_a_row(endpoint_uid) >= limit

    def _unsent(
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
