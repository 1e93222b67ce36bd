"""Further attempts up to the last one, and deliveries after a roll: do they carry what the first
one does (sections 1, 2.5, 4.3, 6 and 8)?

It takes as long as the dialect's attempts take, beside other experiments.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.deliveries.expirations import (
    LONG_S,
    expiration_lasting,
)
from hookproof.conformance.experiments.deliveries.retry_waiting import (
    STEP_S,
    wait_for_another,
    waits_or_patience,
)
from hookproof.conformance.experiments.deliveries.token_server import (
    ScriptedTokenServer,
    authorized_destination,
    new_token_server,
    observe_tokens,
    shortest_unit,
)
from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.experiments.scenario_run import ScenarioFunction, run_scenarios
from hookproof.conformance.experiments.support.authentications import fixed_credentials
from hookproof.conformance.experiments.support.client_certificate import issue_client_pair
from hookproof.conformance.model.evidence import Evidence, PreconditionFailed
from hookproof.conformance.model.experiment_registry import Sharing, experiment
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.model.tolerances import LATE_S, for_attempt
from hookproof.conformance.observations.destinations import Destination, Event, ended
from hookproof.conformance.observations.later_attempts import (
    AFTER_END,
    AFTER_ROLL,
    EVENT,
    LaterAttempts,
    LaterSilence,
)
from hookproof.conformance.subjects.credentials.evidence import LaterTokens
from hookproof.receiver.replies.script import Reply
from hookproof.spec.dialect.given_settings import timeout_in_force

# The longest schedule that is waited out in the standard profile.
PATIENCE_S: Final = 20.0
# How long the first two attempts wait for their answers, so that a time or a token of them is
# outdated in the next one, however short the dialect's waits are.
SLOW_S: Final = 1.75
SLOW_ATTEMPTS: Final = 2
TOKEN_LIFE_S: Final = 0.5
TOKENS: Final = 40
# A life of which a half is much longer than a delivery takes, and how long after its end the next
# event is broadcast.
LONGER_LIFE_S: Final = 12.0
OVER_S: Final = 2.5
SLOW_ERROR: Final = Reply(status=500, delay_s=SLOW_S)
EVENTS: Final = (EVENT, "another event")
SLOW_ERRORS: Final = [SLOW_ERROR] * SLOW_ATTEMPTS * len(EVENTS)
ERROR: Final = Reply(status=500)
OK: Final = Reply()


@experiment(
    "later_attempts",
    observes=(LaterAttempts, LaterTokens, LaterSilence),
    profile=Profile.STANDARD,
    sharing=Sharing.EARLY,
    endpoints=17,
    broadcasts=11,
)
async def later_attempts(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Broadcast to endpoints that always fail, and to endpoints that are rolled."""
    scenarios: dict[str, ScenarioFunction] = {
        "always failing": always_failing,
        "rolled": rolled,
        "tokens of further attempts": tokens_of_attempts,
        "tokens after a roll": tokens_after_roll,
        "tokens after their end": tokens_after_end,
        "silent at last": silent_at_last,
        "silent after a roll": silent_after_roll,
    }
    async for observation in run_scenarios(context, scenarios):
        yield observation


async def always_failing(scenario: Scenario) -> LaterAttempts:
    """Two events at endpoints that fail until both are given up."""
    try:
        attempts, schedule_s = waitable_attempts(scenario)
        destinations = await scenario.create_all(
            *(
                scenario.try_destination(name, replies=[*SLOW_ERRORS, ERROR], **settings)
                for name, settings in (await kinds_of_endpoints(scenario)).items()
            )
        )
        events = [await broadcast_with_headers(scenario, name) for name in EVENTS]
    finally:
        # Nothing takes longer than what follows; other events may as well come later.
        scenario.context.let_others_broadcast()
    patience_s = schedule_s + SLOW_ATTEMPTS * SLOW_S
    await await_attempts(scenario, destinations, events, attempts, patience_s)
    return await scenario.observe(LaterAttempts, awaited=attempts)


