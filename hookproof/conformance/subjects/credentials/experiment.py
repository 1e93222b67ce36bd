"""Endpoints with outgoing credentials: do deliveries carry them, and where do access tokens come
from (sections 2.3, 2.5 and 5)?

`client_certificates` goes first: a service that keeps connections would show those of earlier
deliveries, which say nothing of what it presents now.
"""

import asyncio
import hashlib
import ssl
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeVar

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.deliveries.token_server import (
    MAPPED_FIELDS,
    SHORT_LIFE_S,
    STANDARD_FIELDS,
    ScriptedTokenServer,
    authorized_destination,
    new_token_server,
    oauth2_towards,
    observe_tokens,
    shortest_unit,
)
from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.experiments.scenario_run import ScenarioFunction, run_scenarios
from hookproof.conformance.experiments.support import authentications
from hookproof.conformance.experiments.support.authentications import (
    with_assertion,
    with_assertion_by_rsa,
)
from hookproof.conformance.experiments.support.client_certificate import issue_client_pair
from hookproof.conformance.experiments.support.created_endpoints import (
    CreatedEndpoint,
    create_endpoint,
)
from hookproof.conformance.experiments.support.existing_resources import outcome
from hookproof.conformance.experiments.support.json_web_key import elliptic_key, rsa_key
from hookproof.conformance.experiments.support.telling_texts import (
    Candidates,
    capability_of,
    client_secret,
    endpoint_texts,
    mechanisms,
    visible_texts,
    with_long_query,
)
from hookproof.conformance.model.evidence import Evidence, PreconditionFailed
from hookproof.conformance.model.experiment_registry import Sharing, experiment
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.observations.answer import shown
from hookproof.conformance.observations.client_assertion import ELLIPTIC, RSA
from hookproof.conformance.observations.destinations import AUTHORIZED, Destination
from hookproof.conformance.observations.endpoint_records import FETCHED, SHOWN, RecordsInEvent
from hookproof.conformance.subjects.credentials.evidence import (
    AFTER,
    AFTERWARDS,
    AGAIN,
    ANOTHER_AUDIENCE,
    ANOTHER_CLIENT,
    ANOTHER_SCOPE,
    ANOTHER_SERVER,
    ASKED,
    CLIENT,
    EVENT,
    FULLY_MAPPED,
    FURTHER,
    PLAIN,
    ApiKeyDeliveries,
    AssertionGrant,
    BasicAuthDeliveries,
    ClientCertificateDeliveries,
    FixedCredentials,
    PartlyMappedToken,
    RedirectedTokenUrl,
    RepeatedDeliveries,
    SharedSecretGrant,
    SharedTokenUrl,
    ShortLivedToken,
    TypedToken,
)
from hookproof.conformance.target.capabilities import ENDED_BEFORE
from hookproof.receiver.replies.script import Reply
from hookproof.spec.dialect.vocabulary import PartialMapping
from hookproof.target.file_schema import Presence

# A type that no service knows; one that takes any type sends it as the scheme.
TOKEN_TYPE: Final = "Conformance"  # noqa: S105 - it is no token

# Events after the first, some at once: a service that has a cache in each of several processes
# fills them by and by.
WAVES: Final = (2, 3)
ISSUED_IN_WAVES: Final = 40
# Longer than any service renews a token before its end.
REUSED_LIFE_S: Final = 600.0
# In what an endpoint differs from the one that has fetched a token, by its name.
DIFFERENT: Final = {
    ANOTHER_CLIENT: CLIENT,
    ANOTHER_SCOPE: ("scope",),
    ANOTHER_AUDIENCE: ("audience",),
    ANOTHER_SERVER: ("url",),
}
ISSUED_TO_SEVERAL: Final = 14
# A query that a token URL keeps when parameters are added to it (RFC 6749, section 3.2).
ASKED_WITH: Final = "?tenant=a%2Fb&list=1&list=2"


async def shared_secret(
    scenario: Scenario, *, mapping: Mapping[str, str] | None
) -> SharedSecretGrant:
    """Client identifier and shared secret; the token answer may need a field_mapping. Without one
    the secret is a text that tells, and with one there are two scopes, and the token URL has a
    query, if the target accepts that.
    """
    server = await new_token_server(scenario, mapping=mapping)
    members: dict[str, Any] = {}
    if mapping is None:
        telling = {"client_secret": client_secret(scenario.bodies.word("telling"))}
    else:
        telling = {"scope": " ".join(map(scenario.bodies.word, ("read", "write")))}
        if await is_accepted(scenario, server, ASKED_WITH):
            server = replace(server, url=server.url + ASKED_WITH)
    if await is_accepted(scenario, server, **telling):
        members |= telling
    await deliver_one(scenario, await authorized_destination(scenario, server, **members))
    return await observe_tokens(scenario, SharedSecretGrant, server)


