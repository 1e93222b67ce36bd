"""Sections 1 and 4: a resource belongs to one project, and is out of reach for every other."""

from typing import Final

from hookproof.conformance.checks.key_scope import is_for_another_project
from hookproof.conformance.checks.portal_links import is_member, members, named
from hookproof.conformance.checks.resource_change import effect_of
from hookproof.conformance.model.check_registry import CheckContext
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.law import Compared, Seen, law
from hookproof.conformance.observations.answer import (
    Kind,
    items,
    refused,
    resources,
    shown,
    shows_a_list,
    was_accepted,
    was_successful,
)
from hookproof.conformance.subjects.isolation.evidence import (
    CallAcrossProjects,
    ListsOfTwoProjects,
    OneOwnerInTwoProjects,
)

ACROSS: Final = {
    "getEndpoint": "1-4",
    "expireEndpointSecret": "1-5",
    "getPortalLink": "1-6",
    "updatePortalLink": "1-7",
}
LISTS: Final = {"listPortalLinks": "1-8", "listSources": "1-9"}


@law("1-3")
def a_resource_carries_the_project_of_its_path(exchange: Exchange, context: CheckContext) -> Seen:
    """As project_id; parts of a resource need not repeat it.

    Where the key may decide, the path says nothing of what another key gets.
    """
    if is_for_another_project(exchange, context):
        return
    for resource in resources(exchange):
        if not resource.nested and resource.kind is not Kind.SECRET:
            yield Compared(
                exchange.project,
                resource.fields.get("project_id", "absent"),
                [exchange],
                wrong=f"The project_id of a {resource.kind} is not the project in the path",
            )


@law(ACROSS)
def nothing_is_reached_through_another_project(
    call: CallAcrossProjects, context: CheckContext
) -> Seen:
    """With the other project's own key; what was tried changed nothing.

    A pass needs the resource to be there for its own project.
    """
    across, before, after = call.across, call.before, call.after
    if across is None:
        return
    effect = effect_of(across, before, after, context)
    kept_apart = refused(across) and before is not None and bool(shown(before))
    if effect or kept_apart or was_accepted(across):
        yield Compared(
            "a refusal, and no effect",
            f"status {across.status}{effect and f', and an effect: {effect}'}",
            [before, across, after],
            kept_apart and not effect,
            wrong=f"{call.operation_id} reaches a resource through the path of another project",
        )


@law(LISTS)
def a_list_holds_nothing_of_another_project(lists: ListsOfTwoProjects, _: CheckContext) -> Seen:
    """The lists of two projects have no resource in common.

    Where a page shows no list, nobody knows what is not on it.
    """
    pages = lists.pages
    all_read = all(was_successful(page) and shows_a_list(page) for page in pages)
    listed = {
        project: {
            str(item["uid"])
            for page in pages
            if page.project == project
            for item in items(page)
            if item.get("uid")
        }
        for project in lists.projects
    }
    here, elsewhere = listed.values()
    common = sorted(here & elsewhere)
    if common or (all_read and (here or elsewhere)):
        wrong = f"{lists.operation_id} lists a resource in two projects"
        yield Compared("none", common, pages, not common, wrong=wrong)


@law("1-10", wrong="A portal link takes up an endpoint of another project")
def a_portal_link_takes_up_no_endpoint_of_another_project(
    owned: OneOwnerInTwoProjects, _: CheckContext
) -> Seen:
    """One endpoint here and one elsewhere have the portal link's owner_id.

    A portal link that does not show the one here would not show the one elsewhere.
    """
    link, elsewhere = owned.portal_link, owned.elsewhere
    if link is None or elsewhere is None or not shown(link):
        return
    is_taken_up = is_member(link, elsewhere, owned.here)
    shows_its_own = any(is_member(link, endpoint, ()) for endpoint in owned.here)
    if is_taken_up or (is_taken_up is False and shows_its_own):
        expected = f"without {named(elsewhere)}"
        yield Compared(expected, members(link), [elsewhere, link], not is_taken_up)
