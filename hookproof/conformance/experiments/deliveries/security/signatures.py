"""Endpoints in both signature formats, with given and generated secrets: who signs what (sections
2.3, 2.4 and 6)?
"""

from collections.abc import AsyncIterator
from typing import Any, Final

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.experiments.scenario_run import run_scenarios
from hookproof.conformance.model.evidence import Evidence
from hookproof.conformance.model.experiment_registry import Sharing, experiment
from hookproof.conformance.observations.delivery.arrival.broadcasts import (
    FORMAT_NOT_GIVEN,
    SigningFormats,
)

# As they are sent: a service may deliver the bytes that it got.
SPACED: Final = '{{ "marker": "{marker}",\n  "values": [ 1, 2 ] }}'
UNICODE: Final = '{{"marker":"{marker}","text":"Grüße 😀"}}'


@experiment("signing", observes=(SigningFormats,), sharing=Sharing.CONFIRMED)
async def signing(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Several events to endpoints that differ in format and secret."""
    async for observation in run_scenarios(context, {"formats": formats}):
        yield observation


async def formats(scenario: Scenario) -> SigningFormats:
    """Each endpoint gets each of four events, one of them with text outside ASCII, and one with
    white space between its values.
    """
    settings: dict[str, dict[str, Any]] = {
        "simple": {"advanced_signatures": False},
        "advanced": {"advanced_signatures": True},
        "simple, secret made by the service": {"advanced_signatures": False, "secret": None},
        "advanced, secret made by the service": {"advanced_signatures": True, "secret": None},
        "another simple": {"advanced_signatures": False},
        "another advanced": {"advanced_signatures": True},
    }
    destinations = [await scenario.destination(FORMAT_NOT_GIVEN)]
    for name, chosen in settings.items():
        if tried := await scenario.try_destination(name, **chosen):
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
