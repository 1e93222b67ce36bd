"""Odd answers: reset, cut, stretched or swollen. Do deliveries go on (hygiene of section 6)?

An endpoint answers oddly until it has got the event, so that neither events of other experiments
nor further attempts are in its way afterwards.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Final

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.deliveries.retry_waiting import (
    MARGIN_S,
    await_end,
    wait_for_another,
)
from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.experiments.scenario_run import run_scenarios
from hookproof.conformance.model.evidence import Evidence
from hookproof.conformance.model.experiment_registry import Sharing, experiment
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.observations.destinations import Destination, Event
from hookproof.conformance.subjects.odd_answers.evidence import (
    AFTER,
    COMPRESSED,
    CUT,
    ENDLESS_BODY,
    ENDLESS_INTERIM,
    EVENT,
    HEALTHY,
    HUGE,
    INTERIM,
    RESET,
    OddAnswers,
)
from hookproof.receiver.replies.script import Cut, Interim, Reply
from hookproof.spec.dialect.given_settings import timeout_in_force

# The http_timeout of the endpoints whose answers never end.
TIMEOUT_S: Final = 2

EVERY_S: Final = 0.2
# Early Hints (RFC 8297).
EARLY_HINTS: Final = 103
# In bytes; enough for a reader without a limit to show, and harmless to one.
HUGE_BODY: Final = 4 * 2**20
COMPRESSED_BODY: Final = 32 * 2**20

REPLIES: Final[Mapping[str, Reply]] = {
    RESET: Reply(cut=Cut(at="before_answer", by="reset")),
    CUT: Reply(body="0123456789", cut=Cut(at="mid_body")),
    INTERIM: Reply(interim=Interim(status=EARLY_HINTS, times=2)),
    HUGE: Reply(body_bytes=HUGE_BODY),
    COMPRESSED: Reply(body_bytes=COMPRESSED_BODY, compressed="gzip"),
}
ENDLESS: Final[Mapping[str, Reply]] = {
    ENDLESS_INTERIM: Reply(interim=Interim(status=EARLY_HINTS, every_s=EVERY_S, endless=True)),
    ENDLESS_BODY: Reply(drip_s=EVERY_S),
}


@experiment(
    "odd_answers",
    observes=(OddAnswers,),
    profile=Profile.STANDARD,
    sharing=Sharing.CONFIRMED,
    endpoints=8,
    broadcasts=4,
)
async def odd_answers(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Broadcast to endpoints with odd answers, and then to one that answers as usual."""
    async for observation in run_scenarios(context, {"odd answers": beside_odd_answers}):
        yield observation


async def beside_odd_answers(scenario: Scenario) -> OddAnswers:
    """One event to all endpoints, and three more when the odd answers are over."""
    timeout = timeout_in_force(scenario.dialect, TIMEOUT_S)
    healthy = await scenario.destination(HEALTHY)
    odd = await scenario.create_all(
        *(scenario.destination(name, replies=[reply]) for name, reply in REPLIES.items()),
        *(
            scenario.destination(name, replies=[reply], http_timeout=timeout)
            for name, reply in ENDLESS.items()
        ),
    )
    event = await scenario.broadcast(EVENT)
    await asyncio.gather(
        scenario.await_arrival(healthy, event),
        *(answer_once(scenario, destination, event, timeout) for destination in odd),
    )
    after = [await scenario.broadcast(name) for name in AFTER]
    await scenario.await_arrival(healthy, *after)
    retried_within_s = wait_for_another(scenario.context)
    await asyncio.sleep((retried_within_s or 0.0) + MARGIN_S)  # the dialect's own time
    return await scenario.observe(OddAnswers, timeout_s=timeout, retried_within_s=retried_within_s)


async def answer_once(
    scenario: Scenario, destination: Destination, event: Event, timeout_s: float
) -> None:
    """Answer the first attempt at the event oddly, and all later ones as usual."""
    try:
        arrived = await scenario.await_arrival(destination, event)
    finally:
        await scenario.context.receiver.script(destination.token, [Reply()])
    if arrived and destination.name in ENDLESS:
        await await_end(scenario, destination, event, timeout_s)
