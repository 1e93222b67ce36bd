"""Linked: sequences that schemathesis makes along the links of the contract, for the oracles
(sections 4.1 to 4.6).

What a request is answered with is about the resource that an earlier one created, rolled, listed or
updated; nobody expects more of it than of any other exchange. The sequences are made up beforehand,
so that the same seed gives the same ones whatever the target answers. Facts: `valid`, for each
request whether it was meant to fit the contract.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Final
from urllib.parse import quote, unquote

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.generated.sweep import HarmlessRequests, sent
from hookproof.conformance.experiments.support.existing_resources import (
    changeable_links,
    content,
    put_back,
    uid_of,
)
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.generation.generated_requests import GeneratedRequest, linked_requests
from hookproof.conformance.generation.uid_placeholder import place_of
from hookproof.conformance.model.evidence import Evidence, Exchange
from hookproof.conformance.model.experiment_registry import experiment
from hookproof.conformance.model.profile import Profile

SEQUENCES: Final = {Profile.QUICK: 4, Profile.STANDARD: 16, Profile.DEEP: 120}
STEPS: Final = {Profile.QUICK: 6, Profile.STANDARD: 8, Profile.DEEP: 20}
CHANGED_BY: Final = "updatePortalLink"


@experiment("linked")
async def linked(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """One case per sequence."""
    trial = context.trial("portal links as they are")
    async with context.portal_links:
        links = {link["uid"]: link for link in await changeable_links(context, trial)}
        yield trial.case()
        preparation = HarmlessRequests(
            bodies=RequestBodies.of(context), known={}, random=context.random
        )
        made = linked_requests(
            context.contract.document,
            seed=context.random.getrandbits(32),
            sequences=SEQUENCES[context.profile],
            steps=STEPS[context.profile],
        )
        number = 0
        async with aclosing(made):
            async for requests in made:
                number += 1
                yield await _run_scenario(
                    context, [preparation.prepared(one) for one in requests], links, number
                )
        restored = context.trial("portal links as they were")
        for link in links.values():
            await put_back(context, restored, link)
        yield restored.case()


async def _run_scenario(
    context: ExperimentContext,
    requests: Sequence[GeneratedRequest],
    links: Mapping[str, object],
    number: int,
) -> Evidence:
    trial = context.trial(f"sequence {number}")
    for request in requests:
        filled = _filled(request, trial.exchanges)
        if (
            filled.operation_id == CHANGED_BY
            and unquote(filled.path_parameters["portalLinkID"]) not in links
        ):
            # Something is sent in its place, so that the others are still counted right; fetching
            # changes nothing.
            filled = replace(filled, operation_id="getPortalLink", content=None)
        trial.exchanges.append(await sent(context, trial.project, filled, role="linked"))
    return trial.case(facts={"valid": [one.valid for one in requests]})


def _filled(request: GeneratedRequest, answers: Sequence[Exchange]) -> GeneratedRequest:
    real = {name: uid_in(value, answers) for name, value in request.path_parameters.items()}
    return replace(request, path_parameters=real)


def uid_in(value: str, answers: Sequence[Exchange]) -> str:
    """The uid that a path parameter stands for; where the answer showed none it stays one that
    nobody has.
    """
    place = place_of(value)
    if place is None or place >= len(answers):
        return value
    shown = [uid_of(answers[place]), *(item["uid"] for item in content(answers[place]))]
    return next((quote(uid, safe="") for uid in shown if uid is not None), value)
