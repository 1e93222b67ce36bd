"""Requests that schemathesis generates from the contract, one by one and along its links, judged by
the oracles (sections 4.1 to 4.8).

Whatever is generated is made harmless first: hosts become reserved names, and endpoints such that
no broadcast reaches them.

A linked request is about the resource that an earlier one created, rolled, listed or updated. The
sequences are generated beforehand, so that the same seed gives the same ones whatever the target
answers.
"""

import asyncio
import json
import random
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import quote, unquote

from hookproof.conformance.experiments.context import ExperimentContext, Trial
from hookproof.conformance.experiments.support.existing_resources import (
    content,
    find_changeable_links,
    put_back,
    put_back_afterwards,
)
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.experiments.support.valid_requests import hold_portal_links_for
from hookproof.conformance.generation.generators import GeneratedRequest
from hookproof.conformance.generation.reserved_hosts import with_reserved_hosts
from hookproof.conformance.generation.uid_placeholder import place_of
from hookproof.conformance.model.evidence import Evidence, Exchange
from hookproof.conformance.model.experiment_registry import experiment
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.observations.answer import shown_uid
from hookproof.conformance.observations.preparation import GeneratedExchange, Preparation
from hookproof.conformance.subjects.sequences.evidence import LinkedRequests
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


@experiment("sweep", observes=(GeneratedExchange, Preparation), generates=True, broadcasts=10)
async def sweep(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Send every generated request, in the order in which they were generated.

    Broadcasts come first, before others have created all the endpoints that they would reach; what
    is not sent by then stays unsent. They go beside the rest, since they may have to wait for other
    experiments.
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
                if observation is not None:
                    yield observation
    finally:
        for link in links:
            async with context.portal_links:
                await put_back(context, restored, link)
    yield restored.observe(Preparation)


async def _send_generated(
    context: ExperimentContext, harmless: "HarmlessRequests"
) -> AsyncGenerator[Evidence | None, None]:
    """Each observation; None for what was not sent."""
    sending: list[asyncio.Task[Evidence]] = []
    broadcasting: list[asyncio.Task[Evidence | None]] = []
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
        while sending:
            yield await sending.pop(0)
        while broadcasting:
            yield await broadcasting.pop(0)
    finally:
        await requests.aclose()
        for task in (*sending, *broadcasting):
            task.cancel()
        await asyncio.gather(*sending, *broadcasting, return_exceptions=True)


def _name(request: GeneratedRequest) -> str:
    return f"{request.operation_id}, {request.phase}: {request.aim}"


async def _send_in_turn(
    turns: asyncio.Semaphore, context: ExperimentContext, trial: Trial, request: GeneratedRequest
) -> Evidence | None:
    """Send a broadcast, unless it would be delivered to the endpoints of others by now."""
    async with turns:
        return (
            None if context.others_receive() else await _send_and_observe(context, trial, request)
        )


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
            return encoded({**with_reserved_hosts(body), "url": self.bodies.url()})
        return encoded(with_reserved_hosts(body))


SEQUENCES: Final = {Profile.QUICK: 4, Profile.STANDARD: 16, Profile.DEEP: 120}
STEPS: Final = {Profile.QUICK: 6, Profile.STANDARD: 8, Profile.DEEP: 20}
CHANGED_BY: Final = "updatePortalLink"


@experiment("linked", observes=(LinkedRequests, Preparation), generates=True)
async def linked(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Send one generated sequence after the other."""
    trial = context.trial("portal links as they are")
    harmless = HarmlessRequests(
        bodies=RequestBodies.of(context),
        known={},
        random=context.random,
        lacking=context.lacking_fields(),
    )
    generated = context.generators.linked(
        context.contract.document,
        seed=context.random.getrandbits(32),
        sequences=SEQUENCES[context.profile],
        steps=STEPS[context.profile],
    )
    # Nobody has to wait for the portal links while the sequences are generated.
    async with aclosing(generated):
        sequences = [tuple(map(harmless.prepared, requests)) async for requests in generated]
    async with context.portal_links:
        existing = await find_changeable_links(context, trial)
        links = {link["uid"]: link for link in existing.links}
        yield trial.observe(Preparation)
        restored = context.trial("portal links as they were")
        async with put_back_afterwards(context, restored, *links.values()):
            for number, requests in enumerate(sequences, 1):
                yield await _send_sequence(context, requests, links, number)
        yield restored.observe(Preparation)


async def _send_sequence(
    context: ExperimentContext,
    requests: Sequence[GeneratedRequest],
    links: Mapping[str, object],
    number: int,
) -> Evidence:
    trial = context.trial(f"sequence {number}")
    answers: list[Exchange | None] = []
    for request in requests:
        if context.why_unasked(request.operation_id):
            answers.append(None)
            continue
        filled = _filled(request, answers)
        if (
            filled.operation_id == CHANGED_BY
            and unquote(filled.path_parameters["portalLinkID"]) not in links
        ):
            # A retrieval is sent instead: it changes nothing, and keeps the places of the others.
            filled = replace(filled, operation_id="getPortalLink", content=None)
        answers.append(await send(context, trial.project, filled, role="linked"))
    trial.exchanges.extend(filter(None, answers))
    sent = (request.valid for request, answer in zip(requests, answers, strict=True) if answer)
    return trial.observe(LinkedRequests, valid=tuple(sent))


def _filled(request: GeneratedRequest, answers: Sequence[Exchange | None]) -> GeneratedRequest:
    """The request with the uids that these answers show."""
    filled = {name: uid_in(value, answers) for name, value in request.path_parameters.items()}
    return replace(request, path_parameters=filled)


def uid_in(value: str, answers: Sequence[Exchange | None]) -> str:
    """The uid that a path parameter stands for, or the parameter itself if no answer showed one."""
    place = place_of(value)
    answer = answers[place] if place is not None and place < len(answers) else None
    if answer is None:
        return value
    uids = [shown_uid(answer), *(item["uid"] for item in content(answer))]
    return next((quote(uid, safe="") for uid in uids if uid is not None), value)
