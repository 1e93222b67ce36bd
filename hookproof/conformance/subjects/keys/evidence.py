"""Requests with a key that does not authorize them (section 5)."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import was_accepted
from hookproof.conformance.observations.before_and_after import BeforeAndAfter

# The role of a request for a resource that there is, beside one for none.
KNOWN: Final = "known"


class KeyKind(StrEnum):
    """What is wrong with the key of a request."""

    NONE = "none"
    EMPTY = "empty"
    WRONG = "wrong"
    TRUNCATED = "truncated"
    ALTERED = "in another case or with a further character"
    FORMAT = "format"
    CREDENTIAL = "credential"
    FOREIGN = "foreign"
    ELSEWHERE = "elsewhere"
    IN_BODY = "in the body"
    UNKNOWN_PROJECT = "unknown project"


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestsWithoutRight(BeforeAndAfter):
    """Requests for one operation that are to be refused for their key and to change nothing."""

    operation_id: str

    @property
    def tried(self) -> tuple[Exchange, ...]:
        """The requests that are to be refused."""
        return self.all_exchanges("refused")


@dataclass(frozen=True, slots=True, kw_only=True)
class CallWithKey(RequestsWithoutRight):
    """One request with a key of this kind, and one for the same operation with the right key."""

    kind: KeyKind

    @property
    def authorized(self) -> Exchange | None:
        """The request with the right key, without which no refusal shows that the key matters."""
        return self.exchange("authorized")

    @property
    def key_matters(self) -> bool:
        """Whether the right key is accepted, so that a refusal is for the key."""
        return self.authorized is not None and was_accepted(self.authorized)

    @property
    def known(self) -> Exchange | None:
        """The same request for a resource that there is, if the call is for none."""
        return self.exchange(KNOWN)

    @property
    def call(self) -> Exchange | None:
        """The request, if it was answered."""
        return next((exchange for exchange in self.tried if exchange.status is not None), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class CreationsWithoutRight(RequestsWithoutRight):
    """Creations of endpoints without a valid key, and a portal link of their owner, which had an
    endpoint before that may be created.
    """

    @property
    def allowed(self) -> Exchange | None:
        """The creation that is allowed: a portal link that does not show it would not show what the
        others have created.
        """
        return self.exchange("allowed")


@dataclass(frozen=True, slots=True, kw_only=True)
class BroadcastsWithoutRight(RequestsWithoutRight):
    """Broadcasts without a valid key, and one with the same idempotency_key that is allowed."""

    @property
    def accepted(self) -> Exchange | None:
        """The broadcast that is allowed."""
        return self.exchange("accepted")
