"""Portal links, the endpoints in them, and what updates change and leave; deprecated fields
(sections 2.6, 4.4 to 4.6 and 9).
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final

from hookproof.conformance.checks.agreement import IDENTIFYING, agreement, differences
from hookproof.conformance.checks.json_objects import objects_in
from hookproof.conformance.checks.portal_links import (
    SETTINGS,
    UPDATED,
    is_member,
    members,
    named,
    repeats_a_uid,
    uids_in,
)
from hookproof.conformance.checks.success import success_of
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
from hookproof.conformance.observations.portal_link import (
    ListedPortalLinks,
    ParallelUpdates,
    PortalLinkObservation,
    PortalLinkOfOwner,
    PortalLinkUpdate,
    UpdateAmongPortalLinks,
)
from hookproof.conformance.observations.round_trip import RoundTrip
from hookproof.conformance.observations.timestamp import is_before, moment
from hookproof.conformance.subjects.sequences.evidence import ModeledOperations
from hookproof.spec.dialect.vocabulary import AppIdMeaning, LeftOut, PortalEndpointsMeaning
from hookproof.spec.field_roles import Role, fields_with


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
            expected = sorted(uids_in(link.fields.get("endpoints_metadata")))
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


FIELDS: Final = fields_with("PortalLink", Role.GIVEN)
# What may be empty when it was cleared; others show a default, or a name that every link needs.
MAY_BE_EMPTY: Final = "owner_id"


@check("4.6-15")
def a_field_that_is_left_out_is_kept_or_cleared(
    updated: PortalLinkUpdate | ParallelUpdates, context: CheckContext
) -> Iterator[Judgement]:
    """As the dialect says; what cannot be empty may show any value when it was cleared."""
    if isinstance(updated, ParallelUpdates):
        yield from kept_beside_others(updated, context)
        return
    before, update, after = updated.before, updated.update, updated.after
    rule = context.dialect.requests.update_left_out
    if before is None or update is None or after is None or not rule.decided:
        return
    if not (update.succeeded and shown(before) and shown(after)):
        return
    for field in FIELDS:
        was, is_now = shown(before).get(field), shown(after).get(field)
        # What had no value shows no difference.
        if field not in sent(update) and has_value(was) and was is not False:
            outcome = LeftOut.KEPT if is_now == was else LeftOut.CLEARED
            if is_now == was and not rule.allows(outcome) and field != MAY_BE_EMPTY:
                continue
            yield judged(
                outcome in rule.allowed,
                "4.6-15",
                f"An update that leaves out {field} does not treat it as the dialect says",
                expected=" or ".join(rule.allowed),
                actual=f"{json_text(was)} became {json_text(is_now)}",
                exchanges=[before, update, after],
            )


def kept_beside_others(updated: ParallelUpdates, context: CheckContext) -> Iterator[Judgement]:
    """Whether updates at once keep each other's fields: where the dialect keeps what an update
    leaves out, the order of two updates of different fields makes no difference.

    A field that is not even changed by an update of it alone shows nothing.
    """
    if context.dialect.requests.update_left_out.allowed != (LeftOut.KEPT,):
        return
    before, after = updated.before, updated.after
    for field in updated.fields:
        update, (alone, after_alone) = updated.at_once(field), updated.alone(field)
        if not (before and update and after and alone and after_alone):
            continue
        if not (update.succeeded and alone.succeeded and shown(after)):
            continue
        if shows_value(before, field, update) or not shows_value(after_alone, field, alone):
            continue
        yield judged(
            shows_value(after, field, update),
            "4.6-15",
            f"An update that leaves out {field} takes back what another one gives it meanwhile",
            expected=sent(update).get(field),
            actual=shown(after).get(field),
            exchanges=[before, update, after],
        )


def shows_value(answer: Exchange, field: str, update: Exchange) -> bool:
    """Whether an answer shows what an update gives a field; endpoints may be shown among others."""
    value, given = shown(answer).get(field), sent(update).get(field)
    if isinstance(given, list):
        return isinstance(value, list) and all(each in value for each in given)
    return value == given


@check("9-1", "9-3")
def app_id_is_taken_and_means_what_the_dialect_says(
    trip: RoundTrip, context: CheckContext
) -> Iterator[Judgement]:
    """Another name of owner_id, or nothing."""
    for created in trip.created[:1]:
        if "appID" in sent(created):
            yield from _app_id(created, trip.first_shown(created), context)


def _app_id(created: Exchange, answer: Exchange, context: CheckContext) -> Iterator[Judgement]:
    message = "An endpoint cannot be created with the deprecated appID"
    yield from success_of(created, "9-1", message)
    meaning = context.dialect.requests.app_id
    if not shown(answer) or not meaning.decided:
        return
    if "owner_id" in sent(created) and _is_alias(meaning.value):
        return  # nothing says which of two names for one thing wins
    is_owner = shown(answer).get("owner_id") == sent(created)["appID"]
    yield judged(
        any(_is_alias(allowed) is is_owner for allowed in meaning.allowed),
        "9-3",
        "The deprecated appID does not do what the dialect says",
        expected=meaning.value.value,
        actual=f"owner_id {json_text(shown(answer).get('owner_id'))}",
        exchanges=dict.fromkeys([created, answer]),
    )


def _is_alias(meaning: AppIdMeaning) -> bool:
    return meaning is AppIdMeaning.OWNER_ALIAS


@check("9-2", "9-4")
def portal_endpoints_are_taken_and_mean_what_the_dialect_says(
    updated: PortalLinkUpdate, context: CheckContext
) -> Iterator[Judgement]:
    """They are in the portal link besides those of its owner, or are shown and do nothing else, or
    the field does nothing.

    Only endpoints that exist are named: whoever refuses an empty list refuses no endpoint.
    """
    update, after = updated.update, updated.after
    if updated.field != "endpoints" or update is None:
        return
    named, meaning = sent(update)["endpoints"], context.dialect.requests.portal_endpoints
    endpoint = updated.named_endpoint
    if not named or endpoint is None or not endpoint.succeeded:
        return
    if shown_uid(endpoint) is not None and named != [shown_uid(endpoint)]:
        return
    message = "A portal link cannot be updated with the deprecated endpoints"
    yield from success_of(update, "9-2", message)
    if update.succeeded and after is not None and shown(after) and meaning.decided:
        is_there = set(named) <= set(members(after)) or is_member(after, endpoint, ())
        if is_there is None:
            return
        is_shown = shown(after).get("endpoints") == named
        yield judged(
            any(_is_what_happened(allowed, is_there, is_shown) for allowed in meaning.allowed),
            "9-4",
            "The deprecated endpoints of a portal link do not do what the dialect says",
            expected=meaning.value.value,
            actual=f"endpoints {json_text(shown(after).get('endpoints'))}, endpoints_metadata"
            f" {json_text(members(after))}",
            exchanges=[update, after],
        )


def _is_what_happened(meaning: PortalEndpointsMeaning, is_there: bool, is_shown: bool) -> bool:
    """A list that does nothing may be shown all the same."""
    if is_there:
        return meaning is PortalEndpointsMeaning.ADDED
    return meaning is PortalEndpointsMeaning.IGNORED or (
        meaning is PortalEndpointsMeaning.SHOWN and is_shown
    )
