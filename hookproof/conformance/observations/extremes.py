"""Requests with values of extreme length or size (sections 4.1, 4.3, 4.6, 4.8 and 8)."""

from collections.abc import Mapping
from dataclasses import dataclass

from hookproof.conformance.model.evidence import Exchange, Observation
from hookproof.conformance.observations.mistakes import RequestTried


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtremeValueTried(RequestTried):
    """A request with an extreme value in its `field`, and the resource fetched after it."""

    @property
    def fetched(self) -> Exchange | None:
        """The resource, fetched after the request; None if it was not."""
        return self.exchange("fetch")


@dataclass(frozen=True, slots=True, kw_only=True)
class LongTextTried(ExtremeValueTried):
    """A request with a text of so many characters in its `field`, within the size limit."""

    length: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberTried(ExtremeValueTried):
    """A request with a number in its `field` that is spelled like this."""

    number: str

    @property
    def control(self) -> Exchange | None:
        """The same operation with ordinary values."""
        return self.exchange("control")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtremePageSize(Observation):
    """A request for a list with a perPage at or beyond the bounds that implementations have."""

    operation_id: str
    query: Mapping[str, str]

    @property
    def tried(self) -> Exchange | None:
        return self.exchange("tried")

    @property
    def control(self) -> Exchange | None:
        """The list without perPage."""
        return self.exchange("control")
