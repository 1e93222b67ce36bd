"""Attempts that are answered with every status in turn (sections 1 and 6)."""

from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.deliveries import SUCCESSES, Attempts, SignedDeliveries
from hookproof.conformance.observations.destinations import Destination, named_events
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.groups.deliveries import Retry
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import RedirectOutcome, SuccessStatus

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
