"""Long texts in the fields that take any text: shown whole, or refused (4.1, 4.6 and 4.8)."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any, Final

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.support.existing_resources import (
    find_changeable_links,
    kept_fields,
    put_back_afterwards,
)
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.model.evidence import Evidence
from hookproof.conformance.model.experiment_registry import experiment
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.observations.answer import shown_uid
from hookproof.conformance.observations.preparation import Preparation
from hookproof.conformance.observations.requests.extremes import LongTextTried
from hookproof.conformance.target.client import encoded
from hookproof.spec.dialect.groups.requests import most

ENDPOINT_FIELDS: Final = ("name", "description", "owner_id")
PORTAL_LINK_FIELDS: Final = ("name", "owner_id")

# In characters, each of one byte: one more than the columns of some databases hold, and a megabyte.
LONG: Final = 64 * 1024
LONGEST: Final = 1024 * 1024

NOT_QUIET: Final = (
    "under this dialect disabled endpoints receive broadcasts, so that every answer to a broadcast"
    " would repeat the long text"
)


@experiment("long_texts", observes=(LongTextTried, Preparation), busy=True)
async def long_texts(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Send each field with each length, one request at a time."""
    bodies = RequestBodies.of(context)
    receives = context.dialect.delivery.disabled_receives
    if receives.decided and not receives.value:
        for field in ENDPOINT_FIELDS:
            for length in _lengths(context, bodies.quiet_endpoint(**{field: ""})):
                yield await _create_endpoint(context, bodies, field, length)
    else:
        yield context.trial("endpoints with long texts").not_observed(LongTextTried, NOT_QUIET)
    for field in _event_fields(context):
        for length in _lengths(context, bodies.broadcast(**{field: ""})):
            yield await _broadcast(context, bodies, field, length)
    async with context.portal_links, aclosing(_update_portal_link(context, bodies)) as updates:
        async for observation in updates:
            yield observation


def _event_fields(context: ExperimentContext) -> tuple[str, ...]:
    """The fields of a broadcast; an event_type that deliveries carry in a header must be short."""
    in_header = context.dialect.delivery.event_type_header is not None
    return ("idempotency_key",) if in_header else ("event_type", "idempotency_key")


def _lengths(context: ExperimentContext, rest: Mapping[str, Any]) -> tuple[int, ...]:
    """The lengths of a text for which a body with this rest is within the size limit (section 8).

    The longest one fills the limit, where that is below a megabyte.
    """
    room = most(context.dialect.requests.size_limit) - len(encoded(rest))
    longest = min(LONGEST, room)
    if longest < LONG:
        return ()
    return (LONG,) if context.profile is Profile.QUICK else (LONG, longest)


def _text(context: ExperimentContext, length: int) -> str:
    """A text of this length that no other call returns; a run file can compress it."""
    return context.word("long").ljust(length, "x")


async def _create_endpoint(
    context: ExperimentContext, bodies: RequestBodies, field: str, length: int
) -> Evidence:
    trial = context.trial(f"endpoint, {field} of {length} characters")
    body = bodies.quiet_endpoint(**{field: _text(context, length)})
    created = await trial.call("createEndpoint", role="tried", body=body)
    uid = shown_uid(created)
    if uid is not None:
        await trial.call("getEndpoint", role="fetch", path={"endpointID": uid})
    return trial.observe(LongTextTried, operation_id="createEndpoint", field=field, length=length)


async def _broadcast(
    context: ExperimentContext, bodies: RequestBodies, field: str, length: int
) -> Evidence:
    trial = context.trial(f"broadcast, {field} of {length} characters")
    body = bodies.broadcast(**{field: _text(context, length)})
    await trial.call("createBroadcastEvent", role="tried", body=body)
    return trial.observe(
        LongTextTried, operation_id="createBroadcastEvent", field=field, length=length
    )


async def _update_portal_link(
    context: ExperimentContext, bodies: RequestBodies
) -> AsyncGenerator[Evidence, None]:
    preparation = context.trial("portal link with long texts")
    existing = await find_changeable_links(context, preparation, pages=1)
    if not existing.links:
        yield preparation.not_observed(LongTextTried, existing.reason)
        return
    link = existing.links[0]
    async with put_back_afterwards(context, preparation, link):
        for field in PORTAL_LINK_FIELDS:
            kept = {**kept_fields(bodies, link), field: ""}
            for length in _lengths(context, bodies.portal_link(**kept)):
                body = bodies.portal_link(**{**kept, field: _text(context, length)})
                yield await _update(context, link, body, field, length)
    yield preparation.observe(Preparation)


async def _update(
    context: ExperimentContext,
    link: Mapping[str, Any],
    body: Mapping[str, Any],
    field: str,
    length: int,
) -> Evidence:
    trial = context.trial(f"portal link, {field} of {length} characters")
    place = {"portalLinkID": link["uid"]}
    await trial.call("updatePortalLink", role="tried", path=place, body=body)
    await trial.call("getPortalLink", role="fetch", path=place)
    return trial.observe(LongTextTried, operation_id="updatePortalLink", field=field, length=length)
