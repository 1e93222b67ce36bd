"""What a portal link shows of its settings and of the endpoints in it (section 2.6)."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from hookproof.conformance.checks.json_objects import objects_in
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import has_value, items, sent, shown, shown_uid
from hookproof.spec.field_roles import Role, fields_with, shown_as_sent

UPDATED: Final = shown_as_sent("updatePortalLink")

# What an update can change; the endpoints of a portal link change with deliveries too.
SETTINGS: Final = fields_with("PortalLink", Role.GIVEN)


def members(exchange: Exchange | None) -> list[str]:
    """The identifiers of the endpoints that a portal link shows in endpoints_metadata."""
    return uids_in(shown(exchange).get("endpoints_metadata") if exchange is not None else None)


def is_member(link: Exchange, creation: Exchange, others: Iterable[Exchange]) -> bool | None:
    """Whether a portal link shows an endpoint, told by its uid, or else by its URL.

    A URL tells nothing if one of the `others` was created with the same. A service may spell a URL
    otherwise than it was sent: one that is missing tells nothing (None) unless the URL of this
    creation, or in the portal link that of one of the others, is shown as it was sent.
    """
    uid, url = shown_uid(creation), sent(creation).get("url")
    if uid in members(link):
        return True
    records = objects_in(shown(link).get("endpoints_metadata"))
    urls = [record.get("url") for record in records]
    of_others = [sent(other).get("url") for other in others if other is not creation]
    is_its_own = has_value(url) and url not in of_others
    if is_its_own and url in urls:
        return True
    if uid is not None and all(has_value(record.get("uid")) for record in records):
        return False
    is_spelled_as_sent = shown(creation).get("url") == url or any(
        other in urls for other in of_others
    )
    return False if creation.succeeded and is_its_own and is_spelled_as_sent else None


def settings(link: Mapping[str, Any]) -> dict[str, Any]:
    return {name: link.get(name) for name in SETTINGS}


def repeats_a_uid(page: Exchange) -> bool:
    uids = [str(item.get("uid")) for item in items(page)]
    return len(set(uids)) < len(uids)


def uids_in(records: object) -> list[str]:
    return [str(record.get("uid")) for record in objects_in(records)]


def named(creation: Exchange) -> str:
    """The uid of a new endpoint, or its URL where the answer to its creation hides the uid."""
    return shown_uid(creation) or str(sent(creation).get("url"))
