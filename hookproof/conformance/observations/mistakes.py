"""A request of which is asked whether it is taken, and requests that are not sent to their end."""

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import ClassVar, Final

from hookproof.conformance.model.evidence import Exchange, Observation

# The role of the request that differs from the one tried in nothing but what is tried.
ORDINARY: Final = "ordinary"


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestTried(Observation):
    """One request. `field` is the field of its body that it is about, or empty.

    The `ordinary` one beside it differs in what is tried alone, and so shows whether a refusal is
    because of that. `role_of_ordinary` is its role.
    """

    role_of_ordinary: ClassVar[str] = ORDINARY

    operation_id: str | None = None
    field: str = ""

    @property
    def topic(self) -> object:
        """What is asked about: the kind of request that it has, or its class."""
        values = (getattr(self, each.name) for each in fields(self))
        return next((value for value in values if isinstance(value, StrEnum)), type(self))

    @property
    def tried(self) -> Exchange | None:
        """The request, if it was answered."""
        exchange = self.exchange("tried")
        return None if exchange is None or exchange.status is None else exchange

    @property
    def ordinary(self) -> Exchange | None:
        return self.exchange(self.role_of_ordinary)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnfinishedRequest(Observation):
    """A request that is not sent to its end.

    Of the bytes of its body, `promised` is how many its Content-Length names, and `sent` how many
    were sent.
    """

    operation_id: str
    promised: int
    sent: int

    @property
    def tried(self) -> Exchange | None:
        """The request, answered or not."""
        return self.exchange("unfinished")


@dataclass(frozen=True, slots=True, kw_only=True)
class HalfRequest(UnfinishedRequest):
    """A request whose body stops halfway."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlongRequest(UnfinishedRequest):
    """A request whose body is far too long to be read to its end."""
