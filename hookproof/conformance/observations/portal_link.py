"""Portal links: listed, retrieved and updated, and the endpoints in them (2.6, 4.4 to 4.6)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import items, sent, shown, was_accepted
from hookproof.conformance.observations.before_and_after import BeforeAndAfter
from hookproof.conformance.observations.roles import AllExchanges, OneExchange
from hookproof.conformance.observations.succeeding_requests import SucceedingRequests


@dataclass(frozen=True, slots=True, kw_only=True)
class PortalLinkObservation(SucceedingRequests):
    """Requests about portal links that nothing else changes meanwhile."""

    @property
    def pages(self) -> tuple[Exchange, ...]:
        """The pages of walks through the list."""
        return tuple(
            exchange
            for exchange in self.all_exchanges("inventory")
            if exchange.operation_id == "listPortalLinks"
        )

    update = OneExchange("update")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedPortalLinks(PortalLinkObservation):
    """The list of portal links, and some of them retrieved one by one."""

    retrieved = AllExchanges("retrieve")


@dataclass(frozen=True, slots=True, kw_only=True)
class PortalLinkUpdate(PortalLinkObservation, BeforeAndAfter):
    """The update of one field of a portal link, which is retrieved before and after it."""

    field: str

    # The creation of the endpoint that an update of `endpoints` names.
    named_endpoint = OneExchange("named endpoint")


@dataclass(frozen=True, slots=True, kw_only=True)
class ParallelUpdates(PortalLinkObservation, BeforeAndAfter):
    """Updates of one field each that were sent at the same time, between two retrievals; then each
    was sent again alone.
    """

    fields: tuple[str, ...]

    def at_once(self, field: str) -> Exchange | None:
        """The update of this field beside those of the others."""
        return self.exchange(f"{field} at once")

    def alone(self, field: str) -> tuple[Exchange | None, Exchange | None]:
        """The same update of this field alone, and the portal link as retrieved after that."""
        return self.exchange(f"{field} alone"), self.exchange(f"after {field} alone")


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateAmongPortalLinks(PortalLinkObservation):
    """The update of the portal link `uid`, between two walks through the whole list."""

    uid: str

    @property
    def others_before(self) -> Mapping[str, Mapping[str, Any]]:
        """The other portal links in the walk before the update, by their uid."""
        return self._others(self.exchanges[: self._place_of_update])

    @property
    def others_after(self) -> Mapping[str, Mapping[str, Any]]:
        """The other portal links in the walk after the update, by their uid."""
        return self._others(self.exchanges[self._place_of_update :])

    @property
    def _place_of_update(self) -> int:
        update = self.update
        return len(self.exchanges) if update is None else self.exchanges.index(update)

    def _others(self, exchanges: Iterable[Exchange]) -> Mapping[str, Mapping[str, Any]]:
        links = [link for page in exchanges if page in self.pages for link in items(page)]
        by_uid = {str(link["uid"]): link for link in links if "uid" in link}
        return {uid: link for uid, link in by_uid.items() if uid != self.uid}


@dataclass(frozen=True, slots=True, kw_only=True)
class PortalLinkOfOwner(PortalLinkObservation):
    """A portal link that is given an owner, the endpoints of that owner, and those of another.

    Endpoints of both owners are created before the portal link is retrieved; a further one of its
    owner comes later; at last the portal link passes to the other owner.
    """

    # The creations of the owner's first endpoints.
    of_owner = AllExchanges("same owner")
    # The creation of the owner's endpoint that came later.
    of_owner_later = AllExchanges("same owner later")
    # The creation of the other owner's endpoint.
    of_other_owner = AllExchanges("other owner")
    # One of the owner's first endpoints, fetched.
    fetched = OneExchange("fetch")
    # The portal link after the first endpoints.
    retrieved = OneExchange("retrieve")
    # The portal link after the owner's later endpoint.
    retrieved_later = OneExchange("retrieve later")
    # The portal link when it belongs to the other owner.
    with_other_owner = OneExchange("retrieve changed")

    @property
    def has_changed_owner(self) -> bool:
        """Whether the portal link passed to the other owner, for all that the answers say."""
        change, link = self.exchange("change owner"), self.with_other_owner
        if change is None or link is None:
            return False
        return was_accepted(change) or shown(link).get("owner_id") == sent(change).get("owner_id")
