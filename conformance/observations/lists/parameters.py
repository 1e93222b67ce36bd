"""Single requests for a list with one parameter (sections 4.4, 4.7 and 8)."""

from collections.abc import Mapping
from dataclasses import dataclass

from hookproof.conformance.model.evidence import Exchange, Observation


@dataclass(frozen=True, slots=True, kw_only=True)
class ListRequest(Observation):
    """One request for a list, with `query` as it was sent."""

    operation_id: str
    query: Mapping[str, str]

    @property
    def tried(self) -> Exchange | None:
        return self.exchange("tried")


@dataclass(frozen=True, slots=True, kw_only=True)
class DefaultPageSize(ListRequest):
    """A request without perPage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LargestPageSize(ListRequest):
    """A request with the largest perPage that the dialect accepts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSizeAboveMaximum(ListRequest):
    """A request with one more than the largest perPage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadableParameter(ListRequest):
    """A request with a parameter that cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtremePageSize(ListRequest):
    """A request with a perPage at or beyond the bounds that implementations have."""

    @property
    def control(self) -> Exchange | None:
        """The list without perPage."""
        return self.exchange("control")


@dataclass(frozen=True, slots=True, kw_only=True)
class BackFromNowhere(ListRequest):
    """A request with direction=prev and no cursor, for one resource of a list with several.

    `first` and `last` are the uids of the first and the last of them.
    """

    first: str
    last: str
