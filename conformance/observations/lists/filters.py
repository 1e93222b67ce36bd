"""Filters that are asked for something near to the value of a portal link (section 4.4)."""

from dataclasses import dataclass

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.lists.parameters import ListRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class NearFilter(ListRequest):
    """A portal link, the list filtered by the value of its `field`, and by one that is near to it.

    `near` says how the value in `query` differs: a part, a prefix, or another case.
    """

    field: str
    near: str

    @property
    def retrieved(self) -> Exchange | None:
        """The portal link itself."""
        return self.exchange("retrieve")

    @property
    def control(self) -> Exchange | None:
        """The list filtered by the value itself."""
        return self.exchange("control")
