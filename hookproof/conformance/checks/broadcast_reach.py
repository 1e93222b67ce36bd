"""The endpoints that a broadcast reaches under a dialect (sections 3 and 4.8)."""

from hookproof.conformance.observations.destinations import Destination, Event
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import Reach


def reaches(event: Event, destination: Destination, dialect: Dialect) -> bool:
    """Whether the event must arrive at the destination; raises Undecided."""
    if event.project != destination.project:
        return False
    if (
        destination.settings.get("is_disabled") is True
        and not dialect.delivery.disabled_receives.value
    ):
        return False
    match dialect.delivery.reach.value:
        case Reach.OWNED_ENDPOINTS:
            return bool(destination.settings.get("owner_id"))
        case Reach.ACTIVE_ENDPOINTS:
            return True
