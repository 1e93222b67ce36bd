"""Examples for sections 2.6, 2.7, 4.5, 4.6 and 9: portal links, and the identifiers of sources."""

from typing import Any

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.portal_link import (
    ListedPortalLinks,
    ParallelUpdates,
    PortalLinkOfOwner,
    PortalLinkUpdate,
    UpdateAmongPortalLinks,
)
from tests.conformance.canned_evidence import exchange, observation
from tests.conformance.checks.api.example import (
    AT,
    LATER,
    OTHER_UID,
    UID,
    UPDATED,
    Example,
    endpoint,
    link,
    page,
    refusal,
    retrieved,
)


def updated(field: str, update: Exchange, after: Exchange) -> PortalLinkUpdate:
    """The update of a field and the retrieval after it."""
    return observation(PortalLinkUpdate, update, after, field=field)


def parallel(*, owner_in_the_end: str) -> ParallelUpdates:
    """An update of the owner beside one of another field, and then alone."""
    call = "updatePortalLink"
    return observation(
        ParallelUpdates,
        retrieved("before", owner_id="owner-1"),
        retrieved("owner_id at once", call, {"owner_id": "owner-2"}, owner_id="owner-2"),
        retrieved("after", owner_id=owner_in_the_end),
        retrieved("owner_id alone", call, {"owner_id": "owner-2"}, owner_id="owner-2"),
        retrieved("after owner_id alone", owner_id="owner-2"),
        fields=("owner_id", "auth_type"),
    )


def listed(*links: dict[str, Any]) -> ListedPortalLinks:
    """A list of these portal links, and the retrieval of one."""
    inventory = page("listPortalLinks", list(links), "inventory")
    return observation(ListedPortalLinks, inventory, retrieved())


def among_others(before: dict[str, Any], after: dict[str, Any]) -> UpdateAmongPortalLinks:
    """A portal link in the list before and after the update of another one."""
    return observation(
        UpdateAmongPortalLinks,
        page("listPortalLinks", [link(uid=OTHER_UID), before], "inventory"),
        update({"name": "New"}, uid=OTHER_UID, name="New"),
        page("listPortalLinks", [link(uid=OTHER_UID, name="New"), after], "inventory"),
        uid=OTHER_UID,
    )


def update(request: dict[str, Any], **fields: Any) -> Exchange:
    """The answer to an update."""
    return retrieved("update", "updatePortalLink", request, **fields)


def with_endpoints(role: str, *uids: str) -> Exchange:
    """A portal link that shows these endpoints."""
    return retrieved(
        role, endpoint_count=len(uids), endpoints_metadata=[endpoint(uid=uid) for uid in uids]
    )


def of_owner(retrieve: Exchange, later: Exchange, changed: Exchange) -> PortalLinkOfOwner:
    """Endpoints s1 and later s2 of one owner, o1 of another, and three looks at the portal link."""

    def creation(role: str, uid: str) -> Exchange:
        return exchange(role, "createEndpoint", data=endpoint(uid=uid))

    first = (creation("same owner", "s1"), creation("other owner", "o1"), retrieve)
    added = (creation("same owner later", "s2"), later)
    change = retrieved("change owner", "updatePortalLink", {"owner_id": "owner-2"})
    return observation(PortalLinkOfOwner, *first, *added, change, changed)


def looks(*retrievals: Exchange) -> PortalLinkUpdate:
    """Several looks at one portal link."""
    return observation(PortalLinkUpdate, *retrievals, field="name")


def naming(uid: str) -> Exchange:
    """A portal link with one endpoint, whose deprecated list names this one."""
    return retrieved(endpoints=[uid], endpoint_count=1, endpoints_metadata=[endpoint()])


def endpoints_updated(update: Exchange, after: Exchange) -> PortalLinkUpdate:
    """An update of the deprecated list, and the creation of the endpoint that it names."""
    creation = exchange("named endpoint", "createEndpoint", data=endpoint())
    return observation(PortalLinkUpdate, creation, update, after, field="endpoints")


