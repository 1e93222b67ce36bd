"""Requests that may change a resource, which is fetched before and after them."""

from dataclasses import dataclass

from hookproof.conformance.model.evidence import Exchange, Observation


@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeAndAfter(Observation):
    """What stood before some requests, and what stood after them, as far as it was fetched."""

    @property
    def before(self) -> Exchange | None:
        """The resource, fetched before the requests."""
        return self.exchange("before")

    @property
    def after(self) -> Exchange | None:
        """The same resource, fetched after the requests."""
        return self.exchange("after")
