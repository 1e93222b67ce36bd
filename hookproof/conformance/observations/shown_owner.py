"""Which new endpoints show the owner that they were created with (section 4.1)."""

from collections.abc import Iterable

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import sent, shown


def with_owners_as_sent(created: Iterable[Exchange]) -> list[Exchange]:
    """The creations without those that show another owner than was sent; all if none would be left.

    An endpoint that was created without its owner is not one of that owner's, which 4.1-7 judges.
    """
    creations = list(created)
    return [each for each in creations if not _shows_another(each)] or creations


def _shows_another(created: Exchange) -> bool:
    endpoint = shown(created)
    owner, asked = endpoint.get("owner_id") or None, sent(created).get("owner_id") or None
    return bool(endpoint) and owner != asked
