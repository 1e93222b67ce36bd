"""Sections 2.6, 4.4, 4.5 and 4.6: a portal link, the endpoints in it, and what an update changes."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from hookproof.conformance.model.check_registry import CheckContext, check, oracle
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.observations.answer import Kind, has_value, items, resources, sent, shown
from hookproof.conformance.observations.case import Case
from hookproof.conformance.observations.timestamp import unix_seconds

UPDATED: Final = {
    "name": "4.6-5",
    "owner_id": "4.6-6",
    "can_manage_endpoint": "4.6-7",
    "auth_type": "4.6-8",
}
LISTED_AS_RETRIEVED: Final = ("name", "owner_id", "auth_type", "can_manage_endpoint")
FETCHED_AS_IN_LINK: Final = ("name", "url", "owner_id")


def members(exchange: Exchange | None) -> list[str]:
    """The identifiers of the endpoints that a portal link shows in endpoints_metadata."""
    return _identifiers(shown(exchange).get("endpoints_metadata") if exchange is not None else None)


def settings(link: Mapping[str, Any]) -> dict[str, Any]:
    """What an update of a portal link can change; its endpoints change with deliveries too."""
    return {name: link.get(name) for name in LISTED_AS_RETRIEVED}


def _identifiers(records: object) -> list[str]:
    return (
        [str(one.get("uid")) for one in records if isinstance(one, dict)]
        if isinstance(records, list)
        else []
    )


@oracle("2.6-1", "2.7-1")
def listed_resources_have_a_uid_of_their_own(
    exchange: Exchange, _context: CheckContext
) -> Iterator[Judgement]:
    """On every page, and in every answer about one."""
    outer = [
        one
        for one in resources(exchange)
        if not one.nested and one.kind in {Kind.PORTAL_LINK, Kind.SOURCE}
    ]
    if outer:
        uids = [one.text("uid") for one in outer]
        yield judged(
            None not in uids and len(set(uids)) == len(uids),
            "2.6-1" if outer[0].kind is Kind.PORTAL_LINK else "2.7-1",
            f"A {outer[0].kind} has no uid, or that of another one",
            expected="a uid each, all different",
            actual=uids,
            exchanges=[exchange],
        )


@oracle("2.6-5", "2.6-8")
def a_portal_link_agrees_with_itself(
    exchange: Exchange, _context: CheckContext
) -> Iterator[Judgement]:
    """Its count and its identifiers are those of the endpoints that it shows."""
    for link in (one.fields for one in resources(exchange) if one.kind is Kind.PORTAL_LINK):
        records, count, named = (
            link.get("endpoints_metadata"),
            link.get("endpoint_count"),
            link.get("endpoints"),
        )
        if isinstance(count, int):
            actual = len(records) if isinstance(records, list) else 0
            message = "endpoint_count is not the number of endpoints in endpoints_metadata"
            yield judged(
                count == actual,
                "2.6-5",
                message,
                expected=actual,
                actual=count,
                exchanges=[exchange],
            )
        if isinstance(named, list) and has_value(named):
            same = sorted(map(str, named)) == sorted(_identifiers(records))
            message = "The identifiers in endpoints are not those of endpoints_metadata"
            yield judged(
                same,
                "2.6-8",
                message,
                expected=_identifiers(records),
                actual=named,
                exchanges=[exchange],
            )


@check("2.6-2", "2.6-3", "2.6-4", "4.6-10", "4.6-11", experiments=("portal_links",))
def a_portal_link_has_the_endpoints_of_its_owner(
    case: Case, _context: CheckContext
) -> Iterator[Judgement]:
    """At once, those created later, and those of a new owner after an update."""
    if case.facts.get("about") != "endpoints":
        return
    of = {role: [shown(one).get("uid") for one in case.all_exchanges(role)] for role in _ROLES}
    for requirement, role, holds_them, created, message in (
        ("2.6-2", "retrieve", True, "same owner", "A portal link lacks an endpoint of its owner"),
        (
            "2.6-3",
            "retrieve",
            False,
            "other owner",
            "A portal link has an endpoint of another owner",
        ),
        (
            "2.6-4",
            "retrieve later",
            True,
            "same owner later",
            "A portal link lacks an endpoint created later",
        ),
        (
            "4.6-10",
            "retrieve changed",
            True,
            "other owner",
            "A portal link lacks the endpoints of its new owner",
        ),
        (
            "4.6-11",
            "retrieve changed",
            False,
            "same owner",
            "A portal link keeps the endpoints of its old owner",
        ),
    ):
        link = case.exchange(role)
        if link is None or not shown(link) or None in of[created]:
            continue
        fits = all((uid in members(link)) is holds_them for uid in of[created])
        yield judged(
            fits,
            requirement,
            message,
            expected=f"{'with' if holds_them else 'without'} {of[created]}",
            actual=members(link),
            exchanges=[*case.all_exchanges(created), link],
        )


_ROLES: Final = ("same owner", "other owner", "same owner later")


@check("2.6-6", experiments=("portal_links",))
def an_endpoint_in_a_portal_link_is_shown_as_fetched(
    case: Case, _context: CheckContext
) -> Iterator[Judgement]:
    """Its name, url and owner_id."""
    link, fetched = case.exchange("retrieve"), case.exchange("fetch")
    if link is None or fetched is None or not shown(fetched):
        return
    records = shown(link).get("endpoints_metadata")
    for record in records if isinstance(records, list) else []:
        if isinstance(record, dict) and record.get("uid") == shown(fetched).get("uid"):
            yield _agreement(
                "2.6-6",
                "An endpoint is shown in a portal link otherwise than when it is fetched",
                FETCHED_AS_IN_LINK,
                shown(fetched),
                record,
                [fetched, link],
            )


@check("2.6-7", "4.4-14", experiments=("portal_links",))
def a_portal_link_is_listed_as_it_is_retrieved(
    case: Case, _context: CheckContext
) -> Iterator[Judgement]:
    """Every one that can be retrieved is in the list, and looks the same there."""
    pages = case.all_exchanges("inventory")
    listed = {str(item.get("uid")): (item, page) for page in pages for item in items(page)}
    asked = [*case.all_exchanges("retrieve"), *case.all_exchanges("update")] if pages else []
    for retrieved in (one for one in asked if shown(one)):
        uid = str(shown(retrieved).get("uid"))
        message = "A portal link that can be retrieved is not in the list"
        yield judged(
            uid in listed,
            "4.4-14",
            message,
            expected=uid,
            actual=sorted(listed),
            exchanges=[retrieved, *pages],
        )
        if uid in listed and case.facts.get("about") == "listed":
            item, page = listed[uid]
            message = "A portal link is listed otherwise than it is retrieved"
            yield _agreement(
                "2.6-7", message, LISTED_AS_RETRIEVED, shown(retrieved), item, [retrieved, page]
            )


@check(*UPDATED.values(), "4.6-9", experiments=("portal_links",))
def an_update_changes_what_it_was_sent(case: Case, _context: CheckContext) -> Iterator[Judgement]:
    """In the answer and when the portal link is retrieved afterwards."""
    update, after = case.exchange("update"), case.exchange("after")
    if case.facts.get("about") != "updated" or update is None or after is None or not shown(update):
        return
    field = case.facts["field"]
    if field in UPDATED and shown(after):
        wanted = sent(update)[field]
        actual = [shown(one).get(field, "absent") for one in (update, after)]
        yield judged(
            actual == [wanted, wanted],
            UPDATED[field],
            f"An update does not change the {field} of a portal link",
            expected=f"{wanted!r} in the answer and afterwards",
            actual=f"{actual[0]!r} in the answer, {actual[1]!r} afterwards",
            exchanges=[update, after],
        )
    if not shown(after):
        return
    message = "A portal link is retrieved otherwise than the answer to its update showed it"
    yield _agreement(
        "4.6-9", message, LISTED_AS_RETRIEVED, shown(update), shown(after), [update, after]
    )


@check("4.6-12", experiments=("portal_links",))
def an_update_leaves_other_portal_links_alone(
    case: Case, _context: CheckContext
) -> Iterator[Judgement]:
    """Compared in two walks through the list, one before and one after."""
    if case.facts.get("about") != "bystanders" or not all(
        page.succeeded for page in case.all_exchanges("inventory")
    ):
        return
    before, after = ({one["uid"]: one for one in case.facts[when]} for when in ("before", "after"))
    changed = {
        uid: (before[uid].get(name), after.get(uid, {}).get(name, "absent"))
        for uid in before
        for name in LISTED_AS_RETRIEVED
        if before[uid].get(name) != after.get(uid, {}).get(name)
    }
    message = "An update of one portal link changes another"
    yield judged(
        not changed,
        "4.6-12",
        message,
        expected="as before",
        actual=changed,
        exchanges=case.exchanges,
    )


@check("4.6-14", experiments=("portal_links",))
def an_update_never_moves_updated_at_back(case: Case, context: CheckContext) -> Iterator[Judgement]:
    """From before the update to its answer to the retrieval afterwards."""
    forms = context.dialect.representation.timestamp
    told = [
        one for role in ("before", "update", "after") if (one := case.exchange(role)) is not None
    ]
    moments = (
        [unix_seconds(shown(one).get("updated_at"), forms.value) for one in told]
        if forms.decided
        else []
    )
    known = [at for at in moments if at is not None]
    if case.facts.get("about") == "updated" and len(known) > 1:
        message = "An update moves updated_at of a portal link back"
        yield judged(
            known == sorted(known),
            "4.6-14",
            message,
            expected="never back",
            actual=known,
            exchanges=told,
        )


def _agreement(
    requirement: str,
    message: str,
    names: tuple[str, ...],
    expected: Mapping[str, Any],
    actual: Mapping[str, Any],
    exchanges: list[Exchange],
) -> Judgement:
    different = [name for name in names if expected.get(name) != actual.get(name)]
    return judged(
        not different,
        requirement,
        message,
        expected={name: expected.get(name) for name in different},
        actual={name: actual.get(name) for name in different},
        exchanges=exchanges,
    )
