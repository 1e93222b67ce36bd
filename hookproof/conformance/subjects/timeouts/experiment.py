"""Receivers that are silent, slow or endless: when does the service stop waiting (section 8)?"""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.deliveries.retry_waiting import await_end
from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.experiments.scenario_run import run_scenarios
from hookproof.conformance.model.evidence import Evidence, PreconditionFailed
from hookproof.conformance.model.experiment_registry import Sharing, experiment
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.observations.answer import shown
from hookproof.conformance.observations.deliveries import timeout_in
from hookproof.conformance.observations.destinations import Destination
from hookproof.conformance.subjects.timeouts.evidence import (
    AGAIN,
    ENDLESS,
    EVENT,
    PROMPT,
    SILENT,
    SLOW,
    DefaultTimeout,
    GivenTimeout,
    ZeroTimeoutDeliveries,
)
from hookproof.receiver.replies.script import Reply
from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.given_settings import timeout_in_force, zero_http_timeout
from hookproof.spec.dialect.vocabulary import ZeroTimeout

TIMEOUT_S: Final = 2

# The http_timeout of the endpoint that answers slowly but in time.
PATIENT_S: Final = 6

# How long that endpoint takes: longer than the others' time-out, and much shorter than its own.
SLOW_S: Final = 2.5

DRIP_S: Final = 0.2


# The longest time-out that is waited out where the service chooses it, by profile.
DEFAULT_PATIENCE_S: Final = {Profile.QUICK: 3.0, Profile.STANDARD: 5.0, Profile.DEEP: 40.0}


@experiment(
    "timeout",
    observes=(GivenTimeout, DefaultTimeout, ZeroTimeoutDeliveries),
    sharing=Sharing.CONFIRMED,
    endpoints=5,
    broadcasts=3,
)
async def timeout(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Broadcast to endpoints that keep the service waiting."""
    async for observation in run_scenarios(
        context,
        {"given time": given_time, "default time": default_time, "time of zero": zero_time},
    ):
        yield observation


async def given_time(scenario: Scenario) -> GivenTimeout:
    """One event to a silent endpoint, to one whose answer never ends, and to one that answers late
    but in time.
    """
    short = timeout_in_force(scenario.dialect, TIMEOUT_S)
    kept_waiting = [
        await scenario.destination(SILENT, replies=[Reply(hang=True)], http_timeout=short),
        await scenario.destination(ENDLESS, replies=[Reply(drip_s=DRIP_S)], http_timeout=short),
    ]
    patient = timeout_in_force(scenario.dialect, PATIENT_S)
    slow = await scenario.destination(SLOW, replies=[Reply(delay_s=SLOW_S)], http_timeout=patient)
    event = await scenario.broadcast(EVENT)
    await scenario.await_everywhere([*kept_waiting, slow], event)
    await asyncio.gather(
        *(
            await_end(scenario, destination, event, waitable_s(scenario, destination, short))
            for destination in kept_waiting
        )
    )
    await await_end(scenario, slow, event, patient)
    return await scenario.observe(GivenTimeout, timeout_s=short, patient_s=patient, slow_s=SLOW_S)


async def default_time(scenario: Scenario) -> DefaultTimeout:
    """One event to a silent endpoint that was given no time-out."""
    default = known_default(scenario)
    if default.value > DEFAULT_PATIENCE_S[scenario.context.profile]:
        raise PreconditionFailed(
            f"the default time-out of {default.value} s is too long to wait; try the deep profile"
        )
    silent = await scenario.destination(SILENT, replies=[Reply(hang=True)])
    event = await scenario.broadcast(EVENT)
    await scenario.await_arrival(silent, event)
    await await_end(scenario, silent, event, default.value)
    return await scenario.observe(DefaultTimeout, timeout_s=default.value)


async def zero_time(scenario: Scenario) -> ZeroTimeoutDeliveries:
    """Two events to an endpoint with an http_timeout of 0 that answers late, and to a silent one
    where the default can be waited for.

    Nothing may arrive there; a second event that does not shows that the first was not lost.
    """
    meaning = zero_http_timeout(scenario.dialect)
    if meaning.allowed == (ZeroTimeout.REFUSED,):
        raise PreconditionFailed("the dialect says that an http_timeout of 0 is refused")
    default = known_default(scenario)
    slow_s = min(SLOW_S, min(default.allowed) / 2)
    prompt = await scenario.destination(PROMPT)
    slow = await scenario.destination(SLOW, replies=[Reply(delay_s=slow_s)], http_timeout=0)
    waiting = [(slow, slow_s)]
    if max(default.allowed) <= DEFAULT_PATIENCE_S[scenario.context.profile]:
        silent = await scenario.destination(SILENT, replies=[Reply(hang=True)], http_timeout=0)
        waiting.append((silent, max(default.allowed)))
    event, again = await scenario.broadcast(EVENT), await scenario.broadcast(AGAIN)
    await scenario.await_arrival(prompt, event, again)
    await scenario.await_everywhere([where for where, _ in waiting], event)
    await asyncio.gather(*(await_end(scenario, where, event, time_s) for where, time_s in waiting))
    return await scenario.observe(
        ZeroTimeoutDeliveries, slow_s=slow_s, default_s=max(default.allowed)
    )


def waitable_s(scenario: Scenario, destination: Destination, timeout_s: float) -> float:
    """The time-out of an endpoint: another one that it is shown with if that can be waited out."""
    answers = {exchange.role: exchange for exchange in scenario.trial.exchanges}
    shown_s = timeout_in(shown(answers[destination.name])) or timeout_s
    return shown_s if shown_s <= DEFAULT_PATIENCE_S[scenario.context.profile] else timeout_s


def known_default(scenario: Scenario) -> Answer[int]:
    """The dialect's default time-out in seconds; raises PreconditionFailed if it is open."""
    default = scenario.dialect.delivery.default_timeout_s
    if not default.decided:
        raise PreconditionFailed(
            "the dialect does not decide how long an endpoint without http_timeout is waited for"
            " (delivery.default_timeout_s)"
        )
    return default
