"""Custom headers that the service sets itself, and some that no header may be (sections 4.8 and 6)."""

from collections.abc import AsyncIterator, Mapping
from typing import Final

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.scenario import Scenario, run_scenarios
from hookproof.conformance.model.evidence import Evidence
from hookproof.conformance.model.experiment_registry import experiment
from hookproof.conformance.observations.case import Case
from hookproof.spec.dialect.model import Dialect

FORGED: Final = "forged"
INJECTED: Final = "X-Injected"
BROKEN: Final[Mapping[str, tuple[str, str]]] = {
    "line break in a value": ("X-Broken", f"a\r\n{INJECTED}: yes\r\n\r\ninjected"),
    "line feed in a value": ("X-Broken", f"a\n{INJECTED}: yes"),
    "line break in a name": (f"X-Broken: a\r\n{INJECTED}", "yes"),
}


@experiment("custom_headers")
async def custom_headers(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Broadcast with each reserved header in turn, and with line breaks in a name and in a value."""
    async for case in run_scenarios(context, {"hostile headers": hostile_headers}):
        yield case


async def hostile_headers(scenario: Scenario) -> Case:
    """An event for each header, refused or not, and a sentinel without any, to endpoints of both
    formats.
    """
    made = [
        await scenario.destination("simple", advanced_signatures=False),
        await scenario.destination("advanced", advanced_signatures=True),
    ]
    reserved = {f"reserved: {name}": (name, FORGED) for name in reserved_headers(scenario.dialect)}
    for name, (header, value) in {**reserved, **BROKEN}.items():
        await scenario.try_broadcast(name, custom_headers={header: value})
    await scenario.broadcast("sentinel")
    await scenario.await_everywhere(made, *scenario.events)
    return await scenario.case(reserved=reserved, broken=dict(BROKEN), injected=INJECTED)


def reserved_headers(dialect: Dialect) -> tuple[str, ...]:
    """The headers that the service sets on a delivery, by its dialect and by HTTP, each once."""
    delivery, signatures = dialect.delivery, dialect.signatures
    named = (
        signatures.simple.header,
        signatures.advanced.header,
        signatures.simple.timestamp_header,
        signatures.advanced.timestamp_header,
        delivery.event_id_header,
        delivery.attempt_header,
        "Host",
        "Content-Length",
        "Content-Type",
        "Transfer-Encoding",
    )
    return tuple(dict.fromkeys(name for name in named if name is not None))
