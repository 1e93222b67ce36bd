"""Broadcasts of many payloads to endpoints of each content type: does all of it arrive (sections
2.3, 4.8, 6)?
"""

from collections.abc import AsyncIterator

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.deliveries.arrival.draining import await_drain
from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.experiments.scenario_run import run_scenarios
from hookproof.conformance.experiments.support.payloads import payloads
from hookproof.conformance.experiments.support.telling_texts import visible_texts
from hookproof.conformance.model.evidence import Evidence
from hookproof.conformance.model.experiment_registry import Sharing, experiment
from hookproof.conformance.observations.delivery.arrival.broadcasts import FORM, PayloadBroadcasts
from hookproof.spec.dialect.groups.requests import accepted_levels, most


@experiment("broadcast", observes=(PayloadBroadcasts,), sharing=Sharing.CONFIRMED)
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
    await await_drain(scenario, plain)
    return await scenario.observe(PayloadBroadcasts)


async def content_types(scenario: Scenario) -> PayloadBroadcasts:
    """An event without custom headers and one with some, to an endpoint with JSON, one with a form,
    and one without content type.
    """
    destinations = await scenario.create_all(
        scenario.destination("without content type"),
        scenario.try_destination("json", content_type="application/json"),
        scenario.try_destination("form", content_type=FORM),
    )
    data = {"city": "Zürich & Bern", "sum": "1+1=2", "empty": ""}
    await scenario.broadcast("event", data=data)
    headers = {"X-Order-Number": scenario.bodies.word("order")}
    await scenario.try_broadcast("event with a custom header", data=data, custom_headers=headers)
    await scenario.await_everywhere(destinations, *scenario.events)
    return await scenario.observe(PayloadBroadcasts)
