"""Filters that are asked for something near to a value that is there (sections 4.4 and 4.7)."""

from dataclasses import dataclass

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.lists.parameters import ListRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class NearFilter(ListRequest):
    """A resource, the list filtered by the value of its `field`, and by one that is near to it.

    `near` says how the value in `query` differs: a part, a prefix, another case, or a pattern.
    Sources are filtered by an unrelated word, too: what is no word of a service may be ignored.
    """

    field: str
    near: str

    @property
    def retrieved(self) -> Exchange | None:
        """The portal link itself, or the list of all sources."""
        return self.exchange("retrieve")

    @property
    def control(self) -> Exchange | None:
        """The list filtered by the value itself."""
        return self.exchange("control")

    @property
    def unrelated(self) -> Exchange | None:
        """The list filtered by what is near to no value; None where any text is a value."""
        return self.exchange("unrelated")
