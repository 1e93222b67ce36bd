"""Scenarios of endpoints with oauth2: where their access tokens come from, and for how long."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final, TypeVar

from hookproof.conformance.experiments.deliveries.security.token_server import (
    MAPPED_FIELDS,
    SHORT_LIFE_S,
    STANDARD_FIELDS,
    ScriptedTokenServer,
    authorized_destination,
    new_token_server,
    oauth2_towards,
    shortest_unit,
)
from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.experiments.support.telling_texts import client_secret
from hookproof.conformance.model.evidence import PreconditionFailed
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.observations.delivery.security.credentials import (
    AUTHORIZED,
    EVENT,
    FURTHER,
    PLAIN,
)
from hookproof.conformance.observations.delivery.security.oauth2 import (
    AFTER,
    AGAIN,
    ANOTHER_AUDIENCE,
    ANOTHER_CLIENT,
    ANOTHER_SCOPE,
    ANOTHER_SERVER,
    FULLY_MAPPED,
    AssertionGrant,
    OAuth2Deliveries,
    PartlyMappedToken,
    RedirectedTokenUrl,
    RepeatedDeliveries,
    SharedSecretGrant,
    SharedTokenUrl,
    ShortLivedToken,
    TypedToken,
)
from hookproof.conformance.observations.delivery.security.token_requests import CLIENT
from hookproof.conformance.observations.destinations import Destination
from hookproof.conformance.observations.endpoint_records import FETCHED
from hookproof.receiver.replies.script import Reply
from hookproof.spec.dialect.vocabulary import PartialMapping

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

Granted = TypeVar("Granted", bound=OAuth2Deliveries)


async def shared_secret(
    scenario: Scenario, *, mapping: Mapping[str, str] | None
) -> SharedSecretGrant:
    """Client identifier and shared secret; the token answer may need a field_mapping. Without one
    the secret is a text that tells, if the target accepts it.
    """
    server = await new_token_server(scenario, mapping=mapping)
    members: dict[str, Any] = {}
    if mapping is None:
        members["client_secret"] = await accepted_client_secret(scenario, server)
    await deliver_one(scenario, await authorized_destination(scenario, server, **members))
    return await observe_tokens(scenario, SharedSecretGrant, server)


async def accepted_client_secret(scenario: Scenario, server: ScriptedTokenServer) -> str:
    """A shared secret that any alteration changes, or else a word.

    The endpoint that is tried with it has a token URL of its own: it may be visited, too.
    """
    telling, usual = client_secret(scenario.bodies.word("telling")), scenario.bodies.word("shared")
    members = {**server.members, "client_secret": telling}
    elsewhere = await scenario.context.receiver.new_token()
    authentication = oauth2_towards(scenario, elsewhere.url, **members)
    body = scenario.bodies.quiet_endpoint(authentication=authentication)
    answer = await scenario.trial.call("createEndpoint", role="probe", body=body)
    return telling if answer.succeeded else usual


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


async def observe_tokens(
    scenario: Scenario, observation: type[Granted], server: ScriptedTokenServer, **fields: Any
) -> Granted:
    """An observation with what arrived at the token server."""
    await scenario.trial.arrivals(server.token, count=0, timeout_s=0)
    return await scenario.observe(
        observation, token_server=server.token, issued=server.issued, **fields
    )
