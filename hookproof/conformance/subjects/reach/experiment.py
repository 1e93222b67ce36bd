"""Which endpoints a broadcast reaches, each once, and what is sent that no broadcast asks for
(sections 1, 3, 4.8 and 6).

The sentinel of `fan_out` is a second event: where it has arrived and the quiet time is over,
nothing of the first one is still under way.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Final

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.deliveries.expirations import expiration_lasting
from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.experiments.scenario_run import ScenarioFunction, run_scenarios
from hookproof.conformance.experiments.support.existing_resources import NO_SECOND_PROJECT
from hookproof.conformance.model.evidence import Evidence, PreconditionFailed
from hookproof.conformance.model.experiment_registry import Sharing, experiment
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.observations.sentinel import SENTINEL
from hookproof.conformance.subjects.reach.evidence import (
    DISABLED,
    ENABLED,
    EVENT,
    EVENT_HERE,
    EVENT_THERE,
    FAILING,
    GONE,
    HANGING,
    HEALTHY,
    SAME_OWNER,
    WITHOUT_OWNER,
    ManyEndpointsFanOut,
    OneProjectFanOut,
    ResourceChanges,
    TwoProjectFanOut,
)
from hookproof.receiver.replies.script import Reply
from hookproof.spec.dialect.given_settings import timeout_in_force

SHORT_TIMEOUT_S: Final = 2
# One more than pages of lists usually hold.
MANY: Final = 101


@experiment(
    "fan_out",
    observes=(OneProjectFanOut, TwoProjectFanOut, ManyEndpointsFanOut),
    sharing=Sharing.CONFIRMED,
    endpoints=12,
    broadcasts=4,
)
async def fan_out(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Broadcast to endpoints that answer, fail, hang, are gone, are disabled, have no owner, or
    belong elsewhere.
    """
    scenarios: list[dict[str, ScenarioFunction]] = [
        {"one project": one_project, "two projects": two_projects}
    ]
    # In a project that experiments share, each of their events reaches as many.
    if context.profile >= Profile.STANDARD and not context.shares_project:
        scenarios.append({"many endpoints": many_endpoints})
    for one_after_the_other in scenarios:
        async for observation in run_scenarios(context, one_after_the_other):
            yield observation


async def one_project(scenario: Scenario) -> OneProjectFanOut:
    """An event and a sentinel to endpoints of every kind in one project."""
    owner = scenario.bodies.word("owner")
    timeout = timeout_in_force(scenario.dialect, SHORT_TIMEOUT_S)
    await scenario.destination(FAILING, replies=[Reply(status=500)])
    await scenario.try_destination(HANGING, replies=[Reply(hang=True)], http_timeout=timeout)
    unused = await scenario.context.receiver.new_token()
    with contextlib.suppress(PreconditionFailed):  # a service may refuse a host that does not exist
        url = f"https://{scenario.bodies.word('gone')}.invalid/"
        await scenario.endpoint(GONE, unused.token, url=url)
    await scenario.try_destination(DISABLED, is_disabled=True)
    reached = [
        await scenario.destination(HEALTHY, owner_id=owner),
        await scenario.destination(SAME_OWNER, owner_id=owner),
    ]
    if enabled := await scenario.try_destination(ENABLED, is_disabled=False):
        reached.append(enabled)
    if "owner_id" not in scenario.dialect.requests.create_endpoint_requires:
        # So many that one may be first, last, or between others among them.
        is_quick = scenario.context.profile is Profile.QUICK
        for name in WITHOUT_OWNER[:1] if is_quick else WITHOUT_OWNER:
            await scenario.try_destination(name, owner_id=None)
    for name in (EVENT, SENTINEL):
        event = await scenario.broadcast(name)
        await scenario.await_everywhere(reached, event)
    await asyncio.sleep(timeout)  # a service may wait for one endpoint before it tries the next
    await scenario.await_silence()
    return await scenario.observe(OneProjectFanOut)


async def many_endpoints(scenario: Scenario) -> ManyEndpointsFanOut:
    """An event to a hundred endpoints and one."""
    owner = scenario.bodies.word("owner")
    created = await scenario.create_all(
        *(
            scenario.destination(f"endpoint {number}", owner_id=owner)
            for number in range(1, MANY + 1)
        )
    )
    await scenario.await_everywhere(created, await scenario.broadcast(EVENT))
    return await scenario.observe(ManyEndpointsFanOut)


async def two_projects(scenario: Scenario) -> TwoProjectFanOut:
    """An event in each of two projects, each of which has an endpoint."""
    if len(scenario.context.projects) < 2:  # noqa: PLR2004
        raise PreconditionFailed(NO_SECOND_PROJECT)
    here, there = scenario.context.projects[:2]
    owner = scenario.bodies.word("owner")
    endpoint_here = await scenario.destination("here", project=here, owner_id=owner)
    endpoint_there = await scenario.destination("there", project=there, owner_id=owner)
    event_here = await scenario.broadcast(EVENT_HERE, project=here)
    event_there = await scenario.broadcast(EVENT_THERE, project=there)
    await scenario.await_arrival(endpoint_here, event_here)
    await scenario.await_arrival(endpoint_there, event_there)
    await scenario.await_silence()
    return await scenario.observe(TwoProjectFanOut)


@experiment(
    "own_events", observes=(ResourceChanges,), sharing=Sharing.FIRST, endpoints=2, broadcasts=1
)
async def own_events(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Create and roll beside an endpoint that listens, then a sentinel."""
    async for observation in run_scenarios(context, {"changes": changes}):
        yield observation


async def changes(scenario: Scenario) -> ResourceChanges:
    """A listening endpoint, a second one that is created and rolled, and a sentinel to both."""
    # The others' deliveries are told apart by the markers of this run.
    scenario.context.let_others_broadcast(only_marked=True)
    listening = await scenario.destination("listening")
    changing = await scenario.destination("changing")
    await scenario.roll("roll", changing, expiration_lasting(scenario, 0))
    sentinel = await scenario.broadcast(SENTINEL)
    await scenario.await_arrival(listening, sentinel)
    await scenario.await_silence()
    return await scenario.observe(ResourceChanges)
