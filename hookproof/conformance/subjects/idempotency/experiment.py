"""The same broadcast twice, with and without an idempotency_key: what the answers report, and what
is delivered again (sections 2.8, 4.8 and 6).
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from typing import Final

from hookproof.conformance.experiments.context import ExperimentContext, Trial
from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.experiments.scenario_run import ScenarioFunction, run_scenarios
from hookproof.conformance.experiments.support.existing_resources import NO_SECOND_PROJECT
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.experiments.support.telling_texts import LENGTH, texts
from hookproof.conformance.model.evidence import Evidence, PreconditionFailed
from hookproof.conformance.model.experiment_registry import Sharing, experiment
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.observations.answer import refused_as_duplicate
from hookproof.conformance.observations.sentinel import SENTINEL
from hookproof.conformance.subjects.events.evidence import (
    DifferentEvents,
    DuplicatesAtOnce,
    EventDifference,
    RepeatedKey,
)
from hookproof.conformance.subjects.idempotency.evidence import (
    DUPLICATE,
    FIRST,
    ORIGINAL,
    OWN_KEY,
    SAME_KEY,
    SECOND,
    THERE,
    USED,
    DuplicateBroadcast,
    KeysOfTwoProjects,
    RepeatedBroadcast,
)

AT_ONCE = 10

Body = Mapping[str, object]


@experiment(
    "idempotency",
    observes=(RepeatedKey, DuplicatesAtOnce, DifferentEvents),
    busy=True,
    broadcasts=5,
)
async def idempotency(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Send the same key again, with other data, at once and elsewhere; other keys; no key."""
    bodies = RequestBodies.of(context)
    body = bodies.broadcast(idempotency_key=context.word("key"))
    yield await _repeat_key(context, "same key again", body, body)
    yield await repeat_telling_key(context, bodies)
    body = bodies.broadcast(idempotency_key=context.word("key"))
    other = {**body, "data": {"other": context.word("data")}}
    yield await _repeat_key(context, "same key, other data", body, other)
    body = bodies.broadcast(idempotency_key=context.word("key"))
    other = {**body, "event_type": bodies.event_value("event_type")}
    yield await _repeat_key(context, "same key, another event_type", body, other)
    body = bodies.broadcast()
    keyed = [{**body, "idempotency_key": context.word("key")} for _ in range(3)]
    yield await _broadcast_different(context, EventDifference.KEY, keyed)
    for name, keys in _near_keys(context).items():
        yield await _broadcast_near(
            context, name, [{**body, "idempotency_key": key} for key in keys]
        )
    if "idempotency_key" not in context.dialect.requests.create_broadcast_event_requires:
        yield await _broadcast_different(context, EventDifference.NO_KEY, [body, body])
    yield await _broadcast_at_once(context, bodies)
    yield await _broadcast_elsewhere(context, bodies)


async def _repeat_key(
    context: ExperimentContext, name: str, body: Body, again: Body
) -> RepeatedKey:
    trial = context.trial(name)
    await _broadcast_in_turn(trial, [body, again])
    return trial.observe(RepeatedKey)


async def repeat_telling_key(context: ExperimentContext, bodies: RequestBodies) -> Evidence:
    """Repeat the first key that is accepted of those that show whether they are kept as sent.

    A service may refuse any of them: a refusal is no part of the observation.
    """
    for key in texts(context.word("key")):
        trial = context.trial("same key of many kinds of characters")
        body = bodies.broadcast(idempotency_key=key)
        first = await trial.call("createBroadcastEvent", role="first", body=body)
        if first.succeeded:
            await trial.call("createBroadcastEvent", role="again", body=body)
            return trial.observe(RepeatedKey)
    return trial.not_observed(RepeatedKey, "the target refuses keys of many kinds of characters")


async def _broadcast_different(
    context: ExperimentContext, difference: EventDifference, bodies: Sequence[Body]
) -> DifferentEvents:
    trial = context.trial(difference)
    await _broadcast_in_turn(trial, bodies)
    return trial.observe(DifferentEvents, difference=difference)


