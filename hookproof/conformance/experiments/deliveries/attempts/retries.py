"""One event to endpoints that fail at first, each in another way: which attempts follow, and when
(sections 1, 6)?
"""

import asyncio
import math
from collections.abc import AsyncIterator, Mapping, Sequence
from http import HTTPStatus
from typing import Final

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.deliveries.attempts.refused_connections import (
    refused_connection,
)
from hookproof.conformance.experiments.deliveries.attempts.statuses import every_status
from hookproof.conformance.experiments.deliveries.retry_waiting import MARGIN_S, waits
from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.experiments.scenario_run import ScenarioFunction, run_scenarios
from hookproof.conformance.model.evidence import Evidence
from hookproof.conformance.model.experiment_registry import Sharing, experiment
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.model.tolerances import LATE_S
from hookproof.conformance.observations.delivery.attempts.refused_connections import (
    RefusedConnection,
)
from hookproof.conformance.observations.delivery.attempts.retries import (
    ACCEPTS_WITHOUT_CONTENT,
    ANSWERS_AT_ONCE,
    ASKS_FOR_PATIENCE,
    EVENT,
    FAILS_ONCE,
    FAILS_TWICE,
    NO_ANSWER_ONCE,
    REDIRECTS_ONCE,
    REFUSES_ONCE,
    RetriedDeliveries,
)
from hookproof.conformance.observations.delivery.attempts.statuses import AnsweredStatuses
from hookproof.conformance.observations.destinations import Destination, Event
from hookproof.receiver.replies.script import Reply
from hookproof.spec.dialect.given_settings import timeout_in_force

OK: Final = Reply(status=200)
FAILING: Final[Mapping[str, Sequence[Reply]]] = {
    FAILS_ONCE: [Reply(status=500), OK],
    FAILS_TWICE: [Reply(status=503, times=2), OK],
    # 410 ends a delivery wherever any answer does.
    REFUSES_ONCE: [Reply(status=HTTPStatus.GONE), OK],
    ACCEPTS_WITHOUT_CONTENT: [Reply(status=204), OK],
    ANSWERS_AT_ONCE: [OK],
}

# How many attempts are waited for where the first ones certainly fail.
ATTEMPTS: Final = {FAILS_ONCE: 2, REFUSES_ONCE: 2, FAILS_TWICE: 3, NO_ANSWER_ONCE: 2}

SHORT_TIMEOUT_S: Final = 1


@experiment(
    "retries",
    observes=(RetriedDeliveries, AnsweredStatuses, RefusedConnection),
    sharing=Sharing.CONFIRMED,
)
async def retries(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Broadcast to endpoints that fail, redirect, ask for patience, or do not answer at first.

    The events for every status would delay the further attempts of which the times are judged.
    """
    scenarios: list[dict[str, ScenarioFunction]] = [{"failures": failures}]
    if context.profile >= Profile.STANDARD:
        scenarios.append({"every status": every_status, "closed port": refused_connection})
    for one_after_the_other in scenarios:
        async for observation in run_scenarios(context, one_after_the_other):
            yield observation


async def failures(scenario: Scenario) -> RetriedDeliveries:
    """One event to endpoints that fail at first.

    It waits until one that answered with success would have been tried again.
    """
    second_s, third_s = waits(scenario.context, 3)
    asked_s = math.ceil(second_s + MARGIN_S)
    aside = await scenario.context.receiver.new_token()
    timeout = timeout_in_force(scenario.dialect, SHORT_TIMEOUT_S)
    destinations = await scenario.create_all(
        *(
            scenario.destination(name, replies=replies, advanced_signatures=name in ATTEMPTS)
            for name, replies in scripts(aside.url, asked_s).items()
        ),
        scenario.try_destination(
            NO_ANSWER_ONCE, replies=[Reply(hang=True), OK], http_timeout=timeout
        ),
    )
    event = await scenario.broadcast(EVENT)
    await scenario.await_everywhere(destinations, event)
    started = scenario.context.loop.time()
    patience_s = second_s + third_s + timeout + scenario.context.distant(LATE_S)
    await asyncio.gather(
        *(await_attempts(scenario, destination, event, patience_s) for destination in destinations)
    )
    over = started + max(second_s + third_s, asked_s) + MARGIN_S
    # The dialect's own time: by then every further attempt would have been made.
    await asyncio.sleep(max(0.0, over - scenario.context.loop.time()))
    await scenario.trial.arrivals(aside.token, count=0, timeout_s=0)
    return await scenario.observe(RetriedDeliveries, asked_s=asked_s, aside=aside.token)


def scripts(aside_url: str, asked_s: int) -> dict[str, Sequence[Reply]]:
    """What each destination that answers replies, by its name."""
    return {
        **FAILING,
        REDIRECTS_ONCE: [Reply(status=302, headers=(("Location", aside_url),)), OK],
        ASKS_FOR_PATIENCE: [Reply(status=503, headers=(("Retry-After", str(asked_s)),)), OK],
    }


async def await_attempts(
    scenario: Scenario, destination: Destination, event: Event, timeout_s: float
) -> None:
    """Wait for the further attempts that are due wherever the first one fails in every dialect."""
    count = ATTEMPTS.get(destination.name)
    is_final = scenario.dialect.retry.ends_delivery(HTTPStatus.GONE)
    if count is not None and not (destination.name == REFUSES_ONCE and True in is_final):
        await scenario.await_arrival(destination, event, count=count, timeout_s=timeout_s)
