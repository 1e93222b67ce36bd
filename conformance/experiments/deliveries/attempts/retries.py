"""One event to endpoints that fail at first, each in another way: which attempts follow, and when
(sections 1, 6)?
"""

import asyncio
import math
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Final

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.deliveries.attempts.retry_waiting import MARGIN_S, waits
from hookproof.conformance.experiments.scenario import Scenario, run_scenarios
from hookproof.conformance.model.evidence import Evidence
from hookproof.conformance.model.experiment_registry import experiment
from hookproof.conformance.model.tolerances import LATE_S
from hookproof.conformance.observations.case import Case
from hookproof.conformance.observations.destinations import Destination, Event
from hookproof.receiver.replies.script import Reply

OK: Final = Reply(status=200)
FAILING: Final[Mapping[str, Sequence[Reply]]] = {
    "fails once": [Reply(status=500), OK],
    "fails twice": [Reply(status=503, times=2), OK],
    "refuses once": [Reply(status=404), OK],
    "accepts without content": [Reply(status=204), OK],
    "answers at once": [OK],
}
# How many attempts are waited for where the first ones certainly fail.
ATTEMPTS: Final = {"fails once": 2, "refuses once": 2, "fails twice": 3, "does not answer once": 2}

SHORT_TIMEOUT_S: Final = 1


@experiment("retries", alone=True)
async def retries(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Broadcast to endpoints that fail once or twice, redirect, ask for patience, or do not answer."""
    async for case in run_scenarios(context, {"failures": failures}):
        yield case


async def failures(scenario: Scenario) -> Case:
    """One event to endpoints that fail at first; wait until one that recovered would have been
    tried again.
    """
    second_s, third_s = waits(scenario, 3)
    asked_s = math.ceil(second_s + MARGIN_S)
    aside = await scenario.context.receiver.new_token()
    scripts = {
        **FAILING,
        "redirects once": [Reply(status=302, headers=(("Location", aside.url),)), OK],
        "asks for patience": [Reply(status=503, headers=(("Retry-After", str(asked_s)),)), OK],
    }
    timeout = max(SHORT_TIMEOUT_S, scenario.dialect.requests.http_timeout_minimum)
    silent = [Reply(hang=True), OK]
    made = await scenario.together(
        *(
            scenario.destination(name, replies=replies, advanced_signatures=name in ATTEMPTS)
            for name, replies in scripts.items()
        ),
        scenario.destination("does not answer once", replies=silent, http_timeout=timeout),
    )
    event = await scenario.broadcast("event")
    await scenario.await_everywhere(made, event)
    started = scenario.context.loop.time()
    patience_s = second_s + third_s + timeout + LATE_S
    await asyncio.gather(*(await_attempts(scenario, one, event, patience_s) for one in made))
    over = started + max(second_s + third_s, asked_s) + MARGIN_S
    await asyncio.sleep(max(0.0, over - scenario.context.loop.time()))
    await scenario.trial.arrivals(aside.token, count=0, timeout_s=0)
    return await scenario.case(asked_s=asked_s, aside=aside.token)


async def await_attempts(
    scenario: Scenario, destination: Destination, event: Event, timeout_s: float
) -> None:
    """Wait for the further attempts that are due wherever the first one fails in every dialect."""
    count = ATTEMPTS.get(destination.name)
    if count is not None:
        await scenario.await_arrival(destination, event, count=count, timeout_s=timeout_s)
