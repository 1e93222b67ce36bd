"""What a project holds already: portal links and sources, which the eight operations cannot create.

They are named as fixtures in target.yaml or found through the list operations; a provision hook may
fill the lists first. Portal links are put back as they were.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

from hookproof.conformance.experiments.context import ExperimentContext, Trial
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.model.evidence import Exchange, PreconditionFailed
from hookproof.conformance.observations.answer import (
    cursor,
    has_numeric_cursor,
    has_value,
    items,
    pagination,
    refused,
    shown,
)
from hookproof.conformance.observations.empty_list import NOTHING_LISTED
from hookproof.conformance.target.circuit_breaker import RunOver
from hookproof.conformance.target.definition import Fixtures, Project
from hookproof.spec.field_roles import shown_as_sent

PAGES = 40

LISTS: Final = ("listPortalLinks", "listSources")

NEXT, PREVIOUS = "next_page_cursor", "prev_page_cursor"

# The role of requests with a number as cursor, of which nobody knows how it is to be sent.
BY_NUMBER: Final = "by number"

NO_SECOND_PROJECT = (
    "it takes two projects: name a second one with its key, by --project and --api-key once more or"
    " in target.yaml"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExistingLinks:
    """Portal links that may be changed; where there are none, `reason` says why."""

    links: tuple[dict[str, Any], ...]
    reason: str = ""


async def fetch_seeded_list(
    context: ExperimentContext,
    trial: Trial,
    operation_id: str,
    *,
    pages: int = PAGES,
    project: Project | None = None,
) -> tuple[dict[str, Any], ...]:
    """What `fetch_list` returns, after a provision hook has filled the list if it was too short."""
    await context.seeding.fill(context.api, operation_id, project or trial.project)
    return await fetch_list(trial, operation_id, pages=pages, project=project)


async def find_changeable_links(
    context: ExperimentContext, trial: Trial, *, pages: int = PAGES
) -> ExistingLinks:
    """The portal links of the trial's project that may be changed.

    These are the fixtures if any are named, else all that are listed, else those that a provision
    hook has created although the list does not show them.
    """
    if lacking := context.why_lacking("portal_links"):
        return ExistingLinks(links=(), reason=lacking)
    named = context.fixtures.get(trial.project.id, Fixtures()).portal_links
    if named:
        return await _retrieve_links(trial, named, "fixtures name in target.yaml")
    if listed := await fetch_seeded_list(context, trial, "listPortalLinks", pages=pages):
        return ExistingLinks(links=listed)
    created = context.seeding.created("listPortalLinks", trial.project)
    if created:
        return await _retrieve_links(trial, created, "the provision hook created")
    failure = context.seeding.failure("listPortalLinks", trial.project)
    return ExistingLinks(links=(), reason=failure or why_list_is_empty(trial.exchanges[-1]))


async def _retrieve_links(trial: Trial, uids: Sequence[str], origin: str) -> ExistingLinks:
    answers = [await trial.call("getPortalLink", role="inventory", uid=uid) for uid in uids]
    links = [
        {**answer.data, "uid": uid}
        for uid, answer in zip(uids, answers, strict=True)
        if isinstance(answer.data, dict)
    ]
    reason = (
        f"none of the portal links that {origin} can be retrieved in project {trial.project.id}:"
        f" the retrieval of {uids[0]} was answered {outcome(answers[0])}"
    )
    return ExistingLinks(links=tuple(links), reason="" if links else reason)


def why_list_is_empty(page: Exchange) -> str:
    """Why a list showed no resource that can be used, and what would help."""
    if not page.succeeded:
        others = (
            ", or portal links named under fixtures in target.yaml"
            if page.operation_id == "listPortalLinks"
            else ""
        )
        return (
            f"{page.operation_id} was answered {outcome(page)}; a success of it would help{others}"
        )
    listed = shown(page).get("content")
    if not isinstance(listed, list):
        return f"{page.operation_id} succeeded, but showed no array data.content; one would help"
    if listed:
        return f"{page.operation_id} succeeded, but showed no uid in data.content; one would help"
    return NOTHING_LISTED[page.operation_id or ""]


def why_no_uid(created: Exchange) -> str:
    """Why no uid is known of what a request was to create."""
    if not created.succeeded:
        return f"{created.operation_id} was answered {outcome(created)}"
    return f"the answer to {created.operation_id} shows no uid by which it could be called"


def outcome(exchange: Exchange) -> str:
    """The status of an answer, or why there was none."""
    return exchange.problem or str(exchange.status)


def require_success(exchange: Exchange) -> None:
    """Raise PreconditionFailed unless the status is a 2xx, whatever the body shows.

    Deliveries are recognised by what the event carried, so that nothing else is needed to go on.
    """
    if not exchange.succeeded:
        raise PreconditionFailed(
            f"{exchange.operation_id} was answered {outcome(exchange)}; a success of it would help"
        )


async def fetch_list(
    trial: Trial, operation_id: str, *, pages: int = PAGES, project: Project | None = None
) -> tuple[dict[str, Any], ...]:
    """The resources on the first pages of a list, in the order in which the target shows them
    (section 2.2).
    """
    resources: dict[str, dict[str, Any]] = {}
    query: dict[str, str] = {}
    role = "inventory"
    for _ in range(pages):
        page = await trial.call(operation_id, role=role, query=query, project=project)
        known = len(resources)
        resources.update({item["uid"]: item for item in content(page)})
        if role == BY_NUMBER and len(resources) == known:
            break
        onward = cursor(page, NEXT)
        if pagination(page).get("has_next_page") is not True or onward is None:
            break
        query = {"direction": "next", NEXT: onward}
        role = BY_NUMBER if has_numeric_cursor(page, NEXT) else role
    return tuple(resources.values())


def content(page: Exchange) -> tuple[dict[str, Any], ...]:
    """The resources with a uid on a page (section 2.2); anything else is left out."""
    return tuple(dict(item) for item in items(page) if isinstance(item.get("uid"), str))


def kept_fields(bodies: RequestBodies, link: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a portal link for the fields that an update of it has to name (section 4.9)."""
    required = bodies.required("updatePortalLink")
    return {field: link[field] for field in required if has_value(link.get(field))}


