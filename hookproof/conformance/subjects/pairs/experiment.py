"""Pairs: every two fields of a body together, each with each value of the other.

Sections 4.1, 4.6 and 4.8. What was created is fetched once, then again after other operations.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Final

from hookproof.conformance.experiments.context import ExperimentContext, Trial
from hookproof.conformance.experiments.support.authentications import with_assertion
from hookproof.conformance.experiments.support.client_certificate import issue_client_pair
from hookproof.conformance.experiments.support.existing_resources import (
    find_changeable_links,
    put_back_afterwards,
)
from hookproof.conformance.experiments.support.optional_settings import find_accepted_settings
from hookproof.conformance.experiments.support.payloads import PAYLOADS
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.generation.pairwise import ABSENT, all_pairs
from hookproof.conformance.model.evidence import Evidence
from hookproof.conformance.model.experiment_registry import experiment
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.observations.answer import shown_uid
from hookproof.conformance.observations.preparation import Preparation
from hookproof.conformance.subjects.events.evidence import BroadcastWithPayload
from hookproof.conformance.subjects.sequences.evidence import (
    EndpointFieldCombination,
    PortalLinkFieldCombination,
)
from hookproof.spec.field_roles import body_fields, plain_body_fields

# appID can set owner_id as well (section 9), and no broadcast is to reach these endpoints.
LEFT_OUT: Final = ("appID", "is_disabled")

Row = Mapping[str, Any]


@experiment(
    "pairs",
    observes=(
        EndpointFieldCombination,
        BroadcastWithPayload,
        PortalLinkFieldCombination,
        Preparation,
    ),
    profile=Profile.STANDARD,
    busy=True,
    broadcasts=5,
)
async def pairs(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Send one request for each combination of fields."""
    bodies = RequestBodies.of(context)
    probe = context.trial("settings that a target may lack")
    endpoint_values = await _endpoint_values(context, bodies, probe)
    yield probe.observe(Preparation)
    for row in _rows(endpoint_values):
        yield await _create_endpoint(context, bodies, row)
    for row in _rows(_event_values(bodies)):
        trial = context.trial(f"broadcast with {_description(row)}")
        await trial.call(
            "createBroadcastEvent",
            role="create",
            body=bodies.broadcast(**_with_new_key(bodies, row)),
        )
        yield trial.observe(BroadcastWithPayload)
    async with aclosing(_update_portal_links(context, bodies)) as updates:
        async for observation in updates:
            yield observation


def _rows(values: Mapping[str, Sequence[Any]]) -> list[Row]:
    return [
        {name: value for name, value in row.items() if value is not ABSENT}
        for row in all_pairs(values)
    ]


def _description(row: Row) -> str:
    return ", ".join(row) or "nothing more"


def _with_new_key(bodies: RequestBodies, row: Row) -> Row:
    """The row with an idempotency_key of its own, if it has one."""
    if "idempotency_key" not in row:
        return row
    return {**row, "idempotency_key": bodies.event_value("idempotency_key")}


async def _endpoint_values(
    context: ExperimentContext, bodies: RequestBodies, probe: Trial
) -> dict[str, list[Any]]:
    left_out = {*LEFT_OUT, *context.lacking_fields()}
    plain = {
        name: [bodies.endpoint_value(name), ABSENT]
        for name in plain_body_fields("createEndpoint")
        if name not in left_out
    }
    mtls = (await issue_client_pair(context, context.word("client"))).mtls_client_cert
    optional = {
        "mtls_client_cert": [mtls, ABSENT],
        "authentication": [bodies.oauth2(), with_assertion(bodies), ABSENT],
    }
    accepted = await find_accepted_settings(
        context, probe, {name: values[0] for name, values in optional.items()}
    )
    return {
        **plain,
        "url": [bodies.url(), f"{bodies.url()}?a=1&b=%2F%20"],
        "advanced_signatures": [True, False, ABSENT],
        **{name: values for name, values in optional.items() if name in accepted},
    }


def _event_values(bodies: RequestBodies) -> dict[str, list[Any]]:
    values = {
        "data": list(PAYLOADS.values()),
        "event_type": [bodies.event_value("event_type"), "a"],
    }
    others = [name for name in body_fields("createBroadcastEvent") if name not in values]
    return {**values, **{name: [bodies.event_value(name), ABSENT] for name in others}}


async def _create_endpoint(context: ExperimentContext, bodies: RequestBodies, row: Row) -> Evidence:
    """Create an endpoint; roll another, broadcast, and roll it itself, with a fetch after each."""
    trial = context.trial(f"endpoint with {_description(row)}")
    created = await trial.call("createEndpoint", role="create", body=bodies.quiet_endpoint(**row))
    other = await trial.call("createEndpoint", role="create", body=bodies.quiet_endpoint())
    uid, other_uid = shown_uid(created), shown_uid(other)
    if uid is not None and other_uid is not None:
        await trial.call("getEndpoint", role="fetch", uid=uid)
        await _roll(trial, bodies, other_uid)
        await trial.call("createBroadcastEvent", role="first", body=bodies.broadcast())
        await trial.call("getEndpoint", role="fetch", uid=uid)
        await _roll(trial, bodies, uid)
        await trial.call("getEndpoint", role="fetch", uid=uid)
    return trial.observe(EndpointFieldCombination, fields=tuple(row))


async def _roll(trial: Trial, bodies: RequestBodies, uid: str) -> None:
    body = bodies.roll(secret=bodies.secret())
    await trial.call("expireEndpointSecret", role="roll", uid=uid, body=body)


async def _update_portal_links(
    context: ExperimentContext, bodies: RequestBodies
) -> AsyncGenerator[Evidence, None]:
    trial = context.trial("portal links to update")
    async with context.portal_links:
        existing = await find_changeable_links(context, trial, pages=1)
        links = existing.links[:2]
        if not links:
            yield trial.not_observed(PortalLinkFieldCombination, existing.reason)
            return
        values = {
            "name": [bodies.portal_link_value("name"), ABSENT],
            "owner_id": [bodies.portal_link_value("owner_id"), ABSENT],
            "can_manage_endpoint": [True, False, ABSENT],
            "auth_type": [*bodies.dialect.words.portal_auth_types, ABSENT],
        }
        restored = context.trial("portal links as they were")
        async with put_back_afterwards(context, restored, *links):
            for row in _rows(values):
                yield await _update_portal_link(context, bodies, links, row)
        yield restored.observe(Preparation)


async def _update_portal_link(
    context: ExperimentContext, bodies: RequestBodies, links: Sequence[Mapping[str, Any]], row: Row
) -> Evidence:
    """Update a portal link; update another and create an endpoint; retrieve it twice."""
    trial = context.trial(f"portal link with {_description(row)}")
    uid, *others = (link["uid"] for link in links)
    await trial.call("updatePortalLink", role="update", uid=uid, body=bodies.portal_link(**row))
    await trial.call("getPortalLink", role="retrieve", uid=uid)
    for other in others:
        await trial.call("updatePortalLink", role="update", uid=other, body=bodies.portal_link())
    owner = {"owner_id": row["owner_id"]} if "owner_id" in row else {}
    await trial.call("createEndpoint", role="create", body=bodies.quiet_endpoint(**owner))
    await trial.call("getPortalLink", role="retrieve", uid=uid)
    return trial.observe(PortalLinkFieldCombination, fields=tuple(row))
