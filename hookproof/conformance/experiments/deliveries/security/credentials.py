"""Endpoints with outgoing credentials: do deliveries carry them (sections 2.3, 2.5 and 5)?"""

from collections.abc import AsyncIterator, Mapping
from functools import partial
from typing import Any, TypeVar

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.deliveries.security.oauth2 import (
    assertion,
    deliver_one,
    partly_mapped,
    redirected,
    repeated,
    shared_secret,
    shared_url,
    short_life,
    typed_token,
)
from hookproof.conformance.experiments.deliveries.security.token_server import MAPPED_FIELDS
from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.experiments.scenario_run import ScenarioFunction, run_scenarios
from hookproof.conformance.experiments.support import authentications
from hookproof.conformance.experiments.support.authentications import (
    with_assertion,
    with_assertion_by_rsa,
)
from hookproof.conformance.experiments.support.created_endpoints import (
    CreatedEndpoint,
    create_endpoint,
)
from hookproof.conformance.experiments.support.existing_resources import outcome
from hookproof.conformance.experiments.support.json_web_key import elliptic_key, rsa_key
from hookproof.conformance.experiments.support.telling_texts import (
    Candidates,
    capability_of,
    endpoint_texts,
    mechanisms,
    visible_texts,
    with_long_query,
)
from hookproof.conformance.model.evidence import Evidence, PreconditionFailed
from hookproof.conformance.model.experiment_registry import Sharing, experiment
from hookproof.conformance.observations.answer import shown
from hookproof.conformance.observations.client_assertion import ELLIPTIC, RSA
from hookproof.conformance.observations.delivery.security.credentials import (
    AFTERWARDS,
    ASKED,
    AUTHORIZED,
    ApiKeyDeliveries,
    BasicAuthDeliveries,
    FixedCredentials,
)
from hookproof.conformance.observations.delivery.security.oauth2 import (
    AssertionGrant,
    PartlyMappedToken,
    RedirectedTokenUrl,
    RepeatedDeliveries,
    SharedSecretGrant,
    SharedTokenUrl,
    ShortLivedToken,
    TypedToken,
)
from hookproof.conformance.observations.endpoint_records import FETCHED, SHOWN, RecordsInEvent
from hookproof.target.file_schema import Presence

# What an event shows of an endpoint in its record: texts, the URL apart, and other settings.
SHOWN_TEXTS = ("name", "description", "owner_id", "support_email", "slack_webhook_url")
SHOWN_SETTINGS = ("advanced_signatures", "http_timeout", "rate_limit", "rate_limit_duration")

# Wherever this is in a text, its base64 has the two signs that URLs need others for (RFC 4648,
# section 5).
BASE64_ALPHABET = ">>>???"

Fixed = TypeVar("Fixed", bound=FixedCredentials)


