"""Texts that tell, in every field that takes texts: shown as they were sent (2.3 to 2.6)."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

from hookproof.conformance.experiments.context import ExperimentContext, Trial
from hookproof.conformance.experiments.support.authentications import (
    observe_round_trip,
    with_assertion,
    with_assertion_by_rsa,
)
from hookproof.conformance.experiments.support.client_certificate import issue_client_pair
from hookproof.conformance.experiments.support.created_endpoints import create_endpoint
from hookproof.conformance.experiments.support.existing_resources import (
    fetch_list,
    find_changeable_links,
    put_back_afterwards,
)
from hookproof.conformance.experiments.support.portal_links import (
    show_in_portal_link,
    update_field,
    updating_body,
)
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.experiments.support.telling_texts import (
    capability_of,
    endpoint_texts,
    find_accepted,
    find_accepted_endpoint,
    mechanisms,
    texts,
    texts_for_urls,
)
from hookproof.conformance.model.evidence import Evidence, Exchange
from hookproof.conformance.model.experiment_registry import Sharing, experiment
from hookproof.conformance.observations.endpoint_records import RecordsInPortalLink
from hookproof.conformance.observations.portal_link import (
    ListedPortalLinks,
    PortalLinkUpdate,
)
from hookproof.conformance.observations.preparation import Preparation
from hookproof.conformance.observations.round_trip import (
    AuthenticationRoundTrip,
    TellingRoundTrip,
)
from hookproof.conformance.subjects.secrets.evidence import RollAnswer

ALL_FIELDS: Final = "all fields"


@experiment(
    "telling_texts",
    observes=(
        TellingRoundTrip,
        AuthenticationRoundTrip,
        RollAnswer,
        RecordsInPortalLink,
        PortalLinkUpdate,
        ListedPortalLinks,
        Preparation,
    ),
    busy=True,
    sharing=Sharing.QUIET,
)
async def telling_texts(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Endpoints with each mechanism: fetched, rolled, and in a portal link."""
    bodies, probe = RequestBodies.of(context), context.trial("texts that a target accepts")
    accepted = await _find_accepted(context, probe, bodies)
    yield probe.observe(Preparation)
    for observation in await asyncio.gather(
        *(_create_and_fetch(context, bodies, *item) for item in accepted.items()),
        *(_roll(context, bodies, *item) for item in accepted.items()),
    ):
        yield observation
    if "appID" not in context.lacking_fields():
        candidates = {"appID": texts(bodies.word("app"))}
        fields = await find_accepted_endpoint(context, probe, candidates)
        yield await _create_and_fetch(context, bodies, "appID", fields)
    async with context.portal_links:
        trial = context.trial("portal link with texts that tell")
        existing = await find_changeable_links(context, trial, pages=1)
        if not existing.links:
            yield trial.not_observed(None, existing.reason)
            return
        link = existing.links[0]
        async with put_back_afterwards(context, trial, link):
            found = await _find_accepted_update(trial, bodies, link)
            owner = {name: value for name, value in found.items() if name == "owner_id"}
            endpoints = [{**fields, **owner} for fields in accepted.values()]
            title = "texts that tell in a portal link"
            records = await show_in_portal_link(context, link, title, *endpoints)
            yield records
            if not any(records.fetched_and_shown()):
                # Whatever becomes of such an owner does not hide the other texts.
                title, owner = f"{title}, of a plain owner", {"owner_id": context.word("owner")}
                endpoints = [{**fields, **owner} for fields in accepted.values()]
                yield await show_in_portal_link(context, link, title, *endpoints)
            for field, value in found.items():
                title = f"update of {field} to a text that tells"
                yield await update_field(context, bodies, link, title, field, value)
            yield await _list(context, bodies, link, found)
        yield trial.observe(Preparation)