async def is_accepted(
    scenario: Scenario, server: ScriptedTokenServer, query: str = "", **members: Any
) -> bool:
    """Whether an endpoint may have these members of oauth2, and a token URL with this query.

    The endpoint that is tried with them has a token URL of its own: it may be visited, too.
    """
    elsewhere = await scenario.context.receiver.new_token()
    authentication = oauth2_towards(
        scenario, elsewhere.url + query, **{**server.members, **members}
    )
    body = scenario.bodies.quiet_endpoint(authentication=authentication)
    answer = await scenario.trial.call("createEndpoint", role="tried", body=body)
    return answer.succeeded


async def typed_token(scenario: Scenario, *, mapping: Mapping[str, str]) -> TypedToken:
    """A token of a type that is not Bearer."""
    server = await new_token_server(scenario, mapping=mapping, token_type=TOKEN_TYPE)
    destination = await authorized_destination(scenario, server)
    await scenario.await_arrival(destination, await scenario.broadcast(EVENT))
    return await observe_tokens(scenario, TypedToken, server, token_type=TOKEN_TYPE)


async def partly_mapped(scenario: Scenario) -> PartlyMappedToken:
    """A field_mapping without the access_token, and one with it, which shows what is delivered."""
    if scenario.dialect.requests.partial_field_mapping.allowed == (PartialMapping.REFUSED,):
        raise PreconditionFailed("the dialect says that such a field_mapping is refused")
    partial = {name: MAPPED_FIELDS[name] for name in ("expires_in", "token_type")}
    server = await new_token_server(scenario, mapping=partial)
    authorized = await authorized_destination(scenario, server)
    whole = {**STANDARD_FIELDS, **partial}
    members = {**server.members, "field_mapping": whole}
    mapped = await scenario.destination(
        FULLY_MAPPED, authentication=oauth2_towards(scenario, server.url, **members)
    )
    await deliver_beside(scenario, authorized, mapped)
    return await observe_tokens(scenario, PartlyMappedToken, server)


async def repeated(scenario: Scenario) -> RepeatedDeliveries:
    """Several events within the life of the first token, the first of them alone, and the last ones
    after a hundredth of it.
    """
    server = await new_token_server(
        scenario, count=ISSUED_IN_WAVES, first_life_s=REUSED_LIFE_S, later_life_s=REUSED_LIFE_S
    )
    destination = await authorized_destination(scenario, server)
    await scenario.await_arrival(destination, await scenario.broadcast(EVENT))
    pause = None
    for size in WAVES:
        await broadcast_again(scenario, destination, size)
    if scenario.context.profile >= Profile.STANDARD:
        paused_at = scenario.context.clock()
        await asyncio.sleep(REUSED_LIFE_S / 100 + 1)  # the token's own time
        pause = (paused_at, scenario.context.clock())
        await broadcast_again(scenario, destination, WAVES[-1])
    return await observe_tokens(scenario, RepeatedDeliveries, server, pause=pause)


async def broadcast_again(scenario: Scenario, destination: Destination, count: int) -> None:
    """Broadcast so many events at once and wait for them."""
    events = await asyncio.gather(*(scenario.broadcast(AGAIN) for _ in range(count)))
    await scenario.await_arrival(destination, *events)


async def shared_url(scenario: Scenario) -> SharedTokenUrl:
    """An event to an endpoint that fetches the first token, and one when there are more endpoints:
    each differs from the first one in one respect alone.
    """
    server = await new_token_server(scenario, count=ISSUED_TO_SEVERAL)
    first = oauth2_towards(scenario, server.url, **server.members)
    authorized = await scenario.destination(AUTHORIZED, authentication=first)
    await scenario.await_arrival(authorized, await scenario.broadcast(EVENT))
    elsewhere = await new_token_server(scenario)
    others = []
    for name, members in DIFFERENT.items():
        other = oauth2_towards(scenario, elsewhere.url, **server.members)["oauth2"]
        own = {member: other[member] for member in members}
        authentication = {**first, "oauth2": {**first["oauth2"], **own}}
        others.append(await scenario.destination(name, authentication=authentication))
    await scenario.await_everywhere(others, await scenario.broadcast(AGAIN))
    return await observe_tokens(scenario, SharedTokenUrl, server)


async def assertion(
    scenario: Scenario, *, signing_key: Mapping[str, str], algorithm: str
) -> AssertionGrant:
    """Signed assertions instead of the shared secret, one for a token that soon expires."""
    server = await new_token_server(
        scenario, expiry=shortest_unit(scenario), first_life_s=SHORT_LIFE_S
    )
    destination = await authorized_destination(
        scenario,
        server,
        authentication_type=scenario.dialect.words.oauth2_assertion,
        client_secret=None,
        issuer=scenario.bodies.word("issuer"),
        subject=scenario.bodies.word("subject"),
        signing_algorithm=algorithm,
        signing_key=dict(signing_key),
    )
    await deliver_one(scenario, destination)
    await deliver_after_end(scenario, server, destination)
    return await observe_tokens(scenario, AssertionGrant, server)