GOOD = {
    "retrieve": with_endpoints("retrieve", "s1"),
    "later": with_endpoints("retrieve later", "s1", "s2"),
    "changed": with_endpoints("retrieve changed", "o1"),
}

EXAMPLES = (
    Example(
        requirement="4.6-15",
        kept=parallel(owner_in_the_end="owner-2"),
        broken=parallel(owner_in_the_end="owner-1"),
    ),
    Example(
        requirement="2.6-1",
        kept=page("listPortalLinks", [link(), link(uid=OTHER_UID)]),
        broken=page("listPortalLinks", [link(), link()]),
    ),
    Example(
        requirement="2.7-1",
        kept=page("listSources", [{"uid": UID}]),
        broken=page("listSources", [{"uid": ""}]),
    ),
    Example(
        requirement="2.6-5",
        kept=with_endpoints("retrieve", UID),
        broken=retrieved(endpoint_count=1),
    ),
    Example(
        requirement="2.6-8",
        kept=looks(retrieved(), naming(UID)),
        broken=looks(retrieved(endpoints=[]), naming(OTHER_UID)),
    ),
    *(
        Example(
            requirement=requirement,
            kept=of_owner(**GOOD),
            broken=of_owner(**{**GOOD, broken: answer}),
        )
        for requirement, broken, answer in (
            ("2.6-2", "retrieve", with_endpoints("retrieve")),
            ("2.6-3", "retrieve", with_endpoints("retrieve", "s1", "o1")),
            ("2.6-4", "later", with_endpoints("retrieve later", "s1")),
            ("4.6-10", "changed", with_endpoints("retrieve changed")),
            ("4.6-11", "changed", with_endpoints("retrieve changed", "o1", "s1")),
        )
    ),
    Example(
        requirement="2.6-6",
        kept=observation(
            PortalLinkOfOwner,
            with_endpoints("retrieve", UID),
            exchange("fetch", "getEndpoint", data=endpoint()),
        ),
        broken=observation(
            PortalLinkOfOwner,
            with_endpoints("retrieve", UID),
            exchange("fetch", "getEndpoint", data=endpoint(name="Other")),
        ),
    ),
    Example(requirement="2.6-7", kept=listed(link()), broken=listed(link(name="Old"))),
    Example(requirement="4.4-14", kept=listed(link()), broken=listed()),
    *(
        Example(
            requirement=requirement,
            kept=updated(
                field,
                update({field: value}, **{field: value}),
                retrieved("after", **{field: value}),
            ),
            broken=updated(field, update({field: value}, **{field: value}), retrieved("after")),
        )
        for field, (requirement, value) in UPDATED.items()
    ),
    Example(
        requirement="4.6-9",
        kept=updated("name", update({"name": "New"}, name="New"), retrieved("after", name="New")),
        broken=updated(
            "name",
            update({"name": "New"}, name="New", owner_id="o"),
            retrieved("after", name="New"),
        ),
    ),
    Example(
        requirement="4.6-12",
        kept=among_others(link(), link()),
        broken=among_others(link(), link(name="Changed")),
    ),
    *(
        Example(
            requirement="4.6-14",
            kept=updated("name", update({}, updated_at=AT), retrieved("after", updated_at=after)),
            broken=updated("name", update({}, updated_at=LATER), retrieved("after", updated_at=AT)),
        )
        for after in (LATER, f"{AT[:-4]}Z")
    ),
    Example(
        requirement="9-2",
        kept=endpoints_updated(update({"endpoints": [UID]}), retrieved("after")),
        broken=endpoints_updated(
            refusal(400, "updatePortalLink", role="update", request={"endpoints": [UID]}),
            retrieved("after"),
        ),
    ),
    Example(
        requirement="9-4",
        kept=endpoints_updated(update({"endpoints": [UID]}), with_endpoints("after", UID)),
        broken=endpoints_updated(update({"endpoints": [UID]}), with_endpoints("after")),
    ),
    Example(
        requirement="9-4",
        kept=endpoints_updated(update({"endpoints": [UID]}), with_endpoints("after")),
        broken=endpoints_updated(update({"endpoints": [UID]}), with_endpoints("after", UID)),
        dialect="contrary",
    ),
)
