"""What becomes of a delivery after an attempt, written into the store (sections 1 and 2.3)."""

from mockserver.delivery.courier import Answer
from mockserver.delivery.port import (
    AttemptOutcome,
    Clock,
    DeliveryState,
    DeliveryStore,
    Failure,
    OutcomeObserver,
    PendingDelivery,
)
from mockserver.delivery.retry import RetryRules
from spec.dialect import Dialect


class Outcomes:
    """Judges attempts by the retry rules, records them and tells the observer of those given up.

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

    def attempted(self, delivery: PendingDelivery, answer: Answer, started_at: float) -> DeliveryState:
        """Write down an attempt that is over; where the delivery stands now."""
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
        self._store.record_attempt(delivery, outcome, state, due_at)
        if state is DeliveryState.EXHAUSTED:
            self._exhausted(delivery, outcome)
        return state

    def dropped(self, delivery: PendingDelivery) -> None:
        """The rate limit holds a delivery back, and the dialect lets none wait."""
        self._end(delivery, DeliveryState.DROPPED, Failure.RATE_LIMIT, "above the rate limit of the endpoint")

    def discarded(self, delivery: PendingDelivery) -> None:
        """The endpoint is gone or disabled."""
        self._end(delivery, DeliveryState.DISCARDED, Failure.ENDPOINT, "the endpoint does not receive any more")

    def _verdict(self, number: int, answer: Answer, now: float) -> tuple[DeliveryState, float | None]:
        """Where a delivery stands after its attempt of this number, and when the next one is due."""
        if answer.status is not None and self._rules.delivered(answer.status):
            return DeliveryState.DELIVERED, None
        due_at = self._rules.next_due(number, answer.retry_after)
        if due_at is None:
            return DeliveryState.EXHAUSTED, None
        return DeliveryState.PENDING, now if answer.renewed else due_at

    def _exhausted(self, delivery: PendingDelivery, outcome: AttemptOutcome) -> None:
        """Disable an endpoint that fails too often (section 3), and let the observer know (section 6, item 4)."""
        uid = delivery.endpoint_uid
        deactivated = self._fails_too_often(uid) and self._store.deactivate(uid)
        if self._observer is not None:
            self._observer.given_up(delivery, outcome, deactivated=deactivated)

    def _fails_too_often(self, endpoint_uid: str) -> bool:
        limit = self._deactivate_after
        return limit > 0 and self._store.exhausted_in_a_row(endpoint_uid) >= limit

    def _end(self, delivery: PendingDelivery, state: DeliveryState, failure: Failure, detail: str) -> None:
        now = self._clock()
        outcome = AttemptOutcome(
            number=None, started_at=now, finished_at=now, status=None, failure=failure, detail=detail
        )
        self._store.record_attempt(delivery, outcome, state, None)
