"""One event to endpoints that fail at first, each in another way (sections 1 and 6)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.deliveries import Attempts, SignedDeliveries
from hookproof.conformance.observations.destinations import Destination
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import SuccessStatus

FAILS_ONCE: Final = "fails once"
FAILS_TWICE: Final = "fails twice"
REFUSES_ONCE: Final = "refuses once"
NO_ANSWER_ONCE: Final = "does not answer once"
REDIRECTS_ONCE: Final = "redirects once"
ASKS_FOR_PATIENCE: Final = "asks for patience"
ACCEPTS_WITHOUT_CONTENT: Final = "accepts without content"
ANSWERS_AT_ONCE: Final = "answers at once"

EVENT: Final = "event"

# The destinations whose first answers no dialect counts as success.
FAILING_FIRST: Final = (FAILS_ONCE, FAILS_TWICE, REFUSES_ONCE)


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptedDelivery:
    """The attempts at the event at one destination, at least one, and what created it.

    What is `named_only` carries the uid of the event and the content of another.
    """

    destination: Destination
    created: Exchange | None
    attempts: Attempts
    named_only: Attempts = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RetriedDeliveries(SignedDeliveries):
    """The attempts at one event at endpoints that fail once or twice, or answer unusually.

    One asks with Retry-After for `asked_s` seconds of patience; one redirects to the receiver's
    token `aside`.
    """

    asked_s: int
    aside: str

    @property
    def broadcast(self) -> Exchange | None:
        return self.exchange(EVENT)

    @property
    def redirected(self) -> Attempts:
        """What arrived where the redirect points."""
        return self.arrived_at(self.aside)

    def all_attempted(self, dialect: Dialect) -> Iterator[AttemptedDelivery]:
        """Every destination where anything of the event arrived."""
        return self._attempted((destination.name for destination in self.destinations), dialect)

    def attempted_where_failing_first(self, dialect: Dialect) -> Iterator[AttemptedDelivery]:
        """Those whose first answer no dialect counts as success."""
        return self._attempted(FAILING_FIRST, dialect)

    def attempted_where_failing_by(self, dialect: Dialect) -> Iterator[AttemptedDelivery]:
        """Those whose first answer this dialect does not count as success."""
        no_content = () if _no_content_succeeds(dialect) else (ACCEPTS_WITHOUT_CONTENT,)
        return self._attempted((*FAILING_FIRST, *no_content), dialect)

    def attempted_without_answer(self, dialect: Dialect) -> Iterator[AttemptedDelivery]:
        """The one that is silent at first."""
        return self._attempted((NO_ANSWER_ONCE,), dialect)

    def attempted_with_redirect(self, dialect: Dialect) -> Iterator[AttemptedDelivery]:
        """The one that redirects at first."""
        return self._attempted((REDIRECTS_ONCE,), dialect)

    def attempted_with_retry_after(self, dialect: Dialect) -> Iterator[AttemptedDelivery]:
        """The one that asks for patience at first."""
        return self._attempted((ASKS_FOR_PATIENCE,), dialect)

    def attempted_until_success(self, dialect: Dialect) -> Iterator[tuple[AttemptedDelivery, int]]:
        """Those that answer with success in the end, and at which attempt they do."""
        successes = {ANSWERS_AT_ONCE: 1, FAILS_ONCE: 2, REFUSES_ONCE: 2}
        if _no_content_succeeds(dialect):
            successes[ACCEPTS_WITHOUT_CONTENT] = 1
        for name, attempt in successes.items():
            for attempted in self._attempted((name,), dialect):
                yield attempted, attempt

    def _attempted(self, names: Iterable[str], dialect: Dialect) -> Iterator[AttemptedDelivery]:
        for destination, event, attempts in self.arrived_events(
            self.destinations_named(*names), self.events_named(EVENT), dialect
        ):
            yield AttemptedDelivery(
                destination=destination,
                created=self.exchange(destination.name),
                attempts=attempts,
                named_only=self.named_only(destination, event, dialect),
            )


def _no_content_succeeds(dialect: Dialect) -> bool:
    return dialect.retry.success.value is SuccessStatus.ANY_2XX
