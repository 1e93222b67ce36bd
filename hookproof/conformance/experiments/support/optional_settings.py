"""Settings of a new endpoint that a target may lack; each is tried alone before it is combined.

A request that other observations depend on must not fail for a part that has nothing to do with
them.
"""

from collections.abc import Mapping
from typing import Any

from hookproof.conformance.experiments.context import ExperimentContext, Trial
from hookproof.conformance.experiments.support.request_bodies import RequestBodies


async def find_accepted_settings(
    context: ExperimentContext, trial: Trial, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """Those of these settings with which the target creates an endpoint (section 4.1)."""
    bodies, lacking = RequestBodies.of(context), context.lacking_fields()
    accepted = {}
    for field, value in settings.items():
        if field not in lacking:
            body = bodies.quiet_endpoint(**{field: value})
            if (await trial.call("createEndpoint", role="probe", body=body)).succeeded:
                accepted[field] = value
    return accepted
