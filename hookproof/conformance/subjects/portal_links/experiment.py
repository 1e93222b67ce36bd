"""Portal links: listed, retrieved, updated field by field, and with the endpoints of their owner.

Sections 2.6, 4.5 and 4.6.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.support.created_endpoints import (
    create_endpoint,
    uid_in_records,
)
from hookproof.conformance.experiments.support.existing_resources import (
    fetch_list,
    find_changeable_links,
    kept_fields,
    put_back_afterwards,
)
from hookproof.conformance.experiments.support.portal_links import (
    Link,
    retrieve,
    update,
    update_field,
    updating_body,
)
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.model.evidence import Evidence, Exchange
from hookproof.conformance.model.experiment_registry import Sharing, experiment
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.observations.answer import sent, shown_uid
from hookproof.conformance.observations.portal_link import (
    ListedPortalLinks,
    ParallelUpdates,
    PortalLinkOfOwner,
    PortalLinkUpdate,
    UpdateAmongPortalLinks,
)
from hookproof.conformance.observations.preparation import Preparation

RETRIEVED = 5


@experiment(
    "portal_links",
    observes=(
        ListedPortalLinks,
        PortalLinkUpdate,
        PortalLinkOfOwner,
        ParallelUpdates,
        UpdateAmongPortalLinks,
        Preparation,
    ),
    busy=True,
    sharing=Sharing.QUIET,
)
async def portal_links(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """List, retrieve and update the portal links that are there, and put them back at the end."""
    async with context.portal_links:
        trial = context.trial("listed and retrieved")
        existing = await find_changeable_links(context, trial)
        links = existing.links
        if not links:
            yield trial.not_observed(None, existing.reason)
            return
        if context.fixtures:
            await fetch_list(trial, "listPortalLinks")
        await asyncio.gather(*(retrieve(trial, link, "retrieve") for link in links[:RETRIEVED]))
        yield trial.observe(ListedPortalLinks)
        bodies, link = RequestBodies.of(context), links[0]
        restored = context.trial("portal link as it was")
        async with put_back_afterwards(context, restored, link):
            for field, value in _changes(bodies, link):
                name = f"update of {field} to {value}"
                yield await update_field(context, bodies, link, name, field, value)
            yield await _update_endpoints(context, bodies, link)
            yield await _create_endpoints_of_owner(context, bodies, link)
            async for evidence in _update_at_once(context, bodies, link):
                yield evidence
            if len(links) > 1:
                yield await _update_among_others(context, bodies, link)
        yield restored.observe(Preparation)


def _changes(bodies: RequestBodies, link: Link) -> list[tuple[str, Any]]:
    """Fields of updatePortalLink with values that the portal link does not have (section 4.6)."""
    words = bodies.dialect.words.portal_auth_types
    return [
        ("name", bodies.portal_link_value("name")),
        ("owner_id", bodies.portal_link_value("owner_id")),
        ("can_manage_endpoint", link.get("can_manage_endpoint") is not True),
        ("can_manage_endpoint", link.get("can_manage_endpoint") is True),
        *(("auth_type", word) for word in words),
        ("endpoints", []),
    ]


async def _update_endpoints(
    context: ExperimentContext, bodies: RequestBodies, link: Link
) -> Evidence:
    """Put an endpoint into the portal link by name, as the deprecated field does (section 9)."""
    trial = context.trial("update of endpoints to a new one")
    created = await create_endpoint(
        context, trial, role="named endpoint", body=bodies.quiet_endpoint(), link=link
    )
    if created.uid is None:
        return trial.not_observed(
            PortalLinkUpdate, f"there is no endpoint to name: {created.reason}"
        )
    await retrieve(trial, link, "before")
    await update(trial, link, "update", updating_body(bodies, link, endpoints=[created.uid]))
    await retrieve(trial, link, "after")
    await update(trial, link, "put back", updating_body(bodies, link, endpoints=[]))
    return trial.observe(PortalLinkUpdate, field="endpoints")


async def _create_endpoints_of_owner(
    context: ExperimentContext, bodies: RequestBodies, link: Link
) -> Evidence:
    """Create endpoints of one owner, one of another, and pass the portal link to the other."""
    trial = context.trial("endpoints of the owner")
    owner = context.word("owner")
    other = f"{owner}-2"  # a search for what begins like the owner finds it, too

    async def create(role: str, owner_id: str) -> Exchange:
        return await trial.call(
            "createEndpoint", role=role, body=bodies.quiet_endpoint(owner_id=owner_id)
        )

    await update(trial, link, "prepare", updating_body(bodies, link, owner_id=owner))
    await create("same owner", owner)
    fetched = await create("same owner", owner)
    await create("other owner", other)
    await retrieve(trial, link, "retrieve")
    uid = shown_uid(fetched) or uid_in_records(trial.exchanges, sent(fetched).get("url"))
    if uid is not None:
        await trial.call("getEndpoint", role="fetch", uid=uid)
    await create("same owner later", owner)
    await retrieve(trial, link, "retrieve later")
    await update(trial, link, "change owner", updating_body(bodies, link, owner_id=other))
    await retrieve(trial, link, "retrieve changed")
    return trial.observe(PortalLinkOfOwner)


async def _update_at_once(
    context: ExperimentContext, bodies: RequestBodies, link: Link
) -> AsyncIterator[Evidence]:
    """Update several fields in parallel, one with each request, in both orders but for the quick
    profile.

    Where two updates overlap, the later one may write back what the other has just changed.
    """
    required = kept_fields(bodies, link)
    fields = [
        field
        for field in ("owner_id", "auth_type", "can_manage_endpoint", "endpoints")
        if field not in required
    ]
    orders = [(fields, "updates at once"), (fields[::-1], "updates in another order")]
    for order, name in orders[:1] if context.profile is Profile.QUICK else orders:
        trial = context.trial(name)
        endpoint = await create_endpoint(
            context, trial, role="named endpoint", body=bodies.quiet_endpoint(), link=link
        )
        before = await retrieve(trial, link, "before")
        changes = {
            field: updating_body(bodies, link, **{field: value})
            for field in order
            if (value := _other_value(bodies, before.data, field, endpoint.uid)) is not None
        }
        await asyncio.gather(
            *(update(trial, link, f"{field} at once", body) for field, body in changes.items())
        )
        await retrieve(trial, link, "after")
        for field, body in changes.items():
            await update(trial, link, f"{field} alone", body)
            await retrieve(trial, link, f"after {field} alone")
        await update(trial, link, "put back", updating_body(bodies, link, endpoints=[]))
        yield trial.observe(ParallelUpdates, fields=tuple(changes))


def _other_value(bodies: RequestBodies, link: Any, field: str, endpoint: str | None) -> Any:
    """A value that a field of the portal link does not have; None if there is none."""
    was = link.get(field) if isinstance(link, dict) else None
    if field == "endpoints":
        return None if endpoint is None else [endpoint]
    if field == "can_manage_endpoint":
        return was is not True
    if field == "auth_type":
        words = bodies.dialect.words.portal_auth_types
        return next((word for word in words if word != was), None)
    return bodies.word("owner")


async def _update_among_others(
    context: ExperimentContext, bodies: RequestBodies, link: Link
) -> Evidence:
    trial = context.trial("other portal links during an update")
    await fetch_list(trial, "listPortalLinks")
    await update(trial, link, "update", updating_body(bodies, link, name=context.word("portal")))
    await fetch_list(trial, "listPortalLinks")
    return trial.observe(UpdateAmongPortalLinks, uid=link["uid"])
