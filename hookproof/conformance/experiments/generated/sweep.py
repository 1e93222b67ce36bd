"""Sweep: what schemathesis generates from the contract, sent to every operation and judged by the
oracles.

Whatever is generated is made harmless first: hosts become reserved names, and endpoints such that
no broadcast reaches them.
"""

import asyncio
import json
import random
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import quote, urlsplit

from hookproof.conformance.experiments.context import ExperimentContext, Trial
from hookproof.conformance.experiments.support.existing_resources import (
    find_changeable_links,
    put_back,
)
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.experiments.support.valid_requests import hold_portal_links_for
from hookproof.conformance.generation.generators import GeneratedRequest
from hookproof.conformance.model.evidence import Evidence, Exchange
from hookproof.conformance.model.experiment_registry import experiment
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.observations.answer import shown_uid
from hookproof.conformance.observations.preparation import GeneratedExchange, Preparation
from hookproof.conformance.target.client import Key, encoded
from hookproof.conformance.target.definition import Project

# Requests of the fuzzing phase, per operation.
EXAMPLES: Final = {Profile.QUICK: 3, Profile.STANDARD: 25, Profile.DEEP: 400}

IN_FLIGHT = 12
# The share of identifiers that are replaced by known ones; the others stay as generated.
KNOWN_SHARE = 0.8

BROADCAST: Final = "createBroadcastEvent"
ENDPOINTS = 6
PORTAL_LINKS = 2
RESERVED = ".invalid"


