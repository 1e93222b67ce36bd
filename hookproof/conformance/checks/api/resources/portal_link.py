"""Sections 2.6 and 4.4 to 4.6: portal links, the endpoints in them, and what updates change."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any, Final

from hookproof.conformance.checks.support.agreement import IDENTIFYING, agreement, differences
from hookproof.conformance.checks.support.json_objects import objects_in
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement, json_text, judged
from hookproof.conformance.observations.answer import (
    Kind,
    has_value,
    items,
    pagination,
    path_parameters,
    resources,
    sent,
    shown,
    shown_uid,
    shows_every_uid,
    was_accepted,
)
from hookproof.conformance.observations.resources.portal_link import (
    ListedPortalLinks,
    PortalLinkObservation,
    PortalLinkOfOwner,
    PortalLinkUpdate,
    UpdateAmongPortalLinks,
)
from hookproof.conformance.observations.resources.sequence import ModeledOperations
from hookproof.conformance.observations.timestamp import is_before, moment
from hookproof.spec.field_roles import Role, fields_with, shown_as_sent

UPDATED: Final = shown_as_sent("updatePortalLink")
# What an update can change; the endpoints of a portal link change with deliveries too.
SETTINGS: Final = fields_with("PortalLink", Role.GIVEN)


def members(exchange: Exchange | None) -> list[str]:
    """The identifiers of the endpoints that a portal link shows in endpoints_metadata."""
    return _identifiers(shown(exchange).get("endpoints_metadata") if exchange is not None else None)


def is_member(link: Exchange, creation: Exchange, others: Iterable[Exchange]) -> bool | None:
    """Whether a portal link shows an endpoint, told by its uid, or else by its URL.

    A URL tells nothing if one of the `others` was created with the same. A service may spell a URL
    otherwise than it was sent: one that is missing tells nothing (None) unless the URL of this
    creation, or in the portal link that of one of the others, is shown as it was sent.
    """
    uid, url = shown_uid(creation), sent(creation).get("url")
    if uid in members(link):
        return True
    records = objects_in(shown(link).get("endpoints_metadata"))
    urls = [record.get("url") for record in records]
    of_others = [sent(other).get("url") for other in others if other is not creation]
    is_its_own = has_value(url) and url not in of_others
    if is_its_own and url in urls:
        return True
    if uid is not None and all(has_value(record.get("uid")) for record in records):
        return False
    is_spelled_as_sent = shown(creation).get("url") == url or any(
        other in urls for other in of_others
    )
    return False if creation.succeeded and is_its_own and is_spelled_as_sent else None


def settings(link: Mapping[str, Any]) -> dict[str, Any]:
    return {name: link.get(name) for name in SETTINGS}


def repeats_a_uid(page: Exchange) -> bool:
    uids = [str(item.get("uid")) for item in items(page)]
    return len(set(uids)) < len(uids)


def _identifiers(records: object) -> list[str]:
    return [str(record.get("uid")) for record in objects_in(records)]


@check("2.6-1", "2.7-1")
def listed_resources_have_a_uid_of_their_own(
    exchange: Exchange, _context: CheckContext
) -> Iterator[Judgement]:
    """On every page, and in every answer about one."""
    outer = [
        resource
        for resource in resources(exchange)
        if not resource.nested and resource.kind in {Kind.PORTAL_LINK, Kind.SOURCE}
    ]
    if outer:
        uids = [resource.text("uid") for resource in outer]
        yield judged(
            None not in uids and len(set(uids)) == len(uids),
            "2.6-1" if outer[0].kind is Kind.PORTAL_LINK else "2.7-1",
            f"A {outer[0].kind} has no uid, or that of another one",
            expected="a uid each, all different",
            actual=uids,
            exchanges=[exchange],
        )


@check("2.6-5")
def a_portal_link_agrees_with_itself(
    exchange: Exchange, _context: CheckContext
) -> Iterator[Judgement]:
    """Its count is that of the endpoints that it shows."""
    for link in (part.fields for part in resources(exchange) if part.kind is Kind.PORTAL_LINK):
        records, count = link.get("endpoints_metadata"), link.get("endpoint_count")
        if isinstance(count, int):
            actual = len(records) if isinstance(records, list) else 0
            yield judged(
                count == actual,
                "2.6-5",
                "endpoint_count is not the number of endpoints in endpoints_metadata",
                expected=actual,
                actual=count,
                exchanges=[exchange],
            )


@check("2.6-8")
def the_identifiers_of_a_portal_link_are_those_of_its_endpoints(
    links: PortalLinkObservation | ModeledOperations, _context: CheckContext
) -> Iterator[Judgement]:
    """Of the endpoints that it shows, or else what a client has written.

    A list that was written stays until it is written again: one that changes by itself is no such
    list.
    """
    last: dict[str, tuple[list[str], Exchange]] = {}
    for exchange in links.exchanges:
        if "endpoints" in sent(exchange):
            last.clear()
        for link in (part for part in resources(exchange) if part.kind is Kind.PORTAL_LINK):
            uid, named = link.text("uid"), link.fields.get("endpoints")
            if uid is None or not isinstance(named, list):
                continue
            identifiers = sorted(map(str, named))
            expected = sorted(_identifiers(link.fields.get("endpoints_metadata")))
            before, earlier = last.get(uid, (identifiers, exchange))
            last[uid] = (identifiers, exchange)
            if has_value(named) and (identifiers == expected or identifiers != before):
                yield judged(
                    identifiers == expected,
                    "2.6-8",
                    "The identifiers in endpoints are not those of endpoints_metadata",
                    expected=expected,
                    actual=named,
                    exchanges=dict.fromkeys([earlier, exchange]),
                )


@check("2.6-2", "2.6-3", "2.6-4", "4.6-10", "4.6-11")
def a_portal_link_has_the_endpoints_of_its_owner(
    links: PortalLinkOfOwner, _context: CheckContext
) -> Iterator[Judgement]:
    """At once, those created later, and those of a new owner after an update.

    An owner that is not stored is judged by 4.1-7 and 4.6-6. A portal link whose owner no update
    changed shows nothing of what is left of the old one, nor one without endpoints of what it
    leaves out.
    """
    of_owner, of_other_owner, later = links.of_owner, links.of_other_owner, links.of_owner_later
    for requirement, link, holds_them, created, message in (
        ("2.6-2", links.retrieved, True, of_owner, "lacks an endpoint of its owner"),
        ("2.6-3", links.retrieved, False, of_other_owner, "has an endpoint of another owner"),
        ("2.6-4", links.retrieved_later, True, later, "lacks an endpoint created later"),
        (
            "4.6-10",
            links.with_other_owner,
            True,
            of_other_owner,
            "lacks the endpoints of its new owner",
        ),
        (
            "4.6-11",
            links.with_other_owner,
            False,
            of_owner,
            "keeps the endpoints of its old owner",
        ),
    ):
        if link is None or not shown(link) or not created:
            continue
        if requirement == "4.6-11" and not links.has_changed_owner:
            continue
        if requirement == "2.6-3" and not has_value(shown(link).get("endpoints_metadata")):
            continue
        has_right_ones = _all_are_members(links, link, created, wanted=holds_them)
        if has_right_ones is None:
            continue
        if not has_right_ones and not _have_owners_as_set(link, created, same=holds_them):
            continue
        yield judged(
            has_right_ones,
            requirement,
            f"A portal link {message}",
            expected=f"{'with' if holds_them else 'without'} {[named(one) for one in created]}",
            actual=members(link),
            exchanges=[*created, link],
        )


def _all_are_members(
    links: PortalLinkOfOwner, link: Exchange, created: Iterable[Exchange], *, wanted: bool
) -> bool | None:
    """Whether a portal link shows all of these endpoints, or none if they are not `wanted`; None if
    that cannot be told of one of them.
    """
    others = (*links.of_owner, *links.of_owner_later, *links.of_other_owner)
    memberships = [is_member(link, creation, others) for creation in created]
    if None in memberships:
        return None
    return all(membership is wanted for membership in memberships)


def named(creation: Exchange) -> str:
    """The uid of a new endpoint, or its URL where the answer to its creation hides the uid."""
    return shown_uid(creation) or str(sent(creation).get("url"))


def _have_owners_as_set(link: Exchange, created: Iterable[Exchange], *, same: bool) -> bool:
    """Whether the owners that are shown are those that requests have set: the same for the portal
    link and these endpoints, or another. One that shows no owner has lost it, or never tells it.
    """
    of_link = shown(link).get("owner_id")
    if not has_value(of_link):
        return False
    for endpoint in created:
        owner = shown(endpoint).get("owner_id")
        if owner != sent(endpoint).get("owner_id", owner):
            return False
        if has_value(owner) and (of_link == owner) is not same:
            return False
    return True


@check("2.6-6")
def an_endpoint_in_a_portal_link_is_shown_as_fetched(
    links: PortalLinkOfOwner, _context: CheckContext
) -> Iterator[Judgement]:
    """Its name, url and owner_id."""
    link, fetched = links.retrieved, links.fetched
    if link is None or fetched is None or shown_uid(fetched) is None:
        return
    for record in objects_in(shown(link).get("endpoints_metadata")):
        if record.get("uid") == shown(fetched).get("uid"):
            yield agreement(
                "2.6-6",
                "An endpoint is shown in a portal link otherwise than when it is fetched",
                IDENTIFYING,
                shown(fetched),
                record,
                [fetched, link],
            )


@check("2.6-7", "4.4-14")
def a_portal_link_is_listed_as_it_is_retrieved(
    links: ListedPortalLinks | UpdateAmongPortalLinks, context: CheckContext
) -> Iterator[Judgement]:
    """Every one that can be retrieved is in the list, and looks the same there.

    A list that was not read to its end lacks nothing, nor does one that hides a uid or shows one
    twice on a page. An answer with another uid than the one in the path says nothing of the list.
    """
    ended = all(
        page.succeeded and pagination(page).get("has_next_page") is False
        for page in links.pages[-1:]
    )
    shows_all = ended and all(
        shows_every_uid(page) and not repeats_a_uid(page) for page in links.pages
    )
    listed = {str(item.get("uid")): (item, page) for page in links.pages for item in items(page)}
    one_by_one = isinstance(links, ListedPortalLinks)
    answers = links.retrieved if isinstance(links, ListedPortalLinks) else (links.update,)
    for answer in answers if links.pages else ():
        if answer is None or answer.operation_id is None:
            continue
        uid = shown_uid(answer)
        path = path_parameters(answer, context.contract.operations[answer.operation_id].path)
        if uid is None or uid != path.get("portalLinkID"):
            continue
        if uid in listed or shows_all:
            yield judged(
                uid in listed,
                "4.4-14",
                "A portal link that can be retrieved is not in the list",
                expected=uid,
                actual=sorted(listed),
                exchanges=[answer, *links.pages],
            )
        if uid in listed and one_by_one:
            item, page = listed[uid]
            yield agreement(
                "2.6-7",
                "A portal link is listed otherwise than it is retrieved",
                SETTINGS,
                shown(answer),
                item,
                [answer, page],
            )


@check(*UPDATED.values(), "4.6-9")
def an_update_changes_what_it_was_sent(
    updated: PortalLinkUpdate, _context: CheckContext
) -> Iterator[Judgement]:
    """In the answer, as far as it shows a portal link, and when it is retrieved afterwards."""
    update, after, field = updated.update, updated.after, updated.field
    if update is None or after is None or not update.succeeded or not shown(after):
        return
    if field in UPDATED:
        wanted = sent(update)[field]
        actual = [shown(answer).get(field, "absent") for answer in (update, after) if shown(answer)]
        yield judged(
            actual == [wanted] * len(actual),
            UPDATED[field],
            f"An update does not change the {field} of a portal link",
            expected=f"{json_text(wanted)} in the answer and afterwards",
            actual=" and ".join(map(json_text, actual)),
            exchanges=[update, after],
        )
    if not shown(update):
        return
    yield agreement(
        "4.6-9",
        "A portal link is retrieved otherwise than the answer to its update showed it",
        SETTINGS,
        shown(update),
        shown(after),
        [update, after],
    )


@check("4.6-12")
def an_update_leaves_other_portal_links_alone(
    updated: UpdateAmongPortalLinks, _context: CheckContext
) -> Iterator[Judgement]:
    """Compared in two walks through the list, before and after, as far as both show them.

    An update that fails shows nothing of what an update leaves alone.
    """
    update = updated.update
    if update is None or not was_accepted(update):
        return
    if not updated.pages or not all(page.succeeded for page in updated.pages):
        return
    before, after = updated.others_before, updated.others_after
    others = before.keys() & after.keys()
    changed = {
        uid: {name: after[uid].get(name, "absent") for name in different}
        for uid in sorted(others)
        if (different := differences(SETTINGS, before[uid], after[uid]))
    }
    if others:
        yield judged(
            not changed,
            "4.6-12",
            "An update of one portal link changes another",
            expected="as before",
            actual=changed,
            exchanges=updated.exchanges,
        )


@check("4.6-14")
def an_update_never_moves_updated_at_back(
    updated: PortalLinkUpdate, context: CheckContext
) -> Iterator[Judgement]:
    """From the retrieval before the update to its answer and to the retrieval afterwards, which may
    show a time with fewer digits. An update that fails moves nothing.
    """
    form = context.dialect.representation.timestamp
    if not form.decided or updated.update is None or not was_accepted(updated.update):
        return
    times: list[str] = []
    answers: list[Exchange] = []
    for answer in (updated.before, updated.update, updated.after):
        updated_at = None if answer is None else shown(answer).get("updated_at")
        if answer is not None and moment(updated_at, form.allowed) is not None:
            times.append(str(updated_at))
            answers.append(answer)
    if len(times) > 1:
        yield judged(
            not any(is_before(after, before, form.allowed) for before, after in pairwise(times)),
            "4.6-14",
            "An update moves updated_at of a portal link back",
            expected="never back",
            actual=times,
            exchanges=answers,
        )
