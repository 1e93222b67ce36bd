"""Listeners of the receiver besides its own one: endpoints that lead to them."""

from collections.abc import Mapping
from typing import Final

from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.model.evidence import PreconditionFailed
from hookproof.conformance.observations.destinations import Destination

NO_LISTENERS: Final = (
    "the receiver's public_url leads elsewhere than to its own port, as behind a proxy, or it has a"
    " certificate of your own (tls_cert), so that it has no ports besides, with faulty"
    " certificates or closed; use a CA of hookproof, and let bind and public_url have one port"
)


async def faulty_listeners(scenario: Scenario) -> Mapping[str, str]:
    """The base URLs of the listeners whose TLS is wrong; raises PreconditionFailed without any."""
    listeners = await scenario.context.receiver.tls_faults()
    if not listeners:
        raise PreconditionFailed(NO_LISTENERS)
    return listeners


async def at_listener(scenario: Scenario, name: str, url: str) -> Destination:
    """A destination at another listener than the receiver's own."""
    token = await scenario.context.receiver.new_token()
    return await scenario.endpoint(name, token.token, url=f"{url}/{token.token}")