async def rolled(scenario: Scenario) -> LaterAttempts:
    """An event before the secrets are rolled, and one after that, which fails at first if a second
    attempt can be waited for.
    """
    second_s = wait_for_another(scenario.context)
    failing = [] if second_s is None else [ERROR]
    destinations = await scenario.create_all(
        *(
            scenario.try_destination(name, replies=[OK, *failing, OK], **settings)
            for name, settings in (await kinds_of_endpoints(scenario)).items()
        )
    )
    before = await broadcast_with_headers(scenario, EVENT)
    await scenario.await_everywhere(destinations, before)
    rolling = [await roll_with_overlap(scenario, destination) for destination in destinations]
    # Not synchronisation: the time that was signed before is to be outdated.
    await asyncio.sleep(2 * SLOW_S)
    after = await broadcast_with_headers(scenario, AFTER_ROLL)
    await await_attempts(scenario, rolling, [after], 1 + len(failing), second_s or 0.0)
    return await scenario.observe(LaterAttempts)


async def tokens_of_attempts(scenario: Scenario) -> LaterTokens:
    """An event at an endpoint that always fails, while each of its access tokens soon ends."""
    attempts, schedule_s = waitable_attempts(scenario)
    server = await short_lived_tokens(scenario)
    failing = await authorized_destination(scenario, server, replies=[SLOW_ERROR, ERROR])
    event = await scenario.broadcast(EVENT)
    await await_attempts(scenario, [failing], [event], attempts, schedule_s + SLOW_S)
    return await observe_tokens(scenario, LaterTokens, server, life_s=server.first_life_s)


async def tokens_after_roll(scenario: Scenario) -> LaterTokens:
    """An event when the secret was rolled and the access token of the event before has ended."""
    server = await short_lived_tokens(scenario)
    rolling = await authorized_destination(scenario, server)
    await scenario.await_arrival(rolling, await scenario.broadcast(EVENT))
    rolling = await roll_with_overlap(scenario, rolling)
    # The token's own time, and that of tokens for the events of others in between.
    await asyncio.sleep(server.first_life_s + 3 * SLOW_S)
    await scenario.await_arrival(rolling, await scenario.broadcast(AFTER_ROLL))
    return await observe_tokens(scenario, LaterTokens, server, life_s=server.first_life_s)


async def tokens_after_end(scenario: Scenario) -> LaterTokens:
    """An event when the access token has ended, and has not been so for half of its life."""
    server = await short_lived_tokens(scenario, LONGER_LIFE_S)
    waiting = await authorized_destination(scenario, server)
    await scenario.await_arrival(waiting, await scenario.broadcast(EVENT))
    requests = await scenario.trial.arrivals(server.token, count=1, timeout_s=0)
    granted_at = requests[0].arrived_at if requests else scenario.context.clock()
    over_at = granted_at + server.first_life_s + OVER_S
    # The token's own time.
    await asyncio.sleep(max(0.0, over_at - scenario.context.clock()))
    await scenario.await_arrival(waiting, await scenario.broadcast(AFTER_END))
    return await observe_tokens(scenario, LaterTokens, server, life_s=server.first_life_s)


async def silent_at_last(scenario: Scenario) -> LaterSilence:
    """An event at endpoints that answer the second, the third or the last attempt with silence."""
    attempts, schedule_s = waitable_attempts(scenario)
    timeout = short_timeout(scenario)
    silent_at = {f"silent at attempt {number}": number for number in {2, 3, attempts} - {1}}
    destinations = await scenario.create_all(
        *(
            scenario.destination(
                name,
                replies=[Reply(status=500, times=number - 1), Reply(hang=True)],
                http_timeout=timeout,
            )
            for name, number in silent_at.items()
            if number <= attempts
        )
    )
    event = await scenario.broadcast(EVENT)
    patience_s = scenario.context.budgets.delivery_s + schedule_s + attempts * timeout
    await asyncio.gather(
        *(
            await_given_up(
                scenario, destination, event, silent_at[destination.name], patience_s, timeout
            )
            for destination in destinations
        )
    )
    return await scenario.observe(LaterSilence, timeout_s=timeout, silent_at=silent_at)


async def silent_after_roll(scenario: Scenario) -> LaterSilence:
    """An event at an endpoint that is silent from its roll on."""
    name, timeout = "silent after a roll", short_timeout(scenario)
    silent = await scenario.destination(name, replies=[Reply(hang=True)], http_timeout=timeout)
    silent = await roll_with_overlap(scenario, silent)
    event = await scenario.broadcast(EVENT)
    await await_given_up(scenario, silent, event, 1, scenario.context.budgets.delivery_s, timeout)
    return await scenario.observe(LaterSilence, timeout_s=timeout, silent_at={name: 1})


