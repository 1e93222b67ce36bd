"""Access: every operation with each kind of key that must not open it (section 5).

What is refused must change nothing: what a roll or an update is about is fetched before and after.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from hookproof.conformance.experiments.context import ExperimentContext, Trial
from hookproof.conformance.experiments.support.existing_resources import (
    NO_SECOND_PROJECT,
    give_owner,
    put_back,
    put_back_afterwards,
)
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.experiments.support.valid_requests import (
    ValidRequests,
    hold_portal_links_for,
    prepare_valid_requests,
)
from hookproof.conformance.model.evidence import Evidence, Exchange
from hookproof.conformance.model.experiment_registry import Sharing, experiment
from hookproof.conformance.observations.preparation import Preparation
from hookproof.conformance.subjects.events.evidence import FRESH_KEY
from hookproof.conformance.subjects.keys.evidence import (
    KNOWN,
    BroadcastsWithoutRight,
    CallWithKey,
    CreationsWithoutRight,
    KeyKind,
)
from hookproof.conformance.target.client import Key
from hookproof.conformance.target.definition import Project
from hookproof.spec.contract.service_contract import OPERATION_IDS
from hookproof.spec.dialect.vocabulary import OnInput

PLACEHOLDER = "{key}"
# Where services look for a key besides the Authorization header.
KEY_HEADERS: Final = ("X-Api-Key", "Api-Key", "X-Auth-Token")
KEY_FIELDS: Final = ("api_key", "apikey", "key", "token", "access_token")
HEXADECIMAL: Final = re.compile("[0-9a-fA-F-]+")
OTHER_SCHEMES: Final = ("Basic ", "Token ", "Bearer ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One way to send a request without being allowed to.

    `headers` and `query` are sent besides what `key` stands for, `fields` in the body. With
    `unknown` the path names a resource that there is not: who may not ask is not told that.
    """

    kind: KeyKind
    key: Key = Key.OWN
    headers: Sequence[tuple[str, str]] = ()
    query: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)
    project: Project | None = None
    unknown: bool = False

    @classmethod
    def with_authorization(cls, kind: KeyKind, value: str) -> "Attempt":
        """With this header instead of a key."""
        return cls(kind=kind, key=Key.NONE, headers=[("Authorization", value)])