async def give_owner(
    trial: Trial, bodies: RequestBodies, link: Mapping[str, Any], owner: str
) -> Exchange:
    """Update the owner of a portal link, and keep the values that an update has to name."""
    body = bodies.portal_link(**{**kept_fields(bodies, link), "owner_id": owner})
    return await trial.call("updatePortalLink", role="prepare", uid=link["uid"], body=body)


async def links_of_owner(
    trial: Trial, links: Sequence[Mapping[str, Any]], owner: str | None
) -> list[dict[str, Any]]:
    """Those of the portal links that have this owner, as a fetch shows them."""
    if owner is None:
        return []
    answers = [
        await trial.call("getPortalLink", role="inventory", uid=link["uid"]) for link in links
    ]
    return [
        {**answer.data, "uid": link["uid"]}
        for link, answer in zip(links, answers, strict=True)
        if shown(answer).get("owner_id") == owner
    ]


@asynccontextmanager
async def put_back_afterwards(
    context: ExperimentContext, trial: Trial, *links: Mapping[str, Any]
) -> AsyncIterator[None]:
    """Put the portal links back at the end, however it comes, unless the run is over.

    A generator that does this inside of another one has to be closed by that: it would put them
    back at some later time otherwise, when another experiment may have changed them.
    """
    try:
        yield
    finally:
        with suppress(RunOver):
            for link in links:
                await put_back(context, trial, link)


async def put_back(context: ExperimentContext, trial: Trial, link: Mapping[str, Any]) -> Exchange:
    """Update a portal link with the name, owner and settings of `link` (section 4.6).

    Where that is refused, its auth_type may be shown otherwise than it is sent, and is left out.
    """
    restored = shown_as_sent("updatePortalLink")
    fields = {field: link[field] for field in restored if link.get(field) is not None}
    bodies, uid = RequestBodies.of(context), link["uid"]
    answer = await trial.call(
        "updatePortalLink", role="put back", uid=uid, body=bodies.portal_link(**fields)
    )
    if not refused(answer) or fields.pop("auth_type", None) is None:
        return answer
    return await trial.call(
        "updatePortalLink", role="put back", uid=uid, body=bodies.portal_link(**fields)
    )
