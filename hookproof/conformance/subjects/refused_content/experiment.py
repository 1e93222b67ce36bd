"""What is refused for its content, or for its project, has no effect (sections 5 and 7).

No delivery, no idempotency_key that is used up, no endpoint at a portal link, no other name, no
other secret.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any, Final

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.scenario import MARKER, Scenario
from hookproof.conformance.experiments.scenario_run import run_scenarios
from hookproof.conformance.experiments.support.created_endpoints import create_endpoint
from hookproof.conformance.experiments.support.existing_resources import (
    find_changeable_links,
    give_owner,
    kept_fields,
    put_back_afterwards,
)
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.model.evidence import Evidence
from hookproof.conformance.model.experiment_registry import experiment
from hookproof.conformance.observations.preparation import Preparation
from hookproof.conformance.observations.sentinel import SENTINEL
from hookproof.conformance.subjects.events.evidence import FRESH_KEY
from hookproof.conformance.subjects.refused_broadcasts.evidence import (
    REFUSED,
    RefusedBroadcasts,
)
from hookproof.conformance.subjects.refused_content.evidence import (
    REFUSED_BROADCAST,
    SAME_KEY,
    TRIED,
    BroadcastsWithRefusedContent,
    ChangesWithRefusedContent,
    CreationsWithRefusedContent,
)
from hookproof.conformance.target.client import Key
from hookproof.conformance.target.definition import Project

# Fields of createBroadcastEvent with values of other types than the documented ones.
WRONG_BROADCASTS: Final[Mapping[str, Any]] = {
    "event_type": {"not": "a text"},
    "custom_headers": "not an object",
}
# The same of createEndpoint; the last one breaks the rule of section 8 that URLs are https.
WRONG_ENDPOINTS: Final[Mapping[str, Any]] = {
    "description": {"not": "a text"},
    "rate_limit": "twelve",
    "url": "http://plain.invalid/hook",
}
# The same of updatePortalLink and expireEndpointSecret.
WRONG_UPDATES: Final[Mapping[str, Any]] = {
    "auth_type": {"not": "a text"},
    "can_manage_endpoint": "perhaps",
}
WRONG_EXPIRATION: Final = "soon"


@experiment(
    "refused_content",
    observes=(
        BroadcastsWithRefusedContent,
        ChangesWithRefusedContent,
        CreationsWithRefusedContent,
        RefusedBroadcasts,
        Preparation,
    ),
    endpoints=2,
    broadcasts=7,
)
async def refused_content(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Broadcasts beside an endpoint that listens, and new endpoints beside a portal link."""
    scenarios = {"refused for their content": wrong_content, "refused for their project": elsewhere}
    async for observation in run_scenarios(context, scenarios):
        yield observation
    yield await _roll(context)
    async with context.portal_links, aclosing(_change_portal_link(context)) as changes:
        async for observation in changes:
            yield observation


async def wrong_content(scenario: Scenario) -> BroadcastsWithRefusedContent:
    """The right broadcasts repeat the idempotency keys; their markers are others."""
    plain = await scenario.destination("plain")
    await scenario.await_arrival(plain, await scenario.broadcast("before"))
    word, markers, keys = scenario.bodies.word, [], []
    for field, value in WRONG_BROADCASTS.items():
        markers.append(word("refused"))
        keys.append(word("key"))
        given = {"data": {MARKER: markers[-1]}, "idempotency_key": keys[-1], field: value}
        body = scenario.bodies.broadcast(**given)
        await scenario.trial.call("createBroadcastEvent", role=REFUSED_BROADCAST, body=body)
    roles = {**dict.fromkeys(keys, SAME_KEY), word("fresh key"): FRESH_KEY}
    for key, role in roles.items():
        body = scenario.bodies.broadcast(idempotency_key=key)
        await scenario.trial.call("createBroadcastEvent", role=role, body=body)
    await scenario.await_arrival(plain, await scenario.broadcast(SENTINEL))
    await scenario.await_silence()
    return await scenario.observe(BroadcastsWithRefusedContent, markers=tuple(markers))


