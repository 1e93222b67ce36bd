"""Changes of resources while nothing is broadcast (section 6)."""

from dataclasses import dataclass

from hookproof.conformance.observations.sentinel import DeliveriesBeforeSentinel


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceChanges(DeliveriesBeforeSentinel):
    """A new endpoint and the roll of its secret beside an endpoint that listens, then a sentinel.

    Nothing else was sent in the project but marked events.
    """
