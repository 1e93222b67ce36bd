"""Single requests for a list with one parameter (sections 4.4, 4.7 and 8)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from hookproof.conformance.model.evidence import Exchange, Observation
from hookproof.conformance.observations.requests.mistakes import ORDINARY

# The role of an ordinary request that is sent before the one that is tried.
ORDINARY_BEFORE: Final = f"{ORDINARY}, before"


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
class ComparedPage(ListRequest):
    """A request with a parameter, and the same one with an ordinary value or without it: before
    and after, since a list may change meanwhile.
    """

    @property
    def ordinary(self) -> Exchange | None:
        """The later one of them."""
        return self.exchange(ORDINARY)

    @property
    def ordinary_before(self) -> Exchange | None:
        return self.exchange(ORDINARY_BEFORE)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSizeAboveMaximum(ComparedPage):
    """A request with one more than the largest perPage, and with the largest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadableParameter(ComparedPage):
    """A request with a parameter that cannot be read, and without it."""


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
