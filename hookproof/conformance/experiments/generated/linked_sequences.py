"""Linked: sequences that schemathesis generates along the links of the contract, for the oracles.

Sections 4.1 to 4.6. A request is about the resource that an earlier one created, rolled, listed or
updated. The sequences are generated beforehand, so that the same seed gives the same ones whatever
the target answers.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Final
from urllib.parse import quote, unquote

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.generated.sweep import HarmlessRequests, send
from hookproof.conformance.experiments.support.existing_resources import (
    content,
    find_changeable_links,
    put_back_afterwards,
)
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.generation.generators import GeneratedRequest
from hookproof.conformance.generation.uid_placeholder import place_of
from hookproof.conformance.model.evidence import Evidence, Exchange
from hookproof.conformance.model.experiment_registry import experiment
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.observations.answer import shown_uid
from hookproof.conformance.observations.preparation import Preparation
from hookproof.conformance.observations.resources.sequence import LinkedRequests

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
                yield await _send_in_turn(context, requests, links, number)
        yield restored.observe(Preparation)


async def _send_in_turn(
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