async def kinds_of_endpoints(scenario: Scenario) -> Mapping[str, Mapping[str, Any]]:
    """The settings of an endpoint of each kind, by name: the formats and fixed credentials."""
    bodies = scenario.bodies
    kinds: dict[str, tuple[str, dict[str, Any]]] = {
        "simple": ("", {"content_type": "application/json"}),
        "advanced": ("", {"advanced_signatures": True}),
        **{
            name: (name, {"authentication": value})
            for name, value in fixed_credentials(bodies).items()
        },
    }
    if scenario.context.ends_tls and not scenario.context.why_lacking("mtls"):
        pair = await issue_client_pair(scenario.context, bodies.word("client"))
        kinds["client certificate"] = ("", {"mtls_client_cert": pair.mtls_client_cert})
    return {
        name: settings
        for name, (capability, settings) in kinds.items()
        if not (capability and scenario.context.why_lacking(capability))
    }


async def broadcast_with_headers(scenario: Scenario, name: str) -> Event:
    """An event with an event_type, data and custom headers of its own.

    Its marker is in both, so that it is recognised by its headers if the body is that of another.
    """
    word, marker = scenario.bodies.word, scenario.new_marker()
    return await scenario.broadcast(
        name,
        marker=marker,
        event_type=f"conformance.{word('type')}",
        data={"about": word("data")},
        custom_headers={"X-Order-Number": word("order"), "X-Hookproof-Marker": marker},
    )


async def roll_with_overlap(scenario: Scenario, destination: Destination) -> Destination:
    """Roll a secret so that the old one outlives the run."""
    expiration = expiration_lasting(scenario, LONG_S)
    return await scenario.roll(f"roll {destination.name}", destination, expiration)


async def short_lived_tokens(
    scenario: Scenario, life_s: float = TOKEN_LIFE_S
) -> ScriptedTokenServer:
    """A token server all of whose tokens soon end."""
    return await new_token_server(
        scenario,
        expiry=shortest_unit(scenario),
        first_life_s=life_s,
        later_life_s=life_s,
        count=TOKENS,
    )


def short_timeout(scenario: Scenario) -> int:
    """The shortest http_timeout that is accepted and is not 0, in seconds."""
    return timeout_in_force(scenario.dialect, 1)


def waitable_attempts(scenario: Scenario) -> tuple[int, float]:
    """How many attempts can be waited for, at most those of the dialect, and how long they take.

    Raises PreconditionFailed if not even a second one can.
    """
    attempts = scenario.dialect.retry.attempts
    if not attempts.decided or attempts.value == 1:
        raise PreconditionFailed("the dialect does not say that a delivery is attempted again")
    for number in range(attempts.value, 2, -1):
        try:
            return number, sum(waits_or_patience(scenario.context, number, patience_s=PATIENCE_S))
        except PreconditionFailed:
            continue  # fewer may not take so long
    return 2, sum(waits_or_patience(scenario.context, 2, patience_s=PATIENCE_S))


async def await_attempts(
    scenario: Scenario,
    destinations: list[Destination],
    events: list[Event],
    attempts: int,
    schedule_s: float,
) -> None:
    """Wait until so many attempts at each event have arrived everywhere, or should have."""
    patience_s = scenario.context.budgets.delivery_s + schedule_s
    await asyncio.gather(
        *(
            scenario.await_arrival(destination, *events, count=attempts, timeout_s=patience_s)
            for destination in destinations
        )
    )


async def await_given_up(
    scenario: Scenario,
    destination: Destination,
    event: Event,
    number: int,
    patience_s: float,
    timeout_s: float,
) -> None:
    """Wait until the service has given up the attempt with this number, or should have."""
    arrived = await scenario.await_arrival(destination, event, count=number, timeout_s=patience_s)
    began = scenario.context.loop.time()
    while scenario.context.loop.time() < began + timeout_s + for_attempt(LATE_S, scenario):
        if len(arrived) < number or ended(arrived[number - 1]) is not None:
            return
        await asyncio.sleep(STEP_S)  # the receiver cannot report it by itself
        arrived = await scenario.await_arrival(destination, event, timeout_s=0)
