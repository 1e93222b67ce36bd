"""Isolation: what one project holds is out of reach through the path of another (section 1)."""

from collections.abc import AsyncIterator
from contextlib import nullcontext

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.support.existing_resources import (
    LISTS,
    NO_SECOND_PROJECT,
    fetch_seeded_list,
    give_owner,
    put_back_afterwards,
)
from hookproof.conformance.experiments.support.valid_requests import (
    ValidRequests,
    prepare_valid_requests,
)
from hookproof.conformance.model.evidence import Evidence
from hookproof.conformance.model.experiment_registry import Sharing, experiment
from hookproof.conformance.observations.preparation import Preparation
from hookproof.conformance.subjects.isolation.evidence import (
    CallAcrossProjects,
    ListsOfTwoProjects,
    OneOwnerInTwoProjects,
)
from hookproof.conformance.target.definition import Project


@experiment(
    "isolation",
    observes=(CallAcrossProjects, ListsOfTwoProjects, OneOwnerInTwoProjects, Preparation),
    busy=True,
    sharing=Sharing.QUIET,
)
async def isolation(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Request everything of the first project in the second one, with the second one's key."""
    if len(context.projects) < 2:  # noqa: PLR2004
        yield context.trial("two projects").not_observed(None, NO_SECOND_PROJECT)
        return
    trial = context.trial("resources to ask for")
    requests, elsewhere = await prepare_valid_requests(context, trial), context.projects[1]
    yield trial.observe(Preparation)
    for operation_id in (
        "getEndpoint",
        "expireEndpointSecret",
        "getPortalLink",
        "updatePortalLink",
    ):
        yield await _call_across(context, requests, operation_id, elsewhere)
    for operation_id in LISTS:
        yield await _fetch_lists(context, operation_id, elsewhere)
    yield await _create_for_same_owner(context, requests, elsewhere)


async def _call_across(
    context: ExperimentContext, requests: ValidRequests, operation_id: str, elsewhere: Project
) -> Evidence:
    trial = context.trial(f"{operation_id} across projects")
    if not requests.can_call(operation_id):
        return trial.not_observed(CallAcrossProjects, requests.why_not(operation_id))
    fetch = "getPortalLink" if "PortalLink" in operation_id else "getEndpoint"
    path, body = requests.path(operation_id), requests.body(operation_id)
    async with context.portal_links:
        await trial.call(fetch, role="before", path=path)
        await trial.call(operation_id, role="across", path=path, body=body, project=elsewhere)
        await trial.call(fetch, role="after", path=path)
    return trial.observe(CallAcrossProjects, operation_id=operation_id)


async def _fetch_lists(
    context: ExperimentContext, operation_id: str, elsewhere: Project
) -> Evidence:
    trial = context.trial(f"{operation_id} in two projects")
    if lacking := context.why_unasked(operation_id):
        return trial.not_observed(ListsOfTwoProjects, lacking)
    async with context.portal_links if operation_id == "listPortalLinks" else nullcontext():
        await fetch_seeded_list(context, trial, operation_id)
    await fetch_seeded_list(context, trial, operation_id, project=elsewhere)
    return trial.observe(
        ListsOfTwoProjects,
        operation_id=operation_id,
        projects=(context.projects[0].id, elsewhere.id),
    )


async def _create_for_same_owner(
    context: ExperimentContext, requests: ValidRequests, elsewhere: Project
) -> Evidence:
    """An endpoint of another project with the portal link's owner_id (section 2.6)."""
    trial = context.trial("one owner_id in two projects")
    link = requests.portal_link
    if link is None:
        return trial.not_observed(OneOwnerInTwoProjects, requests.why_not("getPortalLink"))
    owner, place = context.word("owner"), requests.path("getPortalLink")
    async with context.portal_links, put_back_afterwards(context, trial, link):
        await give_owner(trial, requests.bodies, link, owner)
        for role, project in (("here", context.projects[0]), ("elsewhere", elsewhere)):
            endpoint = requests.bodies.quiet_endpoint(owner_id=owner)
            await trial.call("createEndpoint", role=role, body=endpoint, project=project)
        await trial.call("getPortalLink", role="after", path=place)
    return trial.observe(OneOwnerInTwoProjects)
