"""Endpoints in both signature formats, with given and generated secrets: who signs what (sections
2.3, 2.4 and 6)?
"""

from collections.abc import AsyncIterator
from typing import Any, Final

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.experiments.scenario_run import run_scenarios
from hookproof.conformance.experiments.support.telling_texts import secrets
from hookproof.conformance.model.evidence import Evidence
from hookproof.conformance.model.experiment_registry import Sharing, experiment
from hookproof.conformance.subjects.arrival.evidence import (
    FORMAT_NOT_GIVEN,
    SigningFormats,
)

# As they are sent: a service may deliver the bytes that it got.
SPACED: Final = '{{ "marker": "{marker}",\n  "values": [ 1, 2 ] }}'
UNICODE: Final = '{{"marker":"{marker}","text":"Grüße 😀"}}'


@experiment(
    "signing", observes=(SigningFormats,), sharing=Sharing.CONFIRMED, endpoints=7, broadcasts=4
)
async def signing(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Several events to endpoints that differ in format and secret."""
    async for observation in run_scenarios(context, {"formats": formats}):
        yield observation


async def formats(scenario: Scenario) -> SigningFormats:
    """Each endpoint gets each of four events, one of them with text outside ASCII, and one with
    white space between its values.

    Two of them have secrets that tell: what is not signed with as it was given shows there.
    """
    settings: dict[str, dict[str, Any]] = {
        "simple": {"advanced_signatures": False},
        "advanced": {"advanced_signatures": True},
        "simple, secret made by the service": {"advanced_signatures": False, "secret": None},
        "advanced, secret made by the service": {"advanced_signatures": True, "secret": None},
    }
    destinations = [await scenario.destination(FORMAT_NOT_GIVEN)]
    for name, chosen in settings.items():
        if tried := await scenario.try_destination(name, **chosen):
            destinations.append(tried)
    for name, advanced in (("another simple", False), ("another advanced", True)):
        with_secrets = [
            {"advanced_signatures": advanced, "secret": secret}
            for secret in (*secrets(scenario.bodies), scenario.bodies.secret())
        ]
        if tried := await scenario.try_in_turn(name, *with_secrets):
            destinations.append(tried)
    spaced, unicode = scenario.new_marker(), scenario.new_marker()
    events = [await scenario.broadcast("short")]
    # What one of these shows is not lost with another that is refused.
    further: dict[str, dict[str, Any]] = {
        "unicode": {"marker": unicode, "raw_data": UNICODE.format(marker=unicode)},
        "spaced": {"marker": spaced, "raw_data": SPACED.format(marker=spaced)},
        "long": {"data": {"text": "0123456789" * 1000}},
    }
    for name, fields in further.items():
        if event := await scenario.try_broadcast(name, **fields):
            events.append(event)
    await scenario.await_everywhere(destinations, *events)
    return await scenario.observe(SigningFormats)