async def short_life(
    scenario: Scenario, *, mapping: Mapping[str, str] | None = None
) -> ShortLivedToken:
    """A token that soon expires, in the dialect's shortest unit, and an event after that."""
    server = await new_token_server(
        scenario, mapping=mapping, expiry=shortest_unit(scenario), first_life_s=SHORT_LIFE_S
    )
    destination = await authorized_destination(scenario, server)
    await scenario.await_arrival(destination, await scenario.broadcast(EVENT))
    await deliver_after_end(scenario, server, destination)
    return await observe_tokens(scenario, ShortLivedToken, server)


async def redirected(scenario: Scenario) -> RedirectedTokenUrl:
    """A token URL that redirects elsewhere."""
    scenario.context.require_capability("oauth2")
    aside = await scenario.context.receiver.new_token()
    server = await scenario.context.receiver.new_token()
    await scenario.context.receiver.script(
        server.token, [Reply(status=307, headers=(("Location", aside.url),))]
    )
    destination = await scenario.destination(
        AUTHORIZED, authentication=oauth2_towards(scenario, server.url)
    )
    event = await scenario.broadcast(EVENT)
    await scenario.trial.arrivals(
        server.token, count=1, timeout_s=scenario.context.budgets.delivery_s
    )
    await scenario.await_silence()
    await scenario.await_arrival(destination, event, timeout_s=0)
    for token in (server.token, aside.token):
        await scenario.trial.arrivals(token, count=0, timeout_s=0)
    return await scenario.observe(RedirectedTokenUrl, token_server=server.token, aside=aside.token)


async def deliver_one(scenario: Scenario, destination: Destination) -> Destination:
    """Broadcast an event and wait for it, there and at an endpoint without credentials, which is
    returned.

    The endpoint is fetched before, so that its record in the event can be compared.
    """
    plain = await scenario.destination(PLAIN)
    if destination.uid is not None:
        path = {"endpointID": destination.uid}
        await scenario.trial.call("getEndpoint", role=FETCHED, path=path)
    await deliver_beside(scenario, destination, plain)
    return plain


async def deliver_beside(scenario: Scenario, authorized: Destination, other: Destination) -> None:
    """Broadcast an event and wait for it at both endpoints; if it arrives at the other one alone,
    broadcast a further one.
    """
    event = await scenario.broadcast(EVENT)
    arrived, beside = await asyncio.gather(
        *(scenario.await_arrival(destination, event) for destination in (authorized, other))
    )
    if beside and not arrived:
        await scenario.await_arrival(authorized, await scenario.broadcast(FURTHER))


async def deliver_after_end(
    scenario: Scenario, server: ScriptedTokenServer, destination: Destination
) -> None:
    """Broadcast an event when the first access token has expired, and wait for it."""
    await asyncio.sleep(server.first_life_s + 1)  # the token's own time
    await scenario.await_arrival(destination, await scenario.broadcast(AFTER))


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
    endpoints=32,
    broadcasts=20,
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


@experiment(
    "token_reuse",
    observes=(RepeatedDeliveries,),
    sharing=Sharing.CONFIRMED,
    endpoints=1,
    broadcasts=9,
)
async def token_reuse(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Broadcast to an endpoint with oauth2 again and again, within the life of one token."""
    async for observation in run_scenarios(context, {"oauth2 with several deliveries": repeated}):
        yield observation


async def api_key(scenario: Scenario) -> ApiKeyDeliveries:
    """A fixed header; the document shows it in responses only, so it may not be accepted."""
    visible = visible_texts(scenario.bodies.word("value"))
    values = (f"two  {visible[0]}", *visible, scenario.bodies.word("plain value"))
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
    users = visible_texts(word("user"))
    passwords = [text + BASE64_ALPHABET for text in visible_texts(word("password"))]
    pairs = (
        # A password may have a colon, which ends the user name (RFC 7617), and white space.
        (users[0], f" two:  {passwords[0]} "),
        *zip(users, passwords, strict=True),
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


@experiment(
    "client_certificates",
    observes=(ClientCertificateDeliveries,),
    sharing=Sharing.FIRST,
    endpoints=2,
    broadcasts=1,
)
async def client_certificates(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Broadcast to an endpoint with a client certificate, and to one without."""
    async for observation in run_scenarios(context, {"client certificate": client_certificate}):
        yield observation


async def client_certificate(scenario: Scenario) -> ClientCertificateDeliveries:
    """A client certificate of the receiver's own authority."""
    scenario.context.require_capability("mtls")
    if not scenario.context.ends_tls:
        raise PreconditionFailed(ENDED_BEFORE)
    pair = await issue_client_pair(scenario.context, scenario.bodies.word("client"))
    presenting = await scenario.destination(AUTHORIZED, mtls_client_cert=pair.mtls_client_cert)
    await deliver_one(scenario, presenting)
    return await scenario.observe(
        ClientCertificateDeliveries, fingerprint=fingerprint(pair.certificate)
    )


def fingerprint(pem: str) -> str:
    """The SHA-256 of the first certificate's DER form, in hex, as the receiver reports it."""
    end = "-----END CERTIFICATE-----"
    first = pem[: pem.index(end) + len(end)]
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(first)).hexdigest()
