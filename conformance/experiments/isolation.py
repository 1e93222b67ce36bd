"""Isolation: what one project holds is out of reach through the path of another (section 1).

Facts of a case: `about`, the operation that was tried across, or what was compared.
"""

from collections.abc import AsyncIterator

from conformance.evidence import Case
from conformance.experiments.bench import Bench, Trial, experiment
from conformance.experiments.inventory import NO_PORTAL_LINKS, put_back, stocked
from conformance.experiments.valid_requests import ValidRequests, valid_requests
from conformance.target import Project

ONE_PROJECT = "it takes two projects: name a second one with its key in target.yaml"


@experiment("isolation", busy=True)
async def isolation(bench: Bench) -> AsyncIterator[Case]:
    """Everything of the first project is asked for in the second, with the second one's key."""
    if len(bench.projects) < 2:  # noqa: PLR2004
        yield bench.trial("two projects").obstacle(ONE_PROJECT)
        return
    trial = bench.trial("resources to ask for")
    requests, elsewhere = await valid_requests(bench, trial), bench.projects[1]
    yield trial.case()
    for operation_id in ("getEndpoint", "expireEndpointSecret", "getPortalLink", "updatePortalLink"):
        yield await _across(bench, requests, operation_id, elsewhere)
    for operation_id in ("listPortalLinks", "listSources"):
        yield await _lists(bench, operation_id, elsewhere)
    yield await _same_owner(bench, requests, elsewhere)


async def _across(bench: Bench, requests: ValidRequests, operation_id: str, elsewhere: Project) -> Case:
    trial = bench.trial(f"{operation_id} across projects")
    if not requests.can_call(operation_id):
        return trial.obstacle(NO_PORTAL_LINKS)
    fetch = "getPortalLink" if "PortalLink" in operation_id else "getEndpoint"
    path, body = requests.path(operation_id), requests.body(operation_id)
    async with bench.portal_links:
        await trial.call(fetch, role="before", path=path)
        await trial.call(operation_id, role="across", path=path, body=body, project=elsewhere)
        await trial.call(fetch, role="after", path=path)
    return trial.case(facts={"about": operation_id})


async def _lists(bench: Bench, operation_id: str, elsewhere: Project) -> Case:
    trial = bench.trial(f"{operation_id} in two projects")
    await stocked(bench, trial, operation_id)
    await stocked(bench, trial, operation_id, project=elsewhere)
    return trial.case(facts={"about": operation_id, "projects": [bench.projects[0].id, elsewhere.id]})


async def _same_owner(bench: Bench, requests: ValidRequests, elsewhere: Project) -> Case:
    """An endpoint of another project with the portal link's owner_id (section 2.6)."""
    trial: Trial = bench.trial("one owner_id in two projects")
    link = requests.portal_link
    if link is None:
        return trial.obstacle(NO_PORTAL_LINKS)
    owner, place = bench.word("owner"), requests.path("getPortalLink")
    async with bench.portal_links:
        body = requests.bodies.portal_link(owner_id=owner)
        await trial.call("updatePortalLink", role="prepare", path=place, body=body)
        for role, project in (("here", bench.projects[0]), ("elsewhere", elsewhere)):
            endpoint = requests.bodies.quiet_endpoint(owner_id=owner)
            await trial.call("createEndpoint", role=role, body=endpoint, project=project)
        await trial.call("getPortalLink", role="after", path=place)
        await put_back(bench, trial, link)
    return trial.case(facts={"about": "same owner"})