async def _find_accepted(
    context: ExperimentContext, probe: Trial, bodies: RequestBodies
) -> dict[str, dict[str, Any]]:
    """The fields of endpoints that the target accepts: one with all the texts, and one with each
    mechanism that it accepts.
    """
    lacking = context.lacking_fields()
    candidates = {
        field: values for field, values in endpoint_texts(bodies).items() if field not in lacking
    }
    pair = await issue_client_pair(context, context.word("client"))
    optional = {"mtls_client_cert": (pair.mtls_client_cert,)}
    optional = {field: values for field, values in optional.items() if field not in lacking}
    oauth2 = (with_assertion(bodies), with_assertion_by_rsa(bodies))
    tried = {
        ALL_FIELDS: {**candidates, **optional},
        **{
            name: {"authentication": values}
            for name, values in mechanisms(bodies, oauth2).items()
            if not context.why_lacking(capability_of(name))
        },
    }
    found = await asyncio.gather(
        *(find_accepted_endpoint(context, probe, fields) for fields in tried.values())
    )
    # Without texts the first is an endpoint like any other.
    return {
        name: fields
        for name, fields in zip(tried, found, strict=True)
        if fields or name == ALL_FIELDS
    }


async def _create_and_fetch(
    context: ExperimentContext, bodies: RequestBodies, mechanism: str, fields: Mapping[str, Any]
) -> Evidence:
    trial = context.trial(f"texts that tell, {mechanism}")
    created = await create_endpoint(
        context, trial, role="create", body=bodies.quiet_endpoint(**fields)
    )
    if created.uid is not None:
        await trial.call("getEndpoint", role="fetch", uid=created.uid)
    return observe_round_trip(context, trial, mechanism, fields, TellingRoundTrip)


async def _roll(
    context: ExperimentContext, bodies: RequestBodies, mechanism: str, fields: Mapping[str, Any]
) -> Evidence:
    trial = context.trial(f"roll with texts that tell, {mechanism}")
    # Of two secrets of one endpoint both are as strong as the target accepts.
    accepted = fields.get("secret", "")
    candidates = [text for text in endpoint_texts(bodies)["secret"] if len(text) <= len(accepted)]
    first, second = accepted or bodies.secret(), next(iter(candidates), bodies.secret())
    body = bodies.quiet_endpoint(**{**fields, "secret": first})
    created = await create_endpoint(context, trial, role="create", body=body)
    if created.uid is None:
        return trial.not_observed(RollAnswer, created.reason)
    await trial.call("getEndpoint", role="fetch before", uid=created.uid)
    roll = bodies.roll(secret=second)
    await trial.call("expireEndpointSecret", role="roll", uid=created.uid, body=roll)
    await trial.call("getEndpoint", role="fetch", uid=created.uid)
    return trial.observe(RollAnswer, given=(first, second))


async def _find_accepted_update(
    trial: Trial, bodies: RequestBodies, link: Mapping[str, Any]
) -> dict[str, Any]:
    """The name and owner that an update of a portal link accepts."""

    async def update(values: Mapping[str, Any]) -> Exchange:
        body = updating_body(bodies, link, **values)
        return await trial.call("updatePortalLink", role="probe", uid=link["uid"], body=body)

    candidates = {
        "name": texts(bodies.word("name")),
        "owner_id": texts_for_urls(bodies.word("owner")),
    }
    return await find_accepted(candidates, update)


async def _list(
    context: ExperimentContext,
    bodies: RequestBodies,
    link: Mapping[str, Any],
    fields: Mapping[str, Any],
) -> Evidence:
    """List the portal link with its texts, and retrieve it."""
    trial = context.trial("listed with texts that tell")
    body = updating_body(bodies, link, **fields)
    await trial.call("updatePortalLink", role="prepare", uid=link["uid"], body=body)
    await fetch_list(trial, "listPortalLinks")
    await trial.call("getPortalLink", role="retrieve", uid=link["uid"])
    return trial.observe(ListedPortalLinks)
