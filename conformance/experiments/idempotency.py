"""Idempotency: what the answers to broadcasts say of duplicates (sections 2.8, 4.8 and 6).

Facts of a case: `about`, one of the names below.
"""

import asyncio
from collections.abc import AsyncIterator

from conformance.evidence import Case
from conformance.experiments.bench import Bench, experiment
from conformance.experiments.request_bodies import RequestBodies

AT_ONCE = 10


@experiment("idempotency", busy=True)
async def idempotency(bench: Bench) -> AsyncIterator[Case]:
    """The same key again, with another body, at once, in another project; another key; no key."""
    bodies = RequestBodies.of(bench)
    body = bodies.broadcast(idempotency_key=bench.word("key"))
    yield await _in_turn(bench, "same key again", [body, body])
    body = bodies.broadcast(idempotency_key=bench.word("key"))
    yield await _in_turn(bench, "same key, other data", [body, {**body, "data": {"other": bench.word("data")}}])
    body = bodies.broadcast()
    yield await _in_turn(bench, "other key", [{**body, "idempotency_key": bench.word("key")} for _ in range(3)])
    if "idempotency_key" not in bench.dialect.requests.create_broadcast_event_requires:
        yield await _in_turn(bench, "no key", [body, body])
    yield await _at_once(bench, bodies)
    yield await _other_project(bench, bodies)


async def _in_turn(bench: Bench, about: str, sent: list[dict[str, object]]) -> Case:
    trial = bench.trial(about)
    for position, body in enumerate(sent):
        await trial.call("createBroadcastEvent", role="again" if position else "first", body=body)
    return trial.case(facts={"about": about})


async def _at_once(bench: Bench, bodies: RequestBodies) -> Case:
    trial = bench.trial("same key at once")
    body = bodies.broadcast(idempotency_key=bench.word("key"))
    await asyncio.gather(*(trial.call("createBroadcastEvent", role="at once", body=body) for _ in range(AT_ONCE)))
    return trial.case(facts={"about": "same key at once"})


async def _other_project(bench: Bench, bodies: RequestBodies) -> Case:
    trial = bench.trial("same key in another project")
    if len(bench.projects) < 2:  # noqa: PLR2004
        return trial.obstacle("it takes two projects: name a second one with its key in target.yaml")
    body = bodies.broadcast(idempotency_key=bench.word("key"))
    await trial.call("createBroadcastEvent", role="first", body=body)
    await trial.call("createBroadcastEvent", role="again", body=body, project=bench.projects[1])
    return trial.case(facts={"about": "same key in another project"})
