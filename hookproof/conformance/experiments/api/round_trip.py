"""Round trips: an endpoint is created with one field at a time, then with all, and fetched."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

from hookproof.conformance.experiments.context import ExperimentContext, Trial
from hookproof.conformance.experiments.support.client_certificate import issue_client_pair
from hookproof.conformance.experiments.support.created_endpoints import (
    CreatedEndpoint,
    create_endpoint,
)
from hookproof.conformance.experiments.support.json_web_key import elliptic_key, rsa_key
from hookproof.conformance.experiments.support.optional_settings import find_accepted_settings
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.model.evidence import Evidence
from hookproof.conformance.model.experiment_registry import Sharing, experiment
from hookproof.conformance.observations.delivery.security.credentials import KEY_HEADER
from hookproof.conformance.observations.preparation import Preparation
from hookproof.conformance.observations.resources.round_trip import (
    AuthenticationRoundTrip,
    EndpointRoundTrip,
    EndpointsOfOneOwner,
    MinimalEndpoints,
    SecretOfAnotherForm,
)
from hookproof.spec.field_roles import plain_body_fields
from hookproof.target.file_schema import Presence

# Section 2.5: the body of createEndpoint shows only type and oauth2. Each with its capability.
SHOWN_IN_RESPONSES: Final = {
    "authentication by api_key": "api_key",
    "authentication by basic_auth": "basic_auth",
}

# What else is not tried with a target that lacks a capability.
NEEDED: Final = {
    **SHOWN_IN_RESPONSES,
    "authentication by shared secret": "oauth2",
    "authentication by elliptic key": "oauth2",
    "authentication by RSA key": "oauth2",
    "mtls_client_cert": "mtls",
}

SECRET_OF_ANOTHER_FORM: Final = "no*such*form"  # noqa: S105


@experiment(
    "round_trip",
    observes=(
        EndpointRoundTrip,
        AuthenticationRoundTrip,
        MinimalEndpoints,
        EndpointsOfOneOwner,
        SecretOfAnotherForm,
        Preparation,
    ),
    busy=True,
    sharing=Sharing.QUIET,
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
    yield await _create_with_secret_of_another_form(context, bodies)


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
    words = bodies.dialect.words
    api_key = {"header_name": KEY_HEADER, "header_value": bodies.word("key")}
    basic = {"username": bodies.word("user"), "password": bodies.word("password")}
    return {
        "by api_key": {"type": words.auth_api_key, "api_key": api_key},
        "by basic_auth": {"type": words.auth_basic, "basic_auth": basic},
        "by shared secret": bodies.oauth2(),
        "by elliptic key": with_assertion(bodies),
        "by RSA key": with_assertion_by_rsa(bodies),
    }


def with_assertion(bodies: RequestBodies) -> dict[str, Any]:
    """An authentication object with all of oauth2 that a signed assertion needs (section 2.5)."""
    return _assertion(bodies, elliptic_key(bodies.word("kid")), "ES256")


def with_assertion_by_rsa(bodies: RequestBodies) -> dict[str, Any]:
    """The same with the other kind of key."""
    return _assertion(bodies, rsa_key(bodies.word("kid")), "RS256")


def _assertion(
    bodies: RequestBodies, signing_key: dict[str, str], algorithm: str
) -> dict[str, Any]:
    authentication = bodies.oauth2()
    members = {
        **authentication["oauth2"],
        "authentication_type": bodies.dialect.words.oauth2_assertion,
        "issuer": bodies.word("issuer"),
        "subject": bodies.word("subject"),
        "signing_algorithm": algorithm,
        "signing_key": signing_key,
    }
    del members["client_secret"]
    return {**authentication, "oauth2": members}


async def _create_and_fetch(
    context: ExperimentContext, bodies: RequestBodies, name: str, fields: Mapping[str, Any]
) -> Evidence:
    trial = context.trial(name)
    body = bodies.quiet_endpoint(**fields)
    await _fetch(trial, await create_endpoint(context, trial, role="create", body=body))
    capability = SHOWN_IN_RESPONSES.get(name)
    if capability is not None:
        promised = context.presence(capability) is Presence.YES
        return trial.observe(AuthenticationRoundTrip, fields=tuple(fields), promised=promised)
    return trial.observe(EndpointRoundTrip, fields=tuple(fields))


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


async def _create_with_secret_of_another_form(
    context: ExperimentContext, bodies: RequestBodies
) -> Evidence:
    """A text without the dialect's prefix and form, where it has either (section 2.3)."""
    trial = context.trial("a secret of another form")
    body = bodies.quiet_endpoint(secret=SECRET_OF_ANOTHER_FORM)
    await trial.call("createEndpoint", role="create", body=body)
    return trial.observe(SecretOfAnotherForm, fields=("secret",))


async def _fetch(trial: Trial, created: CreatedEndpoint) -> None:
    if created.uid is not None:
        await trial.call("getEndpoint", role="fetch", uid=created.uid)
