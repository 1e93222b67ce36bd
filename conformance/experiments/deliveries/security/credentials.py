"""Endpoints with outgoing credentials: do deliveries carry them (sections 2.3, 2.5 and 5)?

The token URL of an endpoint with oauth2 is a token of the receiver whose script answers as a token
server does. Answers hold a decoy under every name that `field_mapping` does not give.
"""

import asyncio
import hashlib
import json
import math
import ssl
from collections.abc import AsyncIterator, Mapping
from functools import partial
from typing import Any, Final, TypeVar

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.scenario import Scenario, ScenarioFunction, run_scenarios
from hookproof.conformance.experiments.support.client_certificate import issue_client_pair
from hookproof.conformance.experiments.support.json_web_key import elliptic_key
from hookproof.conformance.model.evidence import Evidence
from hookproof.conformance.model.experiment_registry import experiment
from hookproof.conformance.observations.client_assertion import ALGORITHM
from hookproof.conformance.observations.delivery.security.credentials import (
    AFTER,
    ASKED,
    AUTHORIZED,
    EVENT,
    PLAIN,
    ApiKeyDeliveries,
    AssertionGrant,
    BasicAuthDeliveries,
    ClientCertificateDeliveries,
    FixedCredentials,
    OAuth2Deliveries,
    RedirectedTokenUrl,
    SharedSecretGrant,
    ShortLivedToken,
)
from hookproof.conformance.observations.destinations import Destination
from hookproof.receiver.client.control_api import ReceiverToken
from hookproof.receiver.replies.script import Reply
from hookproof.spec.dialect.vocabulary import TimeUnit
from hookproof.target.file_schema import Presence

STANDARD_FIELDS: Final = {
    "access_token": "access_token",
    "expires_in": "expires_in",
    "token_type": "token_type",
}
MAPPED_FIELDS: Final = {"access_token": "issued", "expires_in": "lifetime", "token_type": "kind"}
GRANT: Final = "client_credentials"
LONG_LIFE_S: Final = 3600
SHORT_LIFE_S: Final = 1.5

Granted = TypeVar("Granted", bound=OAuth2Deliveries)
Fixed = TypeVar("Fixed", bound=FixedCredentials)