@experiment("sweep", observes=(GeneratedExchange, Preparation), generates=True)
async def sweep(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Send every generated request, in the order in which they were generated.

    Broadcasts come first, before others have created all the endpoints that they would reach, and
    beside the rest, since they may have to wait for other experiments.
    """
    trial = context.trial("resources to ask for")
    bodies = RequestBodies.of(context)
    async with context.portal_links:
        links = (await find_changeable_links(context, trial, pages=1)).links[:PORTAL_LINKS]
    creations = [
        await trial.call("createEndpoint", role="create", body=bodies.quiet_endpoint())
        for _ in range(ENDPOINTS)
    ]
    yield trial.observe(Preparation)
    known = {
        "endpointID": [uid for creation in creations if (uid := shown_uid(creation))],
        "portalLinkID": [link["uid"] for link in links],
    }
    harmless = HarmlessRequests(
        bodies=bodies, known=known, random=context.random, lacking=context.lacking_fields()
    )
    restored = context.trial("portal links as they were")
    try:
        async with aclosing(_send_generated(context, harmless)) as generated:
            async for observation in generated:
                yield observation
    finally:
        for link in links:
            async with context.portal_links:
                await put_back(context, restored, link)
    yield restored.observe(Preparation)


async def _send_generated(
    context: ExperimentContext, harmless: "HarmlessRequests"
) -> AsyncGenerator[Evidence, None]:
    sending: list[asyncio.Task[Evidence]] = []
    broadcasting: list[asyncio.Task[Evidence]] = []
    turns = asyncio.Semaphore(IN_FLIGHT)
    requests = context.generators.requests(
        context.contract.document,
        seed=context.random.getrandbits(32),
        examples=EXAMPLES[context.profile],
        first=BROADCAST,
    )
    try:
        async for generated in requests:
            request = harmless.prepared(generated)
            if context.why_unasked(request.operation_id):
                continue
            trial = context.trial(_name(request))
            if request.operation_id == BROADCAST:
                broadcast = _send_in_turn(turns, context, trial, request)
                broadcasting.append(asyncio.create_task(broadcast))
                continue
            sending.append(asyncio.create_task(_send_and_observe(context, trial, request)))
            if len(sending) >= IN_FLIGHT:
                yield await sending.pop(0)
            while broadcasting and broadcasting[0].done():
                yield await broadcasting.pop(0)
        for tasks in (sending, broadcasting):
            while tasks:
                yield await tasks.pop(0)
    finally:
        await requests.aclose()
        for task in (*sending, *broadcasting):
            task.cancel()
        await asyncio.gather(*sending, *broadcasting, return_exceptions=True)


def _name(request: GeneratedRequest) -> str:
    return f"{request.operation_id}, {request.phase}: {request.aim}"


async def _send_in_turn(
    turns: asyncio.Semaphore, context: ExperimentContext, trial: Trial, request: GeneratedRequest
) -> Evidence:
    async with turns:
        return await _send_and_observe(context, trial, request)


async def _send_and_observe(
    context: ExperimentContext, trial: Trial, request: GeneratedRequest
) -> Evidence:
    async with hold_portal_links_for(context, request.operation_id):
        trial.exchanges.append(await send(context, trial.project, request, role="sweep"))
    return trial.observe(GeneratedExchange)


async def send(
    context: ExperimentContext, project: Project, request: GeneratedRequest, *, role: str
) -> Exchange:
    """Send a generated request to a project, byte for byte."""
    operation = context.contract.operations[request.operation_id]
    path = operation.path.replace("{projectID}", quote(project.id, safe=""))
    for name, value in request.path_parameters.items():
        path = path.replace("{" + name + "}", value)
    return await context.api.send(
        operation_id=request.operation_id,
        role=role,
        project=project,
        method=operation.method,
        target=path + (f"?{request.query}" if request.query else ""),
        content=request.content,
        headers=context.api.headers(project, Key.OWN, False, request.headers),
        key=Key.OWN,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class HarmlessRequests:
    """Makes generated requests fit for this target: known identifiers, reserved hosts, endpoints
    that no broadcast reaches, and none of the fields that the target lacks.
    """

    bodies: RequestBodies
    known: Mapping[str, Sequence[str]]
    random: random.Random
    lacking: Collection[str] = ()

    def prepared(self, request: GeneratedRequest) -> GeneratedRequest:
        """The request to send; draws from `random`, so call it in the order of generation."""
        path_parameters = {
            name: self._identifier(name, value) for name, value in request.path_parameters.items()
        }
        content = request.content
        if request.operation_id == "createEndpoint":
            content = self._harmless_content(request)
        return replace(request, path_parameters=path_parameters, content=content)

    def _identifier(self, name: str, value: str) -> str:
        known = self.known.get(name)
        if known and self.random.random() < KNOWN_SHARE:
            return quote(self.random.choice(known), safe="")
        return value

    def _harmless_content(self, request: GeneratedRequest) -> bytes | None:
        try:
            body = json.loads(request.content or b"")
        except ValueError:
            return request.content
        if not isinstance(body, dict):
            return request.content
        for field, quiet in self.bodies.quiet_fields().items():
            if body.get(field, False) is False:
                body[field] = quiet
        for field in self.lacking:
            body.pop(field, None)
        if self.bodies.must_answer() and str(body.get("url", "")).startswith("https://"):
            return encoded({**_with_reserved_hosts(body), "url": self.bodies.url()})
        return encoded(_with_reserved_hosts(body))


def _with_reserved_hosts(value: Any) -> Any:
    """The value with every URL and e-mail address in it moved to a reserved name, so that nobody is
    called or written to.
    """
    if isinstance(value, dict):
        return {name: _with_reserved_hosts(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_with_reserved_hosts(member) for member in value]
    if isinstance(value, str) and ("://" in value or "@" in value):
        return _reserved(value)
    return value


def _reserved(text: str) -> str:
    scheme, mark, rest = text.partition("://")
    if not mark:
        return text if text.endswith(RESERVED) else f"{text}{RESERVED}"
    try:
        host = urlsplit(text).hostname or ""
    except ValueError:
        host = ""
    return text if host.endswith(RESERVED) else f"{scheme}://host{RESERVED}/{quote(rest, safe='')}"
