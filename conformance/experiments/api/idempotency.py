"""Idempotency: what the answers to broadcasts say of duplicates (sections 2.8, 4.8 and 6).

Facts of a case: `about`, one of the names below.
"""

import asyncio
from collections.abc import AsyncIterator

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.model.evidence import Evidence
from hookproof.conformance.model.experiment_registry import experiment

AT_ONCE = 10


@experiment("idempotency", busy=True)
async def idempotency(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """The same key again, with another body, at once, in another project; another key; no key."""
    bodies = RequestBodies.of(context)
    body = bodies.broadcast(idempotency_key=context.word("key"))
    yield await _in_turn(context, "same key again", [body, body])
    body = bodies.broadcast(idempotency_key=context.word("key"))
    yield await _in_turn(
        context, "same key, other data", [body, {**body, "data": {"other": context.word("data")}}]
    )
    body = bodies.broadcast()
    yield await _in_turn(
        context, "other key", [{**body, "idempotency_key": context.word("key")} for _ in range(3)]
    )
    if "idempotency_key" not in context.dialect.requests.create_broadcast_event_requires:
        yield await _in_turn(context, "no key", [body, body])
    yield await _at_once(context, bodies)
    yield await _other_project(context, bodies)


async def _in_turn(
    context: ExperimentContext, about: str, sent: list[dict[str, object]]
) -> Evidence:
    trial = context.trial(about)
    for position, body in enumerate(sent):
        await trial.call("createBroadcastEvent", role="again" if position else "first", body=body)
    return trial.case(facts={"about": about})


async def _at_once(context: ExperimentContext, bodies: RequestBodies) -> Evidence:
    trial = context.trial("same key at once")
    body = bodies.broadcast(idempotency_key=context.word("key"))
    await asyncio.gather(
        *(trial.call("createBroadcastEvent", role="at once", body=body) for _ in range(AT_ONCE))
    )
    return trial.case(facts={"about": "same key at once"})


async def _other_project(context: ExperimentContext, bodies: RequestBodies) -> Evidence:
    trial = context.trial("same key in another project")
    if len(context.projects) < 2:  # noqa: PLR2004
        return trial.obstacle(
            "it takes two projects: name a second one with its key in target.yaml"
        )
    body = bodies.broadcast(idempotency_key=context.word("key"))
    await trial.call("createBroadcastEvent", role="first", body=body)
    await trial.call("createBroadcastEvent", role="again", body=body, project=context.projects[1])
    return trial.case(facts={"about": "same key in another project"})
