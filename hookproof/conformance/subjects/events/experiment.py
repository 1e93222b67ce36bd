"""What the event in the answer to a broadcast shows, and what events and portal links show of
endpoints (sections 2.6, 2.8 and 4.8).
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any, Final

from hookproof.conformance.experiments.context import ExperimentContext, Trial
from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.experiments.scenario_run import run_scenarios
from hookproof.conformance.experiments.support.existing_resources import (
    fetch_list,
    find_changeable_links,
    give_owner,
    put_back_afterwards,
)
from hookproof.conformance.experiments.support.payloads import PAYLOADS
from hookproof.conformance.experiments.support.portal_links import (
    show_everywhere,
    show_in_portal_link,
)
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.experiments.support.telling_texts import (
    endpoint_texts,
    event_texts,
    find_accepted,
    texts,
)
from hookproof.conformance.model.evidence import Evidence, Exchange, PreconditionFailed
from hookproof.conformance.model.experiment_registry import experiment
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.observations.answer import has_value, shown
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
from hookproof.conformance.subjects.events.evidence import (
    BroadcastWithField,
    BroadcastWithPayload,
    BroadcastWithQuery,
    BroadcastWithTellingQuery,
    BroadcastWithTellingTexts,
    EventBesideSources,
)
from hookproof.spec.dialect.vocabulary import EventQuery, EventSource
from hookproof.spec.field_roles import shown_as_sent

# Two parameters, one of them with characters that a query cannot carry as they are.
QUERY: Final = {"shop": "example", "note": "one & two"}


# How many pages of the list of sources are read at most to find the one that an event names.
SOURCE_PAGES: Final = 5


@experiment(
    "broadcast_answers",
    observes=(
        BroadcastWithField,
        BroadcastWithPayload,
        BroadcastWithQuery,
        BroadcastWithTellingQuery,
        BroadcastWithTellingTexts,
        EventBesideSources,
        Preparation,
    ),
    busy=True,
    broadcasts=3,
)
async def broadcast_answers(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Broadcast once for each field and each payload."""
    bodies = RequestBodies.of(context)
    for field in ("event_type", "idempotency_key", "custom_headers"):
        trial = context.trial(f"broadcast with {field}")
        body = bodies.broadcast(**{field: bodies.event_value(field)})
        await trial.call("createBroadcastEvent", role="create", body=body)
        yield trial.observe(BroadcastWithField, field=field)
    trial = context.trial("broadcast with acknowledged_at")
    await _broadcast_with_a_time(trial, bodies)
    yield trial.observe(BroadcastWithField, field="acknowledged_at")
    for name, data in PAYLOADS.items():
        trial = context.trial(f"broadcast with data: {name}")
        # Not escaped, so that there are bytes beyond ASCII.
        raw_body = json.dumps(bodies.broadcast(data=data), ensure_ascii=False).encode()
        await trial.call("createBroadcastEvent", role="create", raw_body=raw_body)
        yield trial.observe(BroadcastWithPayload)
    async for observation in _with_telling_texts(context, bodies):
        yield observation
    if context.dialect.representation.event_query.prefers(EventQuery.REQUEST):
        trial = context.trial("broadcast with a query")
        body = bodies.broadcast()
        await trial.call("createBroadcastEvent", role="create", body=body, query=QUERY)
        yield trial.observe(BroadcastWithQuery)
        trial = context.trial("broadcast with a query whose texts tell")
        query = {"note": texts(bodies.word("query"))[0]}
        await trial.call("createBroadcastEvent", role="tried", body=bodies.broadcast(), query=query)
        yield trial.observe(BroadcastWithTellingQuery)
    names_source = context.dialect.representation.event_source.prefers(EventSource.LISTED)
    if names_source and not context.why_lacking("sources"):
        trial = context.trial("broadcast beside the sources")
        await fetch_list(trial, "listSources", pages=SOURCE_PAGES)
        await trial.call("createBroadcastEvent", role="create", body=bodies.broadcast())
        yield trial.observe(EventBesideSources)


async def _broadcast_with_a_time(trial: Trial, bodies: RequestBodies) -> None:
    """Broadcast with acknowledged_at in one form after another until one is taken.

    The one to be judged is that, or the first if there is none.
    """
    tried = []
    for time in bodies.timestamps():
        body = bodies.broadcast(acknowledged_at=time)
        tried.append(await trial.call("createBroadcastEvent", role="tried", body=body))
        if tried[-1].succeeded:
            break
    trial.rename(tried[-1] if tried[-1].succeeded else tried[0], "create")


async def _with_telling_texts(
    context: ExperimentContext, bodies: RequestBodies
) -> AsyncIterator[Evidence]:
    """Broadcast with every text that the target accepts, all at once."""
    probe = context.trial("texts of events that a target accepts")

    async def broadcast(values: Mapping[str, Any]) -> Exchange:
        key = {"idempotency_key": bodies.word("probe")} if "idempotency_key" in values else {}
        if key:  # the key itself stays new
            key["idempotency_key"] += values["idempotency_key"]
        body = bodies.broadcast(**{**values, **key})
        return await probe.call("createBroadcastEvent", role="probe", body=body)

    accepted = await find_accepted(event_texts(bodies), broadcast)
    yield probe.observe(Preparation)
    trial = context.trial("broadcast with texts that tell")
    await trial.call("createBroadcastEvent", role="create", body=bodies.broadcast(**accepted))
    yield trial.observe(BroadcastWithTellingTexts)


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
    endpoints=1,
    broadcasts=1,
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
    await show_everywhere(context, trial, link, owner, [])
    return trial.observe(ManyInPortalLink, link_uid=str(link["uid"]))


async def show_existing(
    context: ExperimentContext, link: Record, endpoint: Record
) -> RecordsInPortalLink:
    """See an endpoint that was created before, and its owner's portal link."""
    trial = context.trial("record of an endpoint that was delivered to")
    owner = str(endpoint["owner_id"])
    await give_owner(trial, RequestBodies.of(context), link, owner)
    await show_everywhere(context, trial, link, owner, [str(endpoint["uid"])])
    return trial.observe(RecordsInPortalLink)