async def elsewhere(scenario: Scenario) -> RefusedBroadcasts:
    """With the key of another project, and for a project that does not exist."""
    plain = await scenario.destination("plain")
    await scenario.await_arrival(plain, await scenario.broadcast("before"))
    own, *others = scenario.context.projects
    projects = [Project(id=own.id, api_key=other.api_key) for other in others[:1]]
    projects.append(scenario.context.unknown_project())
    markers = []
    for project in projects:
        markers.append(scenario.bodies.word("refused"))
        body = scenario.bodies.broadcast(data={MARKER: markers[-1]})
        await scenario.trial.call(
            "createBroadcastEvent", role=REFUSED, body=body, key=Key.FOREIGN, project=project
        )
    await scenario.await_arrival(plain, await scenario.broadcast(SENTINEL))
    await scenario.await_silence()
    return await scenario.observe(RefusedBroadcasts, markers=tuple(markers))


async def _roll(context: ExperimentContext) -> Evidence:
    """A roll with the right secret and a wrong expiration."""
    trial, bodies = context.trial("a refused roll changes nothing"), RequestBodies.of(context)
    body = bodies.quiet_endpoint()
    created = await create_endpoint(context, trial, role="prepare", body=body)
    if created.uid is None:
        return trial.not_observed(ChangesWithRefusedContent, created.reason)
    await trial.call("getEndpoint", role="before", uid=created.uid)
    body = bodies.roll(secret=bodies.secret(), expiration=WRONG_EXPIRATION)
    await trial.call("expireEndpointSecret", role=TRIED, uid=created.uid, body=body)
    await trial.call("getEndpoint", role="after", uid=created.uid)
    return trial.observe(ChangesWithRefusedContent, changed="secrets")


async def _change_portal_link(context: ExperimentContext) -> AsyncGenerator[Evidence, None]:
    trial = context.trial("portal link as it was")
    existing = await find_changeable_links(context, trial, pages=1)
    if not existing.links:
        yield trial.not_observed(CreationsWithRefusedContent, existing.reason)
        return
    link = existing.links[0]
    async with put_back_afterwards(context, trial, link):
        yield await _create_for_owner_of(context, link)
        yield await _update(context, link)
    yield trial.observe(Preparation)


async def _update(context: ExperimentContext, link: Mapping[str, Any]) -> ChangesWithRefusedContent:
    """Updates with the right name and a wrong other field."""
    trial, bodies = context.trial("refused updates change nothing"), RequestBodies.of(context)
    await trial.call("getPortalLink", role="before", uid=link["uid"])
    for field, value in WRONG_UPDATES.items():
        given = {**kept_fields(bodies, link), "name": context.word("renamed"), field: value}
        body = bodies.portal_link(**given)
        await trial.call("updatePortalLink", role=TRIED, uid=link["uid"], body=body)
    await trial.call("getPortalLink", role="after", uid=link["uid"])
    return trial.observe(ChangesWithRefusedContent, changed="name")


async def _create_for_owner_of(
    context: ExperimentContext, link: Mapping[str, Any]
) -> CreationsWithRefusedContent:
    trial, bodies = context.trial("endpoints leave nothing"), RequestBodies.of(context)
    owner, place = context.word("owner"), {"portalLinkID": link["uid"]}
    await give_owner(trial, bodies, link, owner)
    body = bodies.quiet_endpoint(owner_id=owner)
    await trial.call("createEndpoint", role="prepare", body=body)
    await trial.call("getPortalLink", role="before", path=place)
    lacking = context.lacking_fields()
    wrong = {field: value for field, value in WRONG_ENDPOINTS.items() if field not in lacking}
    for field, value in wrong.items():
        body = bodies.quiet_endpoint(**{"owner_id": owner, field: value})
        await trial.call("createEndpoint", role=TRIED, body=body)
    await trial.call("getPortalLink", role="after", path=place)
    return trial.observe(CreationsWithRefusedContent)