@experiment(
    "access",
    observes=(CallWithKey, CreationsWithoutRight, BroadcastsWithoutRight, Preparation),
    busy=True,
    sharing=Sharing.CONFIRMED,
)
async def access(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Call each operation with each kind of key, and see what refused requests have changed."""
    trial = context.trial("resources to ask for")
    requests = await prepare_valid_requests(context, trial)
    attempts = tuple(_attempts(context, await _create_credentials(context, trial)))
    yield trial.observe(Preparation)
    if len(context.projects) == 1:
        yield context.trial("the key of another project").not_observed(
            CallWithKey,
            f"{NO_SECOND_PROJECT}, since the key of another project is tried",
        )
    operations = [
        _try_every_key(context, requests, operation_id, attempts) for operation_id in OPERATION_IDS
    ]
    for observations in await asyncio.gather(*operations):
        for observation in observations:
            yield observation
    yield await _try_to_create_endpoints(context, requests)
    yield await _try_to_broadcast(context)


def _attempts(context: ExperimentContext, credentials: dict[str, str]) -> Iterator[Attempt]:
    own, key_format = context.projects[0], context.dialect.authentication.key_format
    for key in (Key.NONE, Key.EMPTY, Key.WRONG, Key.TRUNCATED):
        yield Attempt(kind=KeyKind(key.value), key=key)
    for key in (Key.NONE, Key.WRONG):
        yield Attempt(kind=KeyKind(key.value), key=key, unknown=True)
    for other in (own.api_key.swapcase(), f"{own.api_key}x"):
        # The same UUID may be written in capitals.
        if other != own.api_key and not HEXADECIMAL.fullmatch(own.api_key):
            yield Attempt.with_authorization(
                KeyKind.ALTERED, key_format.replace(PLACEHOLDER, other)
            )
    yield from attempts_in_other_formats(key_format, own.api_key)
    for credential in credentials.values():
        yield Attempt.with_authorization(
            KeyKind.CREDENTIAL, key_format.replace(PLACEHOLDER, credential)
        )
    in_fields = dict.fromkeys(KEY_FIELDS, own.api_key)
    cookies = "; ".join(f"{name}={own.api_key}" for name in KEY_FIELDS)
    yield Attempt(
        kind=KeyKind.ELSEWHERE,
        key=Key.NONE,
        query=in_fields,
        headers=[("Cookie", cookies), *((name, own.api_key) for name in KEY_HEADERS)],
    )
    if context.dialect.requests.unknown_fields.allows(OnInput.IGNORED):
        yield Attempt(kind=KeyKind.IN_BODY, key=Key.NONE, fields=in_fields)
    yield Attempt(
        kind=KeyKind.UNKNOWN_PROJECT,
        key=Key.FOREIGN,
        project=context.unknown_project(),
    )
    if len(context.projects) > 1:
        yield Attempt(
            kind=KeyKind.FOREIGN,
            key=Key.FOREIGN,
            project=Project(id=own.id, api_key=context.projects[1].api_key),
        )


def attempts_in_other_formats(key_format: str, key: str) -> Iterator[Attempt]:
    """The key in another scheme than that of the format and, if it has one, without a scheme."""
    own_scheme = key_format.partition(PLACEHOLDER)[0].strip()
    other_schemes = [
        scheme for scheme in OTHER_SCHEMES if scheme.strip().casefold() != own_scheme.casefold()
    ]
    yield Attempt.with_authorization(KeyKind.FORMAT, other_schemes[0] + key)
    if own_scheme:
        yield Attempt(kind=KeyKind.FORMAT, key=Key.BARE)


async def _create_credentials(context: ExperimentContext, trial: Trial) -> dict[str, str]:
    """Credentials of an endpoint's outgoing authentication, which authorize nothing here (section
    5, item 4); none where the target lacks oauth2.
    """
    if context.why_lacking("oauth2"):
        return {}
    bodies = RequestBodies.of(context)
    authentication = bodies.oauth2()
    await trial.call(
        "createEndpoint", role="prepare", body=bodies.quiet_endpoint(authentication=authentication)
    )
    return {"client_secret": authentication["oauth2"]["client_secret"]}


async def _try_every_key(
    context: ExperimentContext,
    requests: ValidRequests,
    operation_id: str,
    attempts: Sequence[Attempt],
) -> list[Evidence]:
    # One after the other: a key that is accepted after all changes what the next attempt fetches.
    if not requests.can_call(operation_id):
        return [
            context.trial(f"{operation_id} without the right key").not_observed(
                CallWithKey, requests.why_not(operation_id)
            )
        ]
    async with hold_portal_links_for(context, operation_id):
        authorized = await _call_with_right_key(context, requests, operation_id)
        known: dict[KeyKind, Exchange] = {}
        return [
            await _try_key(context, requests, operation_id, attempt, authorized, known)
            for attempt in attempts
            if (not attempt.fields or requests.body(operation_id) is not None)
            and (not attempt.unknown or requests.path(operation_id))
        ]


async def _call_with_right_key(
    context: ExperimentContext, requests: ValidRequests, operation_id: str
) -> Exchange:
    """Without a key that is accepted, a refusal shows nothing."""
    trial, link = context.trial(f"{operation_id} with the right key"), requests.portal_link
    if operation_id == "updatePortalLink" and link is not None:
        return replace(await put_back(context, trial, link), role="authorized")
    return await trial.call(
        operation_id,
        role="authorized",
        path=requests.path(operation_id),
        body=requests.body(operation_id),
    )


async def _try_key(
    context: ExperimentContext,
    requests: ValidRequests,
    operation_id: str,
    attempt: Attempt,
    authorized: Exchange,
    known: dict[KeyKind, Exchange],
) -> Evidence:
    """Try to call an operation with a key; `known` are the calls for a resource that there is."""
    unknown = ", an unknown resource" if attempt.unknown else ""
    trial = context.trial(f"{operation_id}, key: {attempt.kind}{unknown}")
    trial.exchanges.append(authorized)
    await _fetch_subject(trial, requests, operation_id, "before")
    body, path = requests.body(operation_id), requests.path(operation_id)
    if attempt.unknown:
        trial.exchanges.append(replace(known[attempt.kind], role=KNOWN))
    tried = await trial.call(
        operation_id,
        role="refused",
        path={name: requests.unknown(uid) for name, uid in path.items()}
        if attempt.unknown
        else path,
        query=attempt.query,
        body=body if body is None else {**body, **attempt.fields},
        headers=attempt.headers,
        key=attempt.key,
        project=attempt.project,
    )
    known.setdefault(attempt.kind, tried)
    await _fetch_subject(trial, requests, operation_id, "after")
    return trial.observe(CallWithKey, kind=attempt.kind, operation_id=operation_id)


async def _fetch_subject(
    trial: Trial, requests: ValidRequests, operation_id: str, role: str
) -> None:
    """Fetch what a refused roll or update must leave as it was."""
    if operation_id == "expireEndpointSecret":
        await trial.call("getEndpoint", role=role, path=requests.path("getEndpoint"))
    if operation_id == "updatePortalLink":
        await trial.call("getPortalLink", role=role, path=requests.path("getPortalLink"))


async def _try_to_create_endpoints(context: ExperimentContext, requests: ValidRequests) -> Evidence:
    """A portal link shows the endpoints of its owner: those of refused requests must not be among
    them, beside one that is allowed (section 2.6).
    """
    trial = context.trial("createEndpoint leaves nothing")
    link = requests.portal_link
    if link is None:
        return trial.not_observed(CreationsWithoutRight, requests.why_not("getPortalLink"))
    owner, place = context.word("owner"), requests.path("getPortalLink")
    async with context.portal_links, put_back_afterwards(context, trial, link):
        await give_owner(trial, requests.bodies, link, owner)
        bodies = [requests.bodies.quiet_endpoint(owner_id=owner) for _ in range(3)]
        await trial.call("createEndpoint", role="allowed", body=bodies.pop())
        await trial.call("getPortalLink", role="before", path=place)
        for body, key in zip(bodies, (Key.NONE, Key.WRONG), strict=True):
            await trial.call("createEndpoint", role="refused", body=body, key=key)
        await trial.call("getPortalLink", role="after", path=place)
    return trial.observe(CreationsWithoutRight, operation_id="createEndpoint")


async def _try_to_broadcast(context: ExperimentContext) -> Evidence:
    """An idempotency_key that only refused broadcasts carried is not used up (section 2.8)."""
    trial = context.trial("createBroadcastEvent leaves nothing")
    bodies = RequestBodies.of(context)
    body = bodies.broadcast(idempotency_key=context.word("key"))
    for key in (Key.NONE, Key.WRONG):
        await trial.call("createBroadcastEvent", role="refused", body=body, key=key)
    await trial.call("createBroadcastEvent", role="accepted", body=body)
    fresh = bodies.broadcast(idempotency_key=context.word("fresh key"))
    await trial.call("createBroadcastEvent", role=FRESH_KEY, body=fresh)
    return trial.observe(BroadcastsWithoutRight, operation_id="createBroadcastEvent")
