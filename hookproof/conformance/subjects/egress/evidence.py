"""Ways to an address that a target must not reach (hygiene of section 6)."""

from dataclasses import dataclass
from typing import Final

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.sentinel import DeliveriesBeforeSentinel

CANARY: Final = "canary"


@dataclass(frozen=True, slots=True, kw_only=True)
class EgressProbeVisits(DeliveriesBeforeSentinel):
    """One way to one canary, and a sentinel that shows that deliveries went out meanwhile.

    `way` is how the target was led there. `visits` is how many connections the canary had when the
    sentinel had arrived and the quiet time was over.
    """

    way: str
    visits: int

    @property
    def creation(self) -> Exchange | None:
        """The creation of the endpoint of which something leads to the canary.

        A target may refuse it.
        """
        return self.exchange(CANARY)
