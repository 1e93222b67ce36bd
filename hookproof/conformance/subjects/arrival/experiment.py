"""Broadcasts of many payloads, and many at once: does all of it arrive, once (sections 1, 2.3, 4.8
and 6)?

A slow service is not given up as long as events keep arriving.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.experiments.scenario_run import run_scenarios
from hookproof.conformance.experiments.support.payloads import payloads
from hookproof.conformance.experiments.support.telling_texts import visible_texts
from hookproof.conformance.model.evidence import Evidence
from hookproof.conformance.model.experiment_registry import Sharing, experiment
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.observations.destinations import CONTENT_TYPE, FORM, Destination
from hookproof.conformance.subjects.arrival.evidence import (
    AT_A_PLAIN_URL,
    FORM_TYPE,
    JSON_TYPE,
    WITHOUT_TYPE,
    BroadcastFlood,
    PayloadBroadcasts,
)
from hookproof.spec.dialect.groups.requests import accepted_levels, most

# How long that goes on at most, in seconds, by profile.
PATIENCE_S: Final = {Profile.QUICK: 20.0, Profile.STANDARD: 40.0, Profile.DEEP: 120.0}


async def await_drain(scenario: Scenario, destination: Destination) -> None:
    """Wait until all events have arrived, or none has for as long as one delivery may take."""
    deadline = scenario.context.loop.time() + PATIENCE_S[scenario.context.profile]
    before, arrived = -1, 0
    while before < arrived:
        left_s = deadline - scenario.context.loop.time()
        before = arrived
        arrived = len(
            await scenario.await_arrival(
                destination,
                *scenario.events,
                timeout_s=max(0.0, min(scenario.context.budgets.delivery_s, left_s)),
            )
        )


# What the URL of an endpoint ends with, parts that software likes to write anew or to drop,
# and its content type.
ENDS_OF_URLS: Final = {
    WITHOUT_TYPE: ("?list=1&list=2&empty=&sum=1+1&space=a%20b", None),
    JSON_TYPE: (
        "/a%2Fb/c%3Ad?next=https%3A%2F%2Fexample.com%2F%3Fa%3D1%26b%3D2&percent=100%25",
        CONTENT_TYPE,
    ),
    FORM_TYPE: ("/Orders/./2//;v=1/?lower=%c3%bc&flag", FORM),
}


@experiment(
    "broadcast",
    observes=(PayloadBroadcasts,),
    sharing=Sharing.EARLY,
    endpoints=4,
    broadcasts=18,
)
async def broadcast(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Broadcast every payload, and one event to every content type."""
    async for observation in run_scenarios(
        context, {"payloads": every_payload, "content types": content_types}
    ):
        yield observation


async def every_payload(scenario: Scenario) -> PayloadBroadcasts:
    """Each payload with custom headers of its own, to an endpoint with the default content type.

    One that is refused takes none of the others with it.
    """
    plain = await scenario.destination("plain")
    rules = scenario.dialect.requests
    room = {"size_limit": most(rules.size_limit), "nesting": accepted_levels(rules)}
    for name in payloads("", **room):
        marker = scenario.new_marker()
        await scenario.try_broadcast(
            name,
            marker=marker,
            raw_data=payloads(marker, **room)[name],
            custom_headers={
                "X-Hookproof-Marker": marker,
                "x-order-number": scenario.bodies.word("order"),
            },
        )
    word = scenario.bodies.word
    await scenario.try_broadcast(
        "with custom headers that tell",
        custom_headers={f"X-{word('Order')}": value for value in visible_texts(word("value"))},
    )
    await scenario.broadcast("without custom headers")
    scenario.context.let_others_broadcast()
    await await_drain(scenario, plain)
    return await scenario.observe(PayloadBroadcasts)


async def content_types(scenario: Scenario) -> PayloadBroadcasts:
    """An event without custom headers and one with some, to an endpoint with JSON, one with a form,
    and one without content type.
    """
    destinations = await scenario.create_all(
        *(_at(scenario, name, rest, kind) for name, (rest, kind) in ENDS_OF_URLS.items())
    )
    data = {"city": "Zürich & Bern", "sum": "1+1=2", "empty": ""}
    await scenario.broadcast("event", data=data)
    headers = {"X-Order-Number": scenario.bodies.word("order")}
    await scenario.try_broadcast("event with a custom header", data=data, custom_headers=headers)
    await scenario.await_everywhere(destinations, *scenario.events)
    return await scenario.observe(PayloadBroadcasts)


async def _at(
    scenario: Scenario, name: str, rest: str, content_type: str | None
) -> Destination | None:
    """An endpoint whose URL ends so, or one with a plain URL where a service refuses that.

    One without content type has to be taken.
    """
    created = await scenario.try_destination(name, rest=rest, content_type=content_type)
    if created is None:
        for exchange in [each for each in scenario.trial.exchanges if each.role == name]:
            scenario.trial.rename(exchange, f"tried: {name}")
    last = scenario.destination if content_type is None else scenario.try_destination
    return created or await last(AT_A_PLAIN_URL[name], content_type=content_type)


# How many broadcasts there are, by profile.
MANY: Final = {Profile.QUICK: 30, Profile.STANDARD: 200, Profile.DEEP: 400}
# Where others have a hundred endpoints in the project, as many deliveries come from fewer events.
MANY_IF_SHARED: Final = {**MANY, Profile.STANDARD: 30}

AT_A_TIME: Final = 8


@experiment(
    "flood",
    observes=(BroadcastFlood,),
    sharing=Sharing.ALONE,
    sharing_in={Profile.QUICK: Sharing.EARLY, Profile.STANDARD: Sharing.EARLY},
    endpoints=1,
    broadcasts=30,
)
async def flood(context: ExperimentContext) -> AsyncIterator[Evidence]:
    async for observation in run_scenarios(context, {"many": many_events}):
        yield observation


async def many_events(scenario: Scenario) -> BroadcastFlood:
    """Many events, and the silence after the last of them."""
    plain = await scenario.destination("plain")
    concurrency_limit = asyncio.Semaphore(AT_A_TIME)

    async def broadcast_one(number: int) -> None:
        async with concurrency_limit:
            await scenario.broadcast(f"event {number}", data={"number": number})

    context = scenario.context
    many = (MANY_IF_SHARED if context.shares_project else MANY)[context.profile]
    await asyncio.gather(*map(broadcast_one, range(many)))
    context.let_others_broadcast()
    await await_drain(scenario, plain)
    await scenario.await_silence()
    return await scenario.observe(BroadcastFlood)