@experiment(
    "credentials",
    observes=(
        SharedSecretGrant,
        PartlyMappedToken,
        TypedToken,
        SharedTokenUrl,
        AssertionGrant,
        ShortLivedToken,
        RedirectedTokenUrl,
        ApiKeyDeliveries,
        BasicAuthDeliveries,
        RecordsInEvent,
    ),
    sharing=Sharing.LATE,
)
async def credentials(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Broadcast to an endpoint of each kind of authentication."""
    scenarios: dict[str, ScenarioFunction] = {
        "oauth2": partial(shared_secret, mapping=None),
        "oauth2 with field_mapping": partial(shared_secret, mapping=MAPPED_FIELDS),
        "oauth2 with part of a field_mapping": partly_mapped,
        "oauth2 with another token_type": partial(typed_token, mapping=MAPPED_FIELDS),
        "oauth2 with one token URL for several": shared_url,
        "oauth2 with assertion by an elliptic key": partial(
            assertion, signing_key=elliptic_key(context.word("kid")), algorithm=ELLIPTIC
        ),
        "oauth2 with assertion by an RSA key": partial(
            assertion, signing_key=rsa_key(context.word("kid")), algorithm=RSA
        ),
        "oauth2 with a short life": short_life,
        "oauth2 with a short life under another name": partial(short_life, mapping=MAPPED_FIELDS),
        "oauth2 redirected": redirected,
        "api_key": api_key,
        "basic_auth": basic_auth,
        "records of credentials with texts that tell": telling_records,
    }
    async for observation in run_scenarios(context, scenarios):
        yield observation


@experiment("token_reuse", observes=(RepeatedDeliveries,), sharing=Sharing.CONFIRMED)
async def token_reuse(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Broadcast to an endpoint with oauth2 again and again, within the life of one token."""
    async for observation in run_scenarios(context, {"oauth2 with several deliveries": repeated}):
        yield observation


async def api_key(scenario: Scenario) -> ApiKeyDeliveries:
    """A fixed header; the document shows it in responses only, so it may not be accepted."""
    values = (*visible_texts(scenario.bodies.word("value")), scenario.bodies.word("plain value"))
    return await observe_if_accepted(
        scenario,
        ApiKeyDeliveries,
        "api_key",
        [authentications.api_key(scenario.dialect.words.auth_api_key, value) for value in values],
    )


async def basic_auth(scenario: Scenario) -> BasicAuthDeliveries:
    """A user name and a password; the document shows them in responses only, so they may not be
    accepted.
    """
    word = scenario.bodies.word
    passwords = [text + BASE64_ALPHABET for text in visible_texts(word("password"))]
    pairs = (
        *zip(visible_texts(word("user")), passwords, strict=True),
        (word("plain user"), word("plain password")),
    )
    return await observe_if_accepted(
        scenario,
        BasicAuthDeliveries,
        "basic_auth",
        [authentications.basic_auth(scenario.dialect.words.auth_basic, *pair) for pair in pairs],
    )


async def telling_records(scenario: Scenario) -> RecordsInEvent:
    """Endpoints with each mechanism, a secret, texts and other settings, and an event that holds
    their records.
    """
    context, bodies = scenario.context, scenario.bodies
    oauth2 = (with_assertion(bodies), with_assertion_by_rsa(bodies))
    settings: dict[str, dict[str, Any]] = {
        name: {"authentication": strongest}
        for name, (strongest, *_) in mechanisms(bodies, oauth2).items()
        if not context.why_lacking(capability_of(name))
    }
    texts = {name: candidates[0] for name, candidates in endpoint_texts(bodies).items()}
    settings["secret"] = {"secret": texts["secret"]}
    settings["texts"] = {name: texts[name] for name in SHOWN_TEXTS}
    others = [name for name in SHOWN_SETTINGS if name not in context.lacking_fields()]
    settings["other settings"] = {name: texts[name] for name in others}
    settings["content type"] = {"content_type": texts["content_type"]}
    token = await context.receiver.new_token()
    settings["url"] = {"url": with_long_query(token.url)}
    for name, setting in settings.items():
        created = await scenario.try_destination(name, **setting)
        if created is not None and created.uid is not None:
            path = {"endpointID": created.uid}
            await scenario.trial.call("getEndpoint", role=FETCHED, path=path)
    await scenario.broadcast(SHOWN)
    return await scenario.observe(RecordsInEvent)


async def observe_if_accepted(
    scenario: Scenario, observation: type[Fixed], kind: str, candidates: Candidates
) -> Fixed:
    """One event to an endpoint with this kind of authentication, or the refusal to create it.

    It has the first of the candidates that the target accepts.
    """
    scenario.context.require_capability(kind)
    promised = scenario.context.presence(kind) is Presence.YES
    token = await scenario.context.receiver.new_token()
    for authentication in candidates:
        body = scenario.bodies.new_endpoint(
            url=token.url, is_disabled=True, authentication=authentication
        )
        created = await create_endpoint(scenario.context, scenario.trial, role=ASKED, body=body)
        if created.answer.succeeded or authentication is candidates[-1]:
            break
        scenario.trial.rename(created.answer, "probe")
    if not (promised and created.answer.succeeded):  # what was promised is judged by deliveries
        shown_one = (await shown_endpoint(scenario, created)).get("authentication")
        if not isinstance(shown_one, dict) or not all(map(shown_one.get, authentication)):
            return await scenario.observe(observation, accepted=False, promised=promised)
    plain = await deliver_one(
        scenario, await scenario.destination(AUTHORIZED, authentication=authentication)
    )
    # The first event may have been on its way to this endpoint before any credentials were sent.
    await scenario.await_arrival(plain, await scenario.broadcast(AFTERWARDS))
    return await scenario.observe(observation, accepted=True, promised=promised)


async def shown_endpoint(scenario: Scenario, created: CreatedEndpoint) -> Mapping[str, Any]:
    """What the answer to a creation shows, or fetching the endpoint if that shows nothing.

    Raises PreconditionFailed if a creation that succeeded shows nothing, nor does a fetch.
    """
    answer = created.answer
    if not answer.succeeded or shown(answer):
        return shown(answer)
    if created.uid is None:
        raise PreconditionFailed(f"nobody knows what was created: {created.reason}")
    path = {"endpointID": created.uid}
    fetched = await scenario.trial.call("getEndpoint", role="fetch", path=path)
    if not shown(fetched):
        raise PreconditionFailed(
            "nobody knows what was created: the answer to createEndpoint shows no endpoint, and"
            f" getEndpoint was answered {outcome(fetched)}"
        )
    return shown(fetched)
