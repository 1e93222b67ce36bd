"""Custom headers that the service sets itself, and some that are not allowed (sections 4.8, 6)."""

from collections.abc import AsyncIterator
from typing import Final

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.experiments.scenario_run import ScenarioFunction, run_scenarios
from hookproof.conformance.experiments.support.authentications import api_key, basic_auth
from hookproof.conformance.model.evidence import Evidence, PreconditionFailed
from hookproof.conformance.model.experiment_registry import Sharing, experiment
from hookproof.conformance.observations.sentinel import SENTINEL
from hookproof.conformance.subjects.custom_headers.evidence import (
    ForgedCredentials,
    HostileHeaders,
    SentHeader,
    reserved_headers,
)

FORGED: Final = "forged"
INJECTED: Final = "X-Injected"
BROKEN: Final = (
    SentHeader(
        event="line break in a value",
        name="X-Broken",
        content=f"a\r\n{INJECTED}: yes\r\n\r\ninjected",
    ),
    SentHeader(event="line feed in a value", name="X-Broken", content=f"a\n{INJECTED}: yes"),
    SentHeader(event="line break in a name", name=f"X-Broken: a\r\n{INJECTED}", content="yes"),
)


@experiment(
    "custom_headers",
    observes=(HostileHeaders, ForgedCredentials),
    sharing=Sharing.EARLY,
    endpoints=4,
    broadcasts=11,
)
async def custom_headers(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Broadcast with each reserved header in turn, with line breaks in names and values, and with
    the headers of credentials.
    """
    scenarios: dict[str, ScenarioFunction] = {
        "hostile headers": hostile_headers,
        "headers of credentials": headers_of_credentials,
    }
    async for observation in run_scenarios(context, scenarios):
        yield observation


async def hostile_headers(scenario: Scenario) -> HostileHeaders:
    """An event for each header, refused or not, and a sentinel without any, to endpoints of both
    formats.
    """
    destinations = [
        await scenario.destination("simple", advanced_signatures=False),
        await scenario.destination("advanced", advanced_signatures=True),
    ]
    reserved = tuple(
        SentHeader(event=f"reserved: {name}", name=name, content=FORGED)
        for name in reserved_headers(scenario.dialect)
    )
    for header in (*reserved, *BROKEN):
        await scenario.try_broadcast(header.event, custom_headers={header.name: header.content})
    await scenario.broadcast(SENTINEL)
    await scenario.await_everywhere(destinations, *scenario.events)
    return await scenario.observe(
        HostileHeaders, reserved=reserved, broken=BROKEN, injected=INJECTED
    )


async def headers_of_credentials(scenario: Scenario) -> ForgedCredentials:
    """An event for each header that holds credentials, to the endpoints that the target takes with
    such, and a sentinel.

    The document shows these kinds of authentication in responses only, so a target may refuse them
    or leave them out.
    """
    word, words = scenario.bodies.word, scenario.dialect.words
    own = word("X-Key")
    kinds = {
        "api_key": (own, api_key(words.auth_api_key, word("value"), own)),
        "basic_auth": (
            "Authorization",
            basic_auth(words.auth_basic, word("user"), word("password")),
        ),
    }
    forged = {
        kind: SentHeader(event=f"reserved: {name}", name=name, content=FORGED)
        for kind, (name, authentication) in kinds.items()
        if not scenario.context.why_lacking(kind)
        and await scenario.try_destination(kind, authentication=authentication)
    }
    if not forged:
        raise PreconditionFailed("the target takes no endpoint with api_key or basic_auth")
    for header in forged.values():
        await scenario.try_broadcast(header.event, custom_headers={header.name: header.content})
    await scenario.broadcast(SENTINEL)
    await scenario.await_everywhere(scenario.destinations, *scenario.events)
    return await scenario.observe(ForgedCredentials, forged=forged)
