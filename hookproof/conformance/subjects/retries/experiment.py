"""Endpoints that fail at first, each in another way: which attempts follow, and when (sections 1
and 6)?

Nobody sees an attempt whose connection was refused. An endpoint that fails once shows when the
attempts at an event were made, the first and the next one, and a later event that the port is open.

Where every status is answered in turn, each endpoint gets as many events as it has statuses, so
that every first attempt gets one; the endpoint with successes behind failures gives them to second
attempts.
"""

import asyncio
import math
from collections.abc import AsyncIterator, Mapping, Sequence
from http import HTTPStatus
from typing import Final

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.deliveries.listeners import at_listener, faulty_listeners
from hookproof.conformance.experiments.deliveries.retry_waiting import (
    MARGIN_S,
    wait_for_another,
    waits_or_patience,
)
from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.experiments.scenario_run import ScenarioFunction, run_scenarios
from hookproof.conformance.model.evidence import Evidence, PreconditionFailed
from hookproof.conformance.model.experiment_registry import Sharing, experiment
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.model.tolerances import LATE_S
from hookproof.conformance.observations.destinations import Destination, Event
from hookproof.conformance.subjects.retries.evidence import (
    ACCEPTS_WITHOUT_CONTENT,
    ANSWERS_AT_ONCE,
    ASKS_FOR_PATIENCE,
    ASKS_WITH_429,
    BESIDE,
    CLOSED,
    EVENT,
    FAILS_ONCE,
    FAILS_TWICE,
    NO_ANSWER_ONCE,
    OPENED,
    REDIRECTS_ONCE,
    REFUSES_ONCE,
    AnsweredStatuses,
    RefusedConnection,
    RetriedDeliveries,
    counts_as_success,
)
from hookproof.receiver.replies.script import Cut, Reply
from hookproof.spec.dialect.given_settings import timeout_in_force
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.retry_schedule import wait_before

# How long an attempt at the closed port may take longer than that beside it, in seconds.
MOMENT_S: Final = 1.0


async def refused_connection(scenario: Scenario) -> RefusedConnection:
    """One event while the port is closed, and one as soon as it is open."""
    latest_s = wait_for_another(scenario.context)
    if latest_s is None:
        raise PreconditionFailed(
            "the dialect says that no second attempt follows, does not decide when, or it is too"
            " long to wait"
        )
    again_s = wait_before(scenario.dialect.retry, 2).shortest_s
    await faulty_listeners(scenario)
    receiver = scenario.context.receiver
    reserved = await receiver.reserve_port()
    closed = await at_listener(scenario, CLOSED, reserved.url)
    # The last to be created: it misses what only new endpoints miss, and nothing is judged then.
    beside = await scenario.destination(BESIDE, replies=[Reply(status=500), Reply()])
    event = await scenario.broadcast(EVENT)
    await scenario.await_arrival(beside, event)
    # The dialect's own time: a second attempt is not due before.
    await asyncio.sleep(min(MOMENT_S, again_s / 2))
    await receiver.open_port(reserved.port)
    await scenario.await_arrival(closed, await scenario.broadcast(OPENED))
    patience_s = latest_s + scenario.context.distant(LATE_S)
    await asyncio.gather(
        scenario.await_arrival(closed, event, timeout_s=patience_s),
        scenario.await_arrival(beside, event, count=2, timeout_s=patience_s),
    )
    return await scenario.observe(RefusedConnection, again_s=again_s)


EVENTS: Final = 5
SUCCESSES: Final = (200, 201, 202, 204, 206)
REDIRECTS: Final = (301, 302, 303, 307, 308)
# In as many groups as there are endpoints.
FAILURES: Final = (
    (400, 401, 403, 404, 408),
    (409, 410, 422, 425, 429),
    (500, 501, 502, 503, 504),
)
ANSWERED: Final = Reply()
RESET: Final = Reply(cut=Cut(at="before_answer", by="reset"), times=EVENTS)


async def every_status(scenario: Scenario) -> AnsweredStatuses:
    """Some events at once to endpoints that answer them with every status."""
    second_s, third_s = waits_or_patience(scenario.context, 3)
    aside = await scenario.context.receiver.new_token()
    destinations = await scenario.create_all(
        *(
            scenario.destination(name, replies=[*replies, ANSWERED])
            for name, replies in status_scripts(aside.url).items()
        )
    )
    events = await asyncio.gather(
        *(scenario.broadcast(f"event {number}") for number in range(EVENTS))
    )
    await scenario.await_everywhere(destinations, *events)
    started = scenario.context.loop.time()
    # The margin is for what arrives late because other deliveries did.
    patience_s = second_s + scenario.context.distant(LATE_S) + MARGIN_S
    await asyncio.gather(
        *(
            scenario.await_arrival(destination, *events, count=2, timeout_s=patience_s)
            for destination in destinations
            if fails_first(destination, scenario.dialect)
        )
    )
    over = started + second_s + third_s + MARGIN_S
    # The dialect's own time: by then every further attempt would have been made.
    await asyncio.sleep(max(0.0, over - scenario.context.loop.time()))
    await scenario.trial.arrivals(aside.token, count=0, timeout_s=0)
    return await scenario.observe(AnsweredStatuses, aside=aside.token)


def status_scripts(aside_url: str) -> Mapping[str, Sequence[Reply]]:
    """What each destination answers its first attempts with, by its name."""
    location = (("Location", aside_url),)
    return {
        "succeeds": [Reply(status=status) for status in SUCCESSES],
        "fails, then succeeds": [
            Reply(status=500, times=EVENTS),
            *(Reply(status=status) for status in SUCCESSES),
        ],
        "redirects": [Reply(status=status, headers=location) for status in REDIRECTS],
        "resets": [RESET],
        **{
            f"fails with {statuses[0]} and others": [Reply(status=status) for status in statuses]
            for statuses in FAILURES
        },
    }


def fails_first(destination: Destination, dialect: Dialect) -> bool:
    """Whether every first attempt at a destination fails under the dialect."""
    if destination.name == "succeeds":
        return False
    if destination.name == "redirects":
        return counts_as_success(REDIRECTS[0], dialect.retry) == {False}
    return True


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
    endpoints=18,
    broadcasts=8,
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
    second_s, third_s = waits_or_patience(scenario.context, 3)
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
    patience = (("Retry-After", str(asked_s)),)
    return {
        **FAILING,
        REDIRECTS_ONCE: [Reply(status=302, headers=(("Location", aside_url),)), OK],
        ASKS_FOR_PATIENCE: [Reply(status=503, headers=patience), OK],
        ASKS_WITH_429: [Reply(status=429, headers=patience), OK],
    }


async def await_attempts(
    scenario: Scenario, destination: Destination, event: Event, timeout_s: float
) -> None:
    """Wait for the further attempts that are due wherever the first one fails in every dialect."""
    count = ATTEMPTS.get(destination.name)
    is_final = scenario.dialect.retry.ends_delivery(HTTPStatus.GONE)
    if count is not None and not (destination.name == REFUSES_ONCE and True in is_final):
        await scenario.await_arrival(destination, event, count=count, timeout_s=timeout_s)
