"""Endpoint records: what a portal link and an event show of an endpoint (sections 2.6 and 2.8)."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import suppress
from typing import Final

from hookproof.conformance.experiments.context import ExperimentContext, Trial
from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.experiments.scenario_run import run_scenarios
from hookproof.conformance.experiments.support.created_endpoints import create_endpoint
from hookproof.conformance.experiments.support.existing_resources import (
    find_changeable_links,
    give_owner,
    put_back_afterwards,
)
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.experiments.support.telling_texts import endpoint_texts
from hookproof.conformance.model.evidence import Evidence, PreconditionFailed
from hookproof.conformance.model.experiment_registry import experiment
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.observations.answer import has_value, shown, shown_uid
from hookproof.conformance.observations.endpoint_records import (
    FETCHED,
    ONE_OF_MANY,
    SHOWN,
    ManyInPortalLink,
    Record,
    RecordsInEvent,
    RecordsInPortalLink,
)
from hookproof.conformance.observations.preparation import Preparation
from hookproof.spec.field_roles import shown_as_sent

# What a record shows again as it was given; each endpoint has a url and an owner of its own.
RECORDED: Final = tuple(
    name for name in shown_as_sent("createEndpoint") if name not in ("url", "owner_id")
)
# Those of an endpoint that receives deliveries as they usually are: no limit holds back those of
# other experiments.
RECORDED_OF_EVENTS: Final = tuple(
    name
    for name in RECORDED
    if not name.startswith("rate_limit") and name not in ("advanced_signatures", "content_type")
)


# How many endpoints a portal link is to show: one more than pages of lists usually hold.
MANY: Final = {Profile.QUICK: 21, Profile.STANDARD: 101, Profile.DEEP: 101}


@experiment(
    "endpoint_records",
    observes=(RecordsInPortalLink, RecordsInEvent, ManyInPortalLink, Preparation),
)
async def endpoint_records(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """An endpoint of a portal link's owner, and one that a broadcast has reached."""
    reached: list[Record] = []
    async for observation in run_scenarios(context, {"records in an event": in_event}):
        if isinstance(observation, RecordsInEvent):
            reached += [shown(fetched) for fetched in observation.all_exchanges(FETCHED)]
        yield observation
    async with context.portal_links:
        trial = context.trial("portal link of the endpoint")
        existing = await find_changeable_links(context, trial, pages=1)
        if not existing.links:
            yield trial.not_observed(RecordsInPortalLink, existing.reason)
            return
        bodies = RequestBodies.of(context)
        fields = {field: bodies.endpoint_value(field) for field in RECORDED}
        async with put_back_afterwards(context, trial, existing.links[0]):
            yield await show_in_portal_link(
                context, existing.links[0], "records in a portal link", fields
            )
            for endpoint in reached:
                if has_value(endpoint.get("uid")) and has_value(endpoint.get("owner_id")):
                    yield await show_existing(context, existing.links[0], endpoint)
            yield await show_many(context, existing.links[0])
        yield trial.observe(Preparation)


async def in_event(scenario: Scenario) -> RecordsInEvent:
    """The endpoint has two secrets, and is fetched before the event, which shows it in its answer.

    Its texts tell as far as the target accepts them all.
    """
    candidates = endpoint_texts(scenario.bodies)
    telling = {field: candidates[field][0] for field in (*RECORDED_OF_EVENTS, "owner_id")}
    plain = await scenario.try_destination("plain", **telling)
    if plain is None:
        settings = {field: scenario.bodies.endpoint_value(field) for field in RECORDED_OF_EVENTS}
        plain = await scenario.destination("plain", **settings)
    with suppress(PreconditionFailed):
        plain = await scenario.roll("roll", plain, scenario.bodies.lasting_expiration())
    uid, _ = await scenario.find_uid(plain, broadcasting=True)
    if uid is not None:
        await scenario.trial.call("getEndpoint", role=FETCHED, uid=uid)
    await scenario.await_arrival(plain, await scenario.broadcast(SHOWN))
    return await scenario.observe(RecordsInEvent)


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
    await _show_everywhere(context, trial, link, owner, uids)
    return trial.observe(RecordsInPortalLink)


async def show_many(context: ExperimentContext, link: Record) -> Evidence:
    """Create many endpoints, and see the portal link of their owner."""
    trial, bodies = context.trial("many endpoints of one owner"), RequestBodies.of(context)
    if context.shares_project and not bodies.quiet_fields():
        return trial.not_observed(
            ManyInPortalLink,
            "each broadcast of other experiments would reach them all, since disabled endpoints"
            " receive, too; one project for each experiment helps",
        )
    owner = context.word("owner")
    await asyncio.gather(
        *(
            trial.call(
                "createEndpoint", role=ONE_OF_MANY, body=bodies.quiet_endpoint(owner_id=owner)
            )
            for _ in range(MANY[context.profile])
        )
    )
    await give_owner(trial, bodies, link, owner)
    await _show_everywhere(context, trial, link, owner, [])
    return trial.observe(ManyInPortalLink, link_uid=str(link["uid"]))


async def show_existing(
    context: ExperimentContext, link: Record, endpoint: Record
) -> RecordsInPortalLink:
    """See an endpoint that was created before, and its owner's portal link."""
    trial = context.trial("record of an endpoint that was delivered to")
    owner = str(endpoint["owner_id"])
    await give_owner(trial, RequestBodies.of(context), link, owner)
    await _show_everywhere(context, trial, link, owner, [str(endpoint["uid"])])
    return trial.observe(RecordsInPortalLink)


async def _show_everywhere(
    context: ExperimentContext, trial: Trial, link: Record, owner: str, uids: Sequence[str]
) -> None:
    """See the portal link in the answers of all three operations that show one, between two
    retrievals of its endpoints.
    """
    await _fetch(trial, uids)
    await trial.call("getPortalLink", role=SHOWN, uid=link["uid"])
    by_owner = context.dialect.paging.owner_filter
    of_owner = {} if by_owner is None else {by_owner: owner}
    await trial.call("listPortalLinks", role=SHOWN, query=of_owner)
    trial.rename(await give_owner(trial, RequestBodies.of(context), link, owner), SHOWN)
    await _fetch(trial, uids)


async def _fetch(trial: Trial, uids: Iterable[str]) -> None:
    await asyncio.gather(*(trial.call("getEndpoint", role=FETCHED, uid=uid) for uid in uids))
