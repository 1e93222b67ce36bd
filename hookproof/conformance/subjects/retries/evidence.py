"""Events to endpoints that fail at first, each in another way: with a closed port, or with every
status in turn (sections 1 and 6).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.deliveries import (
    SUCCESSES,
    Attempts,
    DeliveryObservation,
    SignedDeliveries,
)
from hookproof.conformance.observations.destinations import Destination, named_events
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.groups.deliveries import Retry
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import RedirectOutcome, SuccessStatus

# Destinations: one that fails once, and the one whose port is closed when the first event is
# broadcast.
BESIDE: Final = "beside it"
CLOSED: Final = "closed at first"
# The event that is broadcast while the port is closed, and the one when it is open.
EVENT: Final = "event"
OPENED: Final = "event at the open port"


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedConnection(DeliveryObservation):
    """Two events: when the first one arrived at the endpoint beside it, a closed port was opened.

    `again_s` is how long after a failure the next attempt is due in the dialect, at the earliest.
    """

    again_s: float

    def arrived(self, name: str, event: str, dialect: Dialect) -> Attempts:
        """The attempts at an event of this name at a destination of this name."""
        return tuple(
            attempt
            for destination in self.destinations_named(name)
            for attempt in self.attempts_at(destination, event, dialect)
        )


REDIRECTION: Final = 3  # the class of statuses, RFC 9110, section 15.4


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredAttempt:
    """An attempt with its answer, and all attempts that followed it.

    `made` is how many attempts there had been with this one. What is `named_only` carries the uid
    of the event and the content of another.
    """

    destination: Destination
    created: Exchange | None
    attempt: ReceivedDelivery
    made: int
    further: Attempts
    named_only: Attempts
    # Those of the further ones that carry the uid of no other event.
    surely_further: Attempts


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredStatuses(SignedDeliveries):
    """Several events to endpoints that answer each attempt with another status, or not at all, and
    with 200 when they have no other status left.

    Whatever they answer first, each endpoint gets as many events as it has statuses. Redirects
    point to the receiver's token `aside`.
    """

    aside: str

    @property
    def redirected(self) -> Attempts:
        """What arrived where the redirects point."""
        return self.arrived_at(self.aside)

    def attempts_answered(self, dialect: Dialect) -> Iterator[AnsweredAttempt]:
        """Every attempt at one of the events."""
        for destination, event, attempts in self.arrived_events(
            self.destinations, self.events, dialect
        ):
            named_only = self.named_only(destination, event, dialect)
            for made, attempt in enumerate(attempts, start=1):
                yield AnsweredAttempt(
                    destination=destination,
                    created=self.exchange(destination.name),
                    attempt=attempt,
                    made=made,
                    further=attempts[made:],
                    named_only=named_only,
                    surely_further=tuple(
                        further
                        for further in attempts[made:]
                        if set(named_events(further, self.events, dialect)) <= {event}
                    ),
                )


def counts_as_success(status: int, retry: Retry) -> frozenset[bool]:
    """Whether a dialect counts a status as a success: both if it allows both, neither if the
    dialect is undecided or lets redirects be followed, for then the answer there decides.
    """
    if status // 100 == REDIRECTION:
        if RedirectOutcome.FOLLOWED in retry.redirect.allowed:
            return frozenset()
        return frozenset(each is RedirectOutcome.SUCCESS for each in retry.redirect.allowed)
    succeeds = {
        SuccessStatus.ANY_2XX: status in SUCCESSES,
        SuccessStatus.ONLY_200: status == HTTPStatus.OK,
    }
    return frozenset(succeeds[rule] for rule in retry.success.allowed)


FAILS_ONCE: Final = "fails once"
FAILS_TWICE: Final = "fails twice"
REFUSES_ONCE: Final = "refuses once"
NO_ANSWER_ONCE: Final = "does not answer once"
REDIRECTS_ONCE: Final = "redirects once"
ASKS_FOR_PATIENCE: Final = "asks for patience"
ASKS_WITH_429: Final = "asks for patience with 429"
ACCEPTS_WITHOUT_CONTENT: Final = "accepts without content"
ANSWERS_AT_ONCE: Final = "answers at once"


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

    Two ask with Retry-After for `asked_s` seconds of patience; one redirects to the receiver's
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
        """Those that ask for patience at first, where that does not end a delivery."""
        for attempted in self._attempted((ASKS_FOR_PATIENCE, ASKS_WITH_429), dialect):
            if True not in dialect.retry.ends_delivery(attempted.attempts[0].status or 0):
                yield attempted

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
