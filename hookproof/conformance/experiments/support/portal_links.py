"""Portal links that are changed, and endpoints that are shown in them (sections 4.5 and 4.6)."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hookproof.conformance.experiments.context import ExperimentContext, Trial
from hookproof.conformance.experiments.support.created_endpoints import create_endpoint
from hookproof.conformance.experiments.support.existing_resources import give_owner, kept_fields
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.model.evidence import Evidence, Exchange
from hookproof.conformance.observations.answer import shown_uid
from hookproof.conformance.observations.endpoint_records import (
    FETCHED,
    SHOWN,
    Record,
    RecordsInPortalLink,
)
from hookproof.conformance.observations.portal_link import PortalLinkUpdate

Link = Mapping[str, Any]


async def show_in_portal_link(
    context: ExperimentContext, link: Record, name: str, *endpoints: Record
) -> RecordsInPortalLink:
    """Create endpoints with these fields, and see a portal link of their owner. The owner is a new
    one unless it is given.
    """
    trial, bodies = context.trial(name), RequestBodies.of(context)
    owner = str(endpoints[0].get("owner_id", context.word("owner")))
    await give_owner(trial, bodies, link, owner)
    # One by one: whatever hides its uid is looked for in the portal link.
    created = [
        await create_endpoint(
            context,
            trial,
            role="prepare",
            body=bodies.quiet_endpoint(**{**fields, "owner_id": owner}),
            link=link,
        )
        for fields in endpoints
    ]
    uids = [each.uid for each in created if each.uid is not None]
    # So that each has two secrets.
    await asyncio.gather(
        *(
            trial.call(
                "expireEndpointSecret",
                role="roll",
                uid=uid,
                body={"secret": bodies.secret(), "expiration": bodies.lasting_expiration()},
            )
            for uid in uids
        )
    )
    if not all(shown_uid(each.answer) for each in created):
        # The portal link was changed to find them.
        await give_owner(trial, bodies, link, owner)
    await show_everywhere(context, trial, link, owner, uids)
    return trial.observe(RecordsInPortalLink)


def updating_body(bodies: RequestBodies, link: Link, **fields: Any) -> dict[str, Any]:
    """The fields given, and what else the dialect requires, as the portal link has it."""
    return bodies.portal_link(**{**kept_fields(bodies, link), **fields})


async def update_field(
    context: ExperimentContext, bodies: RequestBodies, link: Link, name: str, field: str, value: Any
) -> Evidence:
    """Update one field of a portal link, and retrieve it before and afterwards."""
    trial = context.trial(name)
    await retrieve(trial, link, "before")
    await update(trial, link, "update", updating_body(bodies, link, **{field: value}))
    await retrieve(trial, link, "after")
    return trial.observe(PortalLinkUpdate, field=field)


async def retrieve(trial: Trial, link: Link, role: str) -> Exchange:
    return await trial.call("getPortalLink", role=role, uid=link["uid"])


async def update(trial: Trial, link: Link, role: str, body: dict[str, Any]) -> None:
    await trial.call("updatePortalLink", role=role, uid=link["uid"], body=body)


async def show_everywhere(
    context: ExperimentContext, trial: Trial, link: Record, owner: str, uids: Sequence[str]
) -> None:
    """See the portal link in the answers of all three operations that show one, between two
    retrievals of its endpoints.
    """
    await fetch_all(trial, uids)
    await trial.call("getPortalLink", role=SHOWN, uid=link["uid"])
    by_owner = context.dialect.paging.owner_filter
    of_owner = {} if by_owner is None else {by_owner: owner}
    await trial.call("listPortalLinks", role=SHOWN, query=of_owner)
    trial.rename(await give_owner(trial, RequestBodies.of(context), link, owner), SHOWN)
    await fetch_all(trial, uids)


async def fetch_all(trial: Trial, uids: Iterable[str]) -> None:
    await asyncio.gather(*(trial.call("getEndpoint", role=FETCHED, uid=uid) for uid in uids))
