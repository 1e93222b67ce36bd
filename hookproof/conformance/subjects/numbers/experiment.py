"""Numbers at and beyond every bound that implementations have (sections 4.1, 4.3, 4.4, 4.7, 8).

Each is sent in each numeric field of a body, and as perPage of both lists.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from typing import Final

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.support.created_endpoints import (
    CreatedEndpoint,
    create_endpoint,
)
from hookproof.conformance.experiments.support.existing_resources import LISTS
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.model.evidence import Evidence, Exchange
from hookproof.conformance.model.experiment_registry import Sharing, experiment
from hookproof.conformance.observations.answer import shown_uid
from hookproof.conformance.observations.extremes import ExtremePageSize, NumberTried
from hookproof.conformance.observations.preparation import Preparation
from hookproof.conformance.target.client import encoded_with

# As JSON and query parameters spell them: below zero, zero, one more than a signed integer of 32
# bits holds, one more than the integers that a double tells apart, one more than 64 bits hold, more
# than a double holds, and the zero that only floating-point numbers have.
NUMBERS: Final = ("-1", "0", "2147483648", "9007199254740992", "9223372036854775808", "1e400", "-0")

ENDPOINT_FIELDS: Final = ("http_timeout", "rate_limit", "rate_limit_duration")


@experiment(
    "numbers",
    observes=(NumberTried, ExtremePageSize, Preparation),
    busy=True,
    sharing=Sharing.QUIET,
)
async def numbers(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Send each number in each place, all at once but for rolls of the one secret."""
    bodies = RequestBodies.of(context)
    ordinary = context.trial("ordinary requests")
    created = await create_endpoint(context, ordinary, role="control", body=bodies.quiet_endpoint())
    listed = {
        name: await ordinary.call(name, role="control")
        for name in LISTS
        if not context.why_unasked(name)
    }
    yield ordinary.observe(Preparation)
    creations = [
        _create_endpoint(context, bodies, created.answer, field, number)
        for field in ENDPOINT_FIELDS
        if field not in context.lacking_fields()
        for number in NUMBERS
    ]
    pages = [
        _list(context, control, operation_id, number)
        for operation_id, control in listed.items()
        for number in NUMBERS
    ]
    observing: list[Awaitable[Evidence]] = [*creations, *pages]
    for observation in await asyncio.gather(*observing):
        yield observation
    async for observation in _roll_secrets(context, bodies, created):
        yield observation


async def _create_endpoint(
    context: ExperimentContext, bodies: RequestBodies, control: Exchange, field: str, number: str
) -> Evidence:
    trial = context.trial(f"endpoint with {field} {number}")
    trial.exchanges.append(control)
    raw_body = encoded_with(bodies.quiet_endpoint(), field, number)
    created = await trial.call("createEndpoint", role="tried", raw_body=raw_body)
    uid = shown_uid(created)
    if uid is not None:
        await trial.call("getEndpoint", role="fetch", uid=uid)
    return trial.observe(NumberTried, operation_id="createEndpoint", field=field, number=number)


async def _roll_secrets(
    context: ExperimentContext, bodies: RequestBodies, created: CreatedEndpoint
) -> AsyncIterator[Evidence]:
    preparation = context.trial("an ordinary roll")
    if created.uid is None:
        yield preparation.not_observed(NumberTried, created.reason)
        return
    body = bodies.roll(secret=bodies.secret(), expiration=max(1, bodies.expiration()))
    control = await preparation.call(
        "expireEndpointSecret", role="control", uid=created.uid, body=body
    )
    yield preparation.observe(Preparation)
    for number in NUMBERS:
        trial = context.trial(f"roll with expiration {number}")
        trial.exchanges.append(control)
        await trial.call(
            "expireEndpointSecret",
            role="tried",
            uid=created.uid,
            raw_body=encoded_with(bodies.roll(secret=bodies.secret()), "expiration", number),
        )
        yield trial.observe(
            NumberTried, operation_id="expireEndpointSecret", field="expiration", number=number
        )


async def _list(
    context: ExperimentContext, control: Exchange, operation_id: str, number: str
) -> Evidence:
    trial = context.trial(f"{operation_id} with perPage {number}")
    trial.exchanges.append(control)
    query = {"perPage": number}
    await trial.call(operation_id, role="tried", query=query)
    return trial.observe(ExtremePageSize, operation_id=operation_id, query=query)
