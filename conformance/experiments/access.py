"""Access: every operation with each kind of key that must not open it, and what was refused changed nothing.

Facts of a case: `kind`, what was wrong with the key, and the `operation_id` that was called with it.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from conformance.client import Key
from conformance.evidence import Case
from conformance.experiments.bench import Bench, Trial, experiment
from conformance.experiments.inventory import NO_PORTAL_LINKS, put_back
from conformance.experiments.request_bodies import RequestBodies
from conformance.experiments.valid_requests import ValidRequests, turn, valid_requests
from conformance.target import Project
from spec.contract import OPERATION_IDS

PLACEHOLDER = "{key}"
OTHER_SCHEMES: Final = ("Basic ", "Token ", "Bearer ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One way to ask without being allowed to. `authorization` is sent instead of what `key` stands for."""

    kind: str
    key: Key = Key.OWN
    authorization: str | None = None
    project: Project | None = None

    def arguments(self) -> dict[str, Any]:
        """What the call needs to carry the key."""
        headers = [] if self.authorization is None else [("Authorization", self.authorization)]
        key = self.key if self.authorization is None else Key.NONE
        return {"key": key, "headers": headers, "project": self.project}


@experiment("access", busy=True)
async def access(bench: Bench) -> AsyncIterator[Case]:
    """One case per operation and kind of key, and the traces that refused requests must not leave."""
    trial = bench.trial("resources to ask for")
    requests = await valid_requests(bench, trial)
    attempts = tuple(_attempts(bench, await _credentials(bench, trial)))
    yield trial.case()
    if len(bench.projects) == 1:
        yield bench.trial("the key of another project").obstacle("One project has no foreign key; name a second one.")
    tried = [_refusals(bench, requests, operation_id, attempts) for operation_id in OPERATION_IDS]
    for cases in await asyncio.gather(*tried):
        for case in cases:
            yield case
    yield await _no_endpoint_left(bench, requests)
    yield await _no_event_left(bench)


def _attempts(bench: Bench, credentials: dict[str, str]) -> Iterator[Attempt]:
    own, written = bench.projects[0], bench.dialect.authentication.key_format
    for key in (Key.NONE, Key.EMPTY, Key.WRONG, Key.TRUNCATED):
        yield Attempt(kind=key.value, key=key)
    before = written.partition(PLACEHOLDER)[0]
    others = [scheme for scheme in OTHER_SCHEMES if scheme.strip().casefold() != before.strip().casefold()]
    yield Attempt(kind="format", authorization=others[0] + own.api_key)
    if before.strip():
        yield Attempt(kind="format", key=Key.BARE)
    for credential in credentials.values():
        yield Attempt(kind="credential", authorization=written.replace(PLACEHOLDER, credential))
    yield Attempt(kind="unknown project", project=Project(id=bench.word("nowhere"), api_key=own.api_key))
    if len(bench.projects) > 1:
        yield Attempt(kind="foreign", project=Project(id=own.id, api_key=bench.projects[1].api_key))


async def _credentials(bench: Bench, trial: Trial) -> dict[str, str]:
    """Credentials of an endpoint's outgoing authentication, which open nothing here (section 5, item 4)."""
    bodies = RequestBodies.of(bench)
    authentication = bodies.oauth2()
    await trial.call("createEndpoint", role="prepare", body=bodies.quiet_endpoint(authentication=authentication))
    return {"client_secret": authentication["oauth2"]["client_secret"]}


async def _refusals(
    bench: Bench, requests: ValidRequests, operation_id: str, attempts: Sequence[Attempt]
) -> list[Case]:
    """One after the other, since a key that opens after all changes what the next attempt looks at."""
    if not requests.can_call(operation_id):
        return [bench.trial(f"{operation_id} without the right key").obstacle(NO_PORTAL_LINKS)]
    return [await _refusal(bench, requests, operation_id, attempt) for attempt in attempts]


async def _refusal(bench: Bench, requests: ValidRequests, operation_id: str, attempt: Attempt) -> Case:
    trial = bench.trial(f"{operation_id}, key: {attempt.kind}")
    async with turn(bench, operation_id):
        await _look(trial, requests, operation_id, "before")
        await trial.call(
            operation_id,
            role="refused",
            path=requests.path(operation_id),
            body=requests.body(operation_id),
            **attempt.arguments(),
        )
        await _look(trial, requests, operation_id, "after")
    return trial.case(facts={"kind": attempt.kind, "operation_id": operation_id})


async def _look(trial: Trial, requests: ValidRequests, operation_id: str, role: str) -> None:
    """Fetch what a refused roll or update must leave as it was."""
    if operation_id == "expireEndpointSecret":
        await trial.call("getEndpoint", role=role, path=requests.path("getEndpoint"))
    if operation_id == "updatePortalLink":
        await trial.call("getPortalLink", role=role, path=requests.path("getPortalLink"))


async def _no_endpoint_left(bench: Bench, requests: ValidRequests) -> Case:
    """A portal link shows the endpoints of its owner: a refused one must not be among them (section 2.6)."""
    trial = bench.trial("createEndpoint leaves nothing")
    link = requests.portal_link
    if link is None:
        return trial.obstacle(NO_PORTAL_LINKS)
    owner, place = bench.word("owner"), requests.path("getPortalLink")
    async with bench.portal_links:
        await trial.call(
            "updatePortalLink", role="prepare", path=place, body=requests.bodies.portal_link(owner_id=owner)
        )
        await trial.call("getPortalLink", role="before", path=place)
        for key in (Key.NONE, Key.WRONG):
            body = requests.bodies.quiet_endpoint(owner_id=owner)
            await trial.call("createEndpoint", role="refused", body=body, key=key)
        await trial.call("getPortalLink", role="after", path=place)
        await put_back(bench, trial, link)
    return trial.case(facts={"kind": "trace", "operation_id": "createEndpoint"})


async def _no_event_left(bench: Bench) -> Case:
    """An idempotency_key that only refused broadcasts carried is not used up (section 2.8)."""
    trial = bench.trial("createBroadcastEvent leaves nothing")
    body = RequestBodies.of(bench).broadcast(idempotency_key=bench.word("key"))
    for key in (Key.NONE, Key.WRONG):
        await trial.call("createBroadcastEvent", role="refused", body=body, key=key)
    await trial.call("createBroadcastEvent", role="accepted", body=body)
    return trial.case(facts={"kind": "trace", "operation_id": "createBroadcastEvent"})
