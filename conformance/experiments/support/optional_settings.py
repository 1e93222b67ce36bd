"""Settings of a new endpoint that a target may lack; each is tried alone before it is combined.

A request that other observations depend on must not fail for a part that has nothing to do with
them.
"""

from collections.abc import Mapping
from typing import Any, Final

from hookproof.conformance.experiments.context import ExperimentContext, Trial
from hookproof.conformance.experiments.support.request_bodies import RequestBodies

# The capabilities of a target that fields of createEndpoint need (sections 2.3 and 2.5). Of
# `authentication` the body shows oauth2 alone.
CAPABILITIES: Final[Mapping[str, str]] = {
    "authentication": "oauth2",
    "mtls_client_cert": "mtls",
    "rate_limit": "rate_limit",
    "rate_limit_duration": "rate_limit",
}


def lacking_fields(context: ExperimentContext) -> frozenset[str]:
    """The fields of createEndpoint that the target lacks, as its target file says."""
    return frozenset(
        field for field, capability in CAPABILITIES.items() if context.why_lacking(capability)
    )


async def find_accepted_settings(
    context: ExperimentContext, trial: Trial, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """Those of these settings with which the target creates an endpoint (section 4.1)."""
    bodies, lacking = RequestBodies.of(context), lacking_fields(context)
    accepted = {}
    for field, value in settings.items():
        if field not in lacking:
            body = bodies.quiet_endpoint(**{field: value})
            if (await trial.call("createEndpoint", role="probe", body=body)).succeeded:
                accepted[field] = value
    return accepted
