"""Round trips: an endpoint is created with one field at a time, then with all, and fetched."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

from hookproof.conformance.experiments.context import ExperimentContext, Trial
from hookproof.conformance.experiments.support.authentications import (
    SHOWN_IN_RESPONSES,
    fixed_credentials,
    observe_round_trip,
    with_assertion,
    with_assertion_by_rsa,
)
from hookproof.conformance.experiments.support.client_certificate import issue_client_pair
from hookproof.conformance.experiments.support.created_endpoints import (
    CreatedEndpoint,
    create_endpoint,
)
from hookproof.conformance.experiments.support.optional_settings import find_accepted_settings
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.model.evidence import Evidence
from hookproof.conformance.model.experiment_registry import Sharing, experiment
from hookproof.conformance.observations.preparation import Preparation
from hookproof.conformance.observations.round_trip import (
    AuthenticationRoundTrip,
    EndpointRoundTrip,
    EndpointsOfOneOwner,
    MinimalEndpoints,
)
from hookproof.spec.field_roles import plain_body_fields

# What is not tried with a target that lacks a capability.
NEEDED: Final = {
    **{f"authentication by {name}": name for name in SHOWN_IN_RESPONSES},
    "authentication by shared secret": "oauth2",
    "authentication by elliptic key": "oauth2",
    "authentication by RSA key": "oauth2",
    "mtls_client_cert": "mtls",
}


@experiment(
    "round_trip",
    observes=(
        EndpointRoundTrip,
        AuthenticationRoundTrip,
        MinimalEndpoints,
        EndpointsOfOneOwner,
        Preparation,
    ),
    busy=True,
    sharing=Sharing.QUIET,
    endpoints=3,
)
async def round_trip(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Create endpoints field by field, with everything, with nothing, and with each mechanism."""
    bodies = RequestBodies.of(context)
    probe = context.trial("settings that a target may lack")
    fields_by_name = await _fields_by_name(context, bodies, probe)
    yield probe.observe(Preparation)
    for name, capability in NEEDED.items():
        if context.why_lacking(capability):
            del fields_by_name[name]
    for observation in await asyncio.gather(
        *(
            _create_and_fetch(context, bodies, name, fields)
            for name, fields in fields_by_name.items()
        )
    ):
        yield observation
    yield await _create_with_required_fields(context, bodies)
    yield await _create_for_one_owner(context, bodies)


async def _fields_by_name(
    context: ExperimentContext, bodies: RequestBodies, probe: Trial
) -> dict[str, dict[str, Any]]:
    mtls = (await issue_client_pair(context, context.word("client"))).mtls_client_cert
    lacking = context.lacking_fields()
    names = plain_body_fields("createEndpoint")
    plain = {field: bodies.endpoint_value(field) for field in names if field not in lacking}
    together = {field: value for field, value in plain.items() if field != "appID"}
    optional = {"mtls_client_cert": mtls, "authentication": bodies.oauth2()}
    accepted = await find_accepted_settings(context, probe, optional)
    return {
        **{field: {field: value} for field, value in plain.items()},
        "advanced_signatures false": {"advanced_signatures": False},
        "is_disabled false": {"is_disabled": False},
        "mtls_client_cert": {"mtls_client_cert": mtls},
        **{
            f"authentication {kind}": {"authentication": value}
            for kind, value in _authentications(bodies).items()
        },
        "everything": {**together, **accepted},
    }


def _authentications(bodies: RequestBodies) -> dict[str, dict[str, Any]]:
    return {
        **{f"by {name}": value for name, value in fixed_credentials(bodies).items()},
        "by shared secret": bodies.oauth2(),
        "by elliptic key": with_assertion(bodies),
        "by RSA key": with_assertion_by_rsa(bodies),
    }


async def _create_and_fetch(
    context: ExperimentContext, bodies: RequestBodies, name: str, fields: Mapping[str, Any]
) -> Evidence:
    trial = context.trial(name)
    body = bodies.quiet_endpoint(**fields)
    await _fetch(trial, await create_endpoint(context, trial, role="create", body=body))
    mechanism = NEEDED.get(name, "")
    return observe_round_trip(context, trial, mechanism, fields, EndpointRoundTrip)


async def _create_with_required_fields(
    context: ExperimentContext, bodies: RequestBodies
) -> Evidence:
    """Create two endpoints with the required fields alone (section 4.9)."""
    trial = context.trial("only required fields")
    for _ in range(2):
        body = bodies.required("createEndpoint")
        await _fetch(trial, await create_endpoint(context, trial, role="create", body=body))
    return trial.observe(MinimalEndpoints)


async def _create_for_one_owner(context: ExperimentContext, bodies: RequestBodies) -> Evidence:
    trial = context.trial("several endpoints of one owner")
    owner = context.word("owner")
    for _ in range(3):
        body = bodies.quiet_endpoint(owner_id=owner)
        await _fetch(trial, await create_endpoint(context, trial, role="create", body=body))
    return trial.observe(EndpointsOfOneOwner, fields=("owner_id",))


async def _fetch(trial: Trial, created: CreatedEndpoint) -> None:
    if created.uid is not None:
        await trial.call("getEndpoint", role="fetch", uid=created.uid)