def _near_keys(context: ExperimentContext) -> dict[str, list[str]]:
    """Keys that are alike to a service that trims them, ignores their case or their punctuation,
    unescapes them, brings them into a normal form of Unicode, drops characters, or cuts them.
    """
    word, long = context.word("Key"), context.word("key") * (LENGTH // 10)
    return {
        "keys in another case, and with spaces": [word, word.swapcase(), f" {word}", f"{word} "],
        "keys with other punctuation": [
            f"{word}{end}" for end in ("-1.2", "_1-2", "12", "%2D1.2", "&#45;1.2")
        ],
        "keys of other characters": [
            f"{word}{end}" for end in ("\u00e9", "e\u0301", "\U0001f600", "\U0001d518")
        ],
        "long keys with another end": [f"{long}-1", f"{long}-2"],
    }


async def _broadcast_near(
    context: ExperimentContext, name: str, bodies: Sequence[Body]
) -> DifferentEvents:
    """Any of these keys may be refused."""
    trial = context.trial(name)
    for body in bodies:
        await trial.call("createBroadcastEvent", role="near", body=body)
    return trial.observe(DifferentEvents, difference=EventDifference.KEY)


async def _broadcast_in_turn(trial: Trial, bodies: Sequence[Body]) -> None:
    for position, body in enumerate(bodies):
        await trial.call("createBroadcastEvent", role="again" if position else "first", body=body)


async def _broadcast_at_once(context: ExperimentContext, bodies: RequestBodies) -> DuplicatesAtOnce:
    trial = context.trial("same key at once")
    body = bodies.broadcast(idempotency_key=context.word("key"))
    await asyncio.gather(
        *(trial.call("createBroadcastEvent", role="at once", body=body) for _ in range(AT_ONCE))
    )
    return trial.observe(DuplicatesAtOnce)


async def _broadcast_elsewhere(context: ExperimentContext, bodies: RequestBodies) -> Evidence:
    trial = context.trial(EventDifference.PROJECT)
    if len(context.projects) < 2:  # noqa: PLR2004
        return trial.not_observed(DifferentEvents, NO_SECOND_PROJECT)
    body = bodies.broadcast(idempotency_key=context.word("key"))
    await trial.call("createBroadcastEvent", role="first", body=body)
    await trial.call("createBroadcastEvent", role="again", body=body, project=context.projects[1])
    return trial.observe(DifferentEvents, difference=EventDifference.PROJECT)


# A service that remembers keys for some seconds has forgotten one by then.
LATER_S: Final = 5.5


@experiment(
    "repeats",
    observes=(DuplicateBroadcast, RepeatedBroadcast, KeysOfTwoProjects),
    sharing=Sharing.EARLY,
    endpoints=3,
    broadcasts=8,
)
async def repeats(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Repeat a broadcast with the same key, one without any key, and keys in another project."""
    scenarios: dict[str, ScenarioFunction] = {
        "same key": same_key,
        "no key": no_key,
        "same keys in another project": same_keys_elsewhere,
    }
    if context.profile >= Profile.STANDARD:
        scenarios["same key some seconds later"] = partial(same_key, after_s=LATER_S)
    async for observation in run_scenarios(context, scenarios):
        yield observation


async def same_key(scenario: Scenario, *, after_s: float = 0.0) -> DuplicateBroadcast:
    """The same body with the same key twice, `after_s` seconds apart, then a sentinel."""
    plain = await scenario.destination("plain")
    key, marker, kind = scenario.bodies.word("key"), scenario.new_marker(), _type(scenario)
    await scenario.broadcast(ORIGINAL, marker=marker, idempotency_key=key, event_type=kind)
    await asyncio.sleep(after_s)  # not synchronisation: a service may forget a key
    try:
        await scenario.broadcast(DUPLICATE, marker=marker, idempotency_key=key, event_type=kind)
    except PreconditionFailed:
        if not refused_as_duplicate(scenario.trial.exchanges[-1], scenario.dialect):
            raise
    sentinel = await scenario.broadcast(SENTINEL)
    await scenario.await_arrival(plain, sentinel)
    await scenario.await_silence()
    return await scenario.observe(DuplicateBroadcast)


async def no_key(scenario: Scenario) -> RepeatedBroadcast:
    """The same body twice without a key, where the dialect does not require one."""
    if "idempotency_key" in scenario.dialect.requests.create_broadcast_event_requires:
        return await scenario.observe(RepeatedBroadcast, key_required=True)
    plain = await scenario.destination("plain")
    marker, kind = scenario.new_marker(), _type(scenario)
    first = await scenario.broadcast(FIRST, marker=marker, event_type=kind)
    await scenario.broadcast(SECOND, marker=marker, event_type=kind)
    scenario.context.let_others_broadcast()
    await scenario.await_arrival(plain, first, count=2)
    return await scenario.observe(RepeatedBroadcast)


def _type(scenario: Scenario) -> str:
    """An event type of its own: what is seen again must not be alike to what was seen before."""
    return f"conformance.{scenario.bodies.word('repeat')}"


async def same_keys_elsewhere(scenario: Scenario) -> KeysOfTwoProjects:
    """Keys that one project uses in events of another, among events with keys of their own."""
    if len(scenario.context.projects) < 2:  # noqa: PLR2004
        raise PreconditionFailed(NO_SECOND_PROJECT)
    here, there = scenario.context.projects[:2]
    place = await scenario.destination(THERE, project=there)
    keys = {name: scenario.bodies.word("key") for name in (*USED, *OWN_KEY)}
    keys |= dict(zip(SAME_KEY, map(keys.__getitem__, USED), strict=True))
    for each in USED:
        await scenario.broadcast(each, project=here, idempotency_key=keys[each])
    # In this order, so that what is lost for its place is not taken for what is lost for its key.
    # That a key is refused which another project has used is judged as well.
    sent = [
        await scenario.try_broadcast(each, project=there, idempotency_key=keys[each])
        for each in (SAME_KEY[0], *OWN_KEY, SAME_KEY[1])
    ]
    await scenario.await_arrival(place, *filter(None, sent))
    return await scenario.observe(KeysOfTwoProjects)