@experiment(
    "credentials",
    observes=(
        SharedSecretGrant,
        AssertionGrant,
        ShortLivedToken,
        RedirectedTokenUrl,
        ApiKeyDeliveries,
        BasicAuthDeliveries,
        ClientCertificateDeliveries,
    ),
    alone=True,
)
async def credentials(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Broadcast to an endpoint of each kind of authentication."""
    scenarios: dict[str, ScenarioFunction] = {
        "oauth2": partial(shared_secret, fields=STANDARD_FIELDS, mapping=None),
        "oauth2 with field_mapping": partial(
            shared_secret, fields=MAPPED_FIELDS, mapping=MAPPED_FIELDS
        ),
        "oauth2 with assertion": assertion,
        "oauth2 with a short life": short_life,
        "oauth2 redirected": redirected,
        "api_key": api_key,
        "basic_auth": basic_auth,
        "client certificate": client_certificate,
    }
    async for observation in run_scenarios(context, scenarios):
        yield observation


async def shared_secret(
    scenario: Scenario, *, fields: Mapping[str, str], mapping: Mapping[str, str] | None
) -> SharedSecretGrant:
    """Client identifier and shared secret; the token answer names its members by `fields`."""
    server, issued = await new_token_server(scenario, fields)
    further = {} if mapping is None else {"field_mapping": dict(mapping)}
    await deliver_one(scenario, await authorized_destination(scenario, server, **further))
    return await observe_tokens(scenario, SharedSecretGrant, server, issued=tuple(issued))


async def assertion(scenario: Scenario) -> AssertionGrant:
    """A signed assertion instead of the shared secret."""
    server, issued = await new_token_server(scenario, STANDARD_FIELDS)
    further = {
        "authentication_type": scenario.dialect.words.oauth2_assertion,
        "client_secret": None,
        "issuer": scenario.bodies.word("issuer"),
        "subject": scenario.bodies.word("subject"),
        "signing_algorithm": ALGORITHM,
        "signing_key": elliptic_key(scenario.bodies.word("key")),
    }
    await deliver_one(scenario, await authorized_destination(scenario, server, **further))
    return await observe_tokens(scenario, AssertionGrant, server, issued=tuple(issued))


async def short_life(scenario: Scenario) -> ShortLivedToken:
    """A token that soon expires, in the dialect's shortest unit, and an event after that."""
    units = scenario.dialect.words.oauth2_expiry_units
    word, unit = min(units.items(), key=lambda item: item[1].in_seconds)
    lifetime = math.ceil(SHORT_LIFE_S / unit.in_seconds)
    server, issued = await new_token_server(scenario, STANDARD_FIELDS, unit=unit, lifetime=lifetime)
    destination = await authorized_destination(scenario, server, expiry_time_unit=word)
    await deliver_one(scenario, destination)
    await asyncio.sleep(lifetime * unit.in_seconds + 1)  # the token's own time
    after = await scenario.broadcast(AFTER)
    await scenario.await_arrival(destination, after)
    return await observe_tokens(scenario, ShortLivedToken, server, issued=tuple(issued))


async def redirected(scenario: Scenario) -> RedirectedTokenUrl:
    """A token URL that redirects elsewhere."""
    scenario.context.require_capability("oauth2")
    aside = await scenario.context.receiver.new_token()
    server = await scenario.context.receiver.new_token()
    await scenario.context.receiver.script(
        server.token, [Reply(status=307, headers=(("Location", aside.url),))]
    )
    destination = await authorized_destination(scenario, server)
    event = await scenario.broadcast(EVENT)
    await scenario.trial.arrivals(
        server.token, count=1, timeout_s=scenario.context.budgets.delivery_s
    )
    await scenario.await_silence()
    await scenario.await_arrival(destination, event, timeout_s=0)
    await scenario.trial.arrivals(aside.token, count=0, timeout_s=0)
    return await observe_tokens(scenario, RedirectedTokenUrl, server, aside=aside.token)


async def api_key(scenario: Scenario) -> ApiKeyDeliveries:
    """A fixed header; the document shows it in responses only, so it may not be accepted."""
    member = {"header_name": "X-Destination-Key", "header_value": scenario.bodies.word("value")}
    return await observe_if_accepted(
        scenario,
        ApiKeyDeliveries,
        "api_key",
        {"type": scenario.dialect.words.auth_api_key, "api_key": member},
    )


async def basic_auth(scenario: Scenario) -> BasicAuthDeliveries:
    """A user name and a password; the document shows them in responses only, so they may not be
    accepted.
    """
    member = {
        "username": scenario.bodies.word("user"),
        "password": scenario.bodies.word("password"),
    }
    return await observe_if_accepted(
        scenario,
        BasicAuthDeliveries,
        "basic_auth",
        {"type": scenario.dialect.words.auth_basic, "basic_auth": member},
    )


async def client_certificate(scenario: Scenario) -> ClientCertificateDeliveries:
    """A client certificate of the receiver's own authority."""
    scenario.context.require_capability("mtls")
    pair = await issue_client_pair(scenario.context, scenario.bodies.word("client"))
    presenting = await scenario.destination(AUTHORIZED, mtls_client_cert=pair.mtls_client_cert)
    await deliver_one(scenario, presenting)
    return await scenario.observe(
        ClientCertificateDeliveries, fingerprint=fingerprint(pair.certificate)
    )


async def observe_if_accepted(
    scenario: Scenario, observation: type[Fixed], kind: str, authentication: Mapping[str, Any]
) -> Fixed:
    """One event to an endpoint with this kind of authentication, or the refusal to create it."""
    scenario.context.require_capability(kind)
    promised = scenario.context.presence(kind) is Presence.YES
    token = await scenario.context.receiver.new_token()
    creation = await scenario.trial.call(
        "createEndpoint",
        role=ASKED,
        body=scenario.bodies.new_endpoint(
            url=token.url, is_disabled=True, authentication=authentication
        ),
    )
    shown = creation.data.get("authentication") if isinstance(creation.data, dict) else None
    if not isinstance(shown, dict) or not all(shown.get(name) for name in authentication):
        return await scenario.observe(observation, accepted=False, promised=promised)
    await deliver_one(
        scenario, await scenario.destination(AUTHORIZED, authentication=authentication)
    )
    return await scenario.observe(observation, accepted=True, promised=promised)


async def authorized_destination(
    scenario: Scenario, server: ReceiverToken, **further: Any
) -> Destination:
    """A new endpoint whose access tokens come from this server.

    `further` members of oauth2 replace the usual ones; None leaves one out.
    """
    return await scenario.destination(
        AUTHORIZED, authentication=oauth2_towards(scenario, server.url, **further)
    )


def oauth2_towards(scenario: Scenario, url: str, **further: Any) -> dict[str, Any]:
    """An authentication object with oauth2 and this token URL.

    `further` members of oauth2 replace the usual ones; None leaves one out.
    """
    usual = {
        "url": url,
        "authentication_type": scenario.dialect.words.oauth2_shared_secret,
        "client_id": scenario.bodies.word("client"),
        "client_secret": scenario.bodies.word("shared"),
        "grant_type": GRANT,
        "scope": scenario.bodies.word("scope"),
        "audience": scenario.bodies.word("audience"),
        "expiry_time_unit": unit_word(scenario, TimeUnit.SECONDS),
    }
    members = {name: value for name, value in {**usual, **further}.items() if value is not None}
    return {"type": scenario.dialect.words.auth_oauth2, "oauth2": members}


async def new_token_server(
    scenario: Scenario,
    fields: Mapping[str, str],
    *,
    unit: TimeUnit = TimeUnit.SECONDS,
    lifetime: int = LONG_LIFE_S,
) -> tuple[ReceiverToken, list[str]]:
    """A token of the receiver that issues access tokens, and these in the order in which they come.

    The last of them is issued again and again.
    """
    scenario.context.require_capability("oauth2")
    server = await scenario.context.receiver.new_token()
    issued = [scenario.bodies.word("issued") for _ in range(4)]
    lifetimes = [lifetime, *[math.ceil(LONG_LIFE_S / unit.in_seconds)] * 3]
    decoys = {name: "decoy" for name in STANDARD_FIELDS if name not in fields.values()}
    replies = [
        Reply(
            headers=(("Content-Type", "application/json"),),
            body=json.dumps(
                {
                    **decoys,
                    fields["access_token"]: access_token,
                    fields["expires_in"]: expires_in,
                    fields["token_type"]: "Bearer",
                }
            ),
        )
        for access_token, expires_in in zip(issued, lifetimes, strict=True)
    ]
    await scenario.context.receiver.script(server.token, replies)
    return server, issued


async def deliver_one(scenario: Scenario, destination: Destination) -> None:
    """Broadcast an event and wait for it, there and at an endpoint without credentials."""
    plain = await scenario.destination(PLAIN)
    event = await scenario.broadcast(EVENT)
    await scenario.await_everywhere([destination, plain], event)


async def observe_tokens(
    scenario: Scenario, observation: type[Granted], server: ReceiverToken, **fields: Any
) -> Granted:
    """An observation with what arrived at the token server."""
    await scenario.trial.arrivals(server.token, count=0, timeout_s=0)
    return await scenario.observe(observation, token_server=server.token, **fields)


def unit_word(scenario: Scenario, unit: TimeUnit) -> str | None:
    """The dialect's word for a unit in expiry_time_unit, if it has one."""
    return next(
        (
            word
            for word, named_unit in scenario.dialect.words.oauth2_expiry_units.items()
            if named_unit is unit
        ),
        None,
    )


def fingerprint(pem: str) -> str:
    """The SHA-256 of the first certificate's DER form, in hex, as the receiver reports it."""
    end = "-----END CERTIFICATE-----"
    first = pem[: pem.index(end) + len(end)]
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(first)).hexdigest()
