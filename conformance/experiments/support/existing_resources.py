"""What a project holds already: portal links and sources, which the eight operations cannot create.

They are named as fixtures in target.yaml or found through the list operations; a provision hook may
fill the lists first. Portal links are put back as they were.
"""

from collections.abc import Mapping
from typing import Any

from hookproof.conformance.experiments.context import ExperimentContext, Trial
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.model.evidence import Exchange, PreconditionFailed
from hookproof.conformance.observations.answer import has_value
from hookproof.conformance.target.definition import Fixtures, Project

PAGES = 40

NO_PORTAL_LINKS = (
    "the project has no portal link, and no operation creates one: "
    "make some at the target, or give target.yaml a provision hook create_portal_link"
)
NO_SOURCES = (
    "the project has no source, and no operation creates one: make some at the target, or give"
    " target.yaml a provision hook create_source"
)

NO_SECOND_PROJECT = "it takes two projects: name a second one with its key in target.yaml"


async def fetch_seeded_list(
    context: ExperimentContext,
    trial: Trial,
    operation_id: str,
    *,
    pages: int = PAGES,
    project: Project | None = None,
) -> tuple[dict[str, Any], ...]:
    """What `fetch_list` returns, after a provision hook has filled the list if it was too short."""
    context.require_capability("sources" if operation_id == "listSources" else "portal_links")
    await context.seeding.fill(context.api, operation_id, project or trial.project)
    return await fetch_list(trial, operation_id, pages=pages, project=project)


async def find_changeable_links(
    context: ExperimentContext, trial: Trial, *, pages: int = PAGES
) -> tuple[dict[str, Any], ...]:
    """The portal links of the trial's project that may be changed: the fixtures, or all if none are
    named.

    Raises PreconditionFailed for a fixture that the target does not show.
    """
    fixtures = context.fixtures.get(trial.project.id, Fixtures()).portal_links
    if not fixtures:
        return await fetch_seeded_list(context, trial, "listPortalLinks", pages=pages)
    answers = [
        await trial.call("getPortalLink", role="inventory", path={"portalLinkID": uid})
        for uid in fixtures
    ]
    for uid, answer in zip(fixtures, answers, strict=True):
        if uid_of(answer) is None:
            raise PreconditionFailed(
                f"the portal link {uid} that fixtures name in target.yaml is not there for project"
                f" {trial.project.id}: its retrieval was answered {answer.problem or answer.status}"
            )
    return tuple(answer.data for answer in answers)


async def fetch_list(
    trial: Trial, operation_id: str, *, pages: int = PAGES, project: Project | None = None
) -> tuple[dict[str, Any], ...]:
    """The resources on the first pages of a list, in the order in which the target shows them
    (section 2.2).
    """
    resources: dict[str, dict[str, Any]] = {}
    query: dict[str, str] = {}
    for _ in range(pages):
        page = await trial.call(operation_id, role="inventory", query=query, project=project)
        resources.update({item["uid"]: item for item in content(page)})
        cursor = pagination(page).get("next_page_cursor")
        if pagination(page).get("has_next_page") is not True or not isinstance(cursor, str):
            break
        query = {"direction": "next", "next_page_cursor": cursor}
    return tuple(resources.values())


def content(page: Exchange) -> tuple[dict[str, Any], ...]:
    """The resources with a uid on a page (section 2.2); anything else is left out."""
    items = page.data.get("content") if isinstance(page.data, dict) else None
    if not isinstance(items, list):
        return ()
    return tuple(
        item for item in items if isinstance(item, dict) and isinstance(item.get("uid"), str)
    )


def uid_of(answer: Exchange) -> str | None:
    """The uid of the resource in an answer; None if it is missing, empty or not a text."""
    uid = answer.data.get("uid") if isinstance(answer.data, dict) else None
    return uid if isinstance(uid, str) and uid else None


def pagination(page: Exchange) -> Mapping[str, Any]:
    """The pagination object of a page, or an empty one (section 2.2)."""
    shown = page.data.get("pagination") if isinstance(page.data, dict) else None
    return shown if isinstance(shown, dict) else {}


def kept_fields(bodies: RequestBodies, link: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a portal link for the fields that an update of it has to name (section 4.9)."""
    required = bodies.required("updatePortalLink")
    return {field: link[field] for field in required if has_value(link.get(field))}


async def put_back(context: ExperimentContext, trial: Trial, link: Mapping[str, Any]) -> Exchange:
    """Update a portal link with the name, owner and settings of `link` (section 4.6)."""
    restored = ("name", "owner_id", "can_manage_endpoint", "auth_type")
    fields = {field: link[field] for field in restored if link.get(field) is not None}
    body = RequestBodies.of(context).portal_link(**fields)
    return await trial.call(
        "updatePortalLink", role="put back", path={"portalLinkID": link["uid"]}, body=body
    )
