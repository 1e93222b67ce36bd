"""Requests that are valid under the dialect, for resources that exist."""

from dataclasses import dataclass
from typing import Final

from hookproof.conformance.model.evidence import Exchange, Observation

# The roles of such requests; each is sent with the key of its own project.
ROLES_TO_SUCCEED: Final = frozenset(
    {
        "create",
        "fetch",
        "roll",
        "page",
        "inventory",
        "retrieve",
        "retrieve later",
        "retrieve changed",
        "before",
        "after",
        "update",
        "change owner",
        "first",
        "again",
        "same owner",
    }
)

# The roles of requests that try something, and may be refused as well as accepted, as far as they
# have a word in common before a colon. All others are to succeed, in whatever observation they
# stand.
ROLES_OF_TRIALS: Final = frozenset(
    {
        "tried",
        "refused",
        "refused content",
        "across",
        "sweep",
        "linked",
        "odd",
        "unfinished",
        "line break in a value",
        "line feed in a value",
        "line break in a name",
        "reserved",
    }
)
OWN_KEY: Final = "own"


def is_to_succeed(exchange: Exchange) -> bool:
    """Whether a request is valid for all that is known, so that its refusal leaves out what it was
    to show.
    """
    return exchange.key == OWN_KEY and exchange.role.partition(":")[0] not in ROLES_OF_TRIALS


@dataclass(frozen=True, slots=True, kw_only=True)
class SucceedingRequests(Observation):
    """An observation whose requests are to succeed."""

    @property
    def requests_to_succeed(self) -> tuple[Exchange, ...]:
        elsewhere = {id(exchange) for exchange in self.judged_elsewhere}
        return tuple(
            exchange
            for exchange in self.exchanges
            if exchange.operation_id is not None
            and exchange.role in ROLES_TO_SUCCEED
            and id(exchange) not in elsewhere
        )

    @property
    def judged_elsewhere(self) -> tuple[Exchange, ...]:
        """Requests whose failure breaks a more precise requirement."""
        return ()
