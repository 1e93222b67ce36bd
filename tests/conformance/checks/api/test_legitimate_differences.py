"""Differences that the document allows, and defects that are another requirement's: no failure."""

from dataclasses import replace
from typing import Any

import pytest

from hookproof.conformance.checks.agreement import differences
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.portal_link import (
    ListedPortalLinks,
    PortalLinkOfOwner,
    PortalLinkUpdate,
    UpdateAmongPortalLinks,
)
from hookproof.conformance.observations.succeeding_requests import SucceedingRequests
from hookproof.conformance.subjects.events.evidence import (
    BroadcastWithPayload,
    DifferentEvents,
    EventDifference,
)
from hookproof.conformance.subjects.keys.evidence import BroadcastsWithoutRight
from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.vocabulary import NoValue
from tests.conformance.canned_evidence import (
    all_verdicts,
    context,
    exchange,
    judgements,
    observation,
    verdict,
    verdicts,
)
from tests.conformance.checks.api.example import (
    AT,
    OTHER_UID,
    UID,
    created,
    endpoint,
    event,
    fetched,
    link,
    page,
    refusal,
    retrieved,
    secret,
)
from tests.conformance.subjects.endpoints.examples import MASKED, OAUTH2, shown_with
from tests.conformance.subjects.events.examples_records import many_in_portal_link
from tests.conformance.subjects.lists.examples import LINKS, SOURCES, walk
from tests.conformance.subjects.numbers.examples import broadcast_refused
from tests.conformance.subjects.portal_links.examples import endpoints_updated, update
from tests.conformance.subjects.secrets.examples import (
    BODY,
    EXPIRING,
    GIVEN,
    NEW,
    OLD,
    roll,
    with_secrets,
)
from tests.conformance.subjects.sequences import examples as steps


def configured(value: Any, mask: str) -> dict[str, Any]:
    """An endpoint with a field of this value, in an object too, and a masked one."""
    oauth2 = {**MASKED["oauth2"], "client_secret": mask, "audience": value}
    return {"description": value, "authentication": {**MASKED, "oauth2": oauth2, "api_key": value}}


@pytest.mark.parametrize("value", [None, "", [], {}], ids=repr)
def test_fields_without_value_are_alike_in_each_form_of_the_dialect(value: Any) -> None:
    nothing, forms = {"description": None}, context().dialect.representation
    lenient = replace(forms, no_value=Answer((NoValue.NULL, NoValue.EMPTY)))
    assert differences(["description"], nothing, {"description": value}, lenient) == []
    strict = differences(["description"], nothing, {"description": value}, forms)
    assert strict == ([] if value is None else ["description"])


def test_a_masked_value_is_not_compared() -> None:
    first, second = configured(None, "********"), configured(None, "••••")
    evidence = shown_with(created(first), fetched(second))
    assert verdict("4.2-5", evidence) is Verdict.PASS
    rolled = roll(EXPIRING, secret(NEW, "new-secret"), body=BODY, in_answer=second, **second)
    before = with_secrets("fetch before", "getEndpoint", secret(), **first)
    exchanges = tuple(
        before if exchange.role == before.role else exchange for exchange in rolled.exchanges
    )
    rolled = replace(rolled, exchanges=exchanges)
    assert verdict("4.3-11", rolled) is Verdict.PASS


def test_a_time_may_be_kept_with_fewer_digits() -> None:
    made, kept, other = (f"2024-05-06T07:08:09.{digits}Z" for digits in ("123456", "123", "125"))
    for shown_later, expected in ((kept, Verdict.PASS), (other, Verdict.FAIL)):
        evidence = shown_with(created({"created_at": made}), fetched({"created_at": shown_later}))
        assert verdict("2.9-13", evidence) is expected


def test_a_time_that_changes_is_told_once_and_by_how_much() -> None:
    """The document states what an endpoint is configured with, and created_at is no such thing."""
    made, other = "2024-05-06T07:08:09.123456Z", "2024-05-06T07:08:09.125Z"
    evidence = shown_with(created({"created_at": made}), fetched({"created_at": other}))
    assert verdict("4.2-5", evidence) is Verdict.PASS
    sequence = steps.sequence(created({"created_at": made}), fetched({"created_at": other}))
    assert verdict("4.2-5", sequence) is Verdict.PASS
    actual = [judgement.actual for judgement in judgements("2.9-13", evidence)]
    assert actual.count(f"{other}, 1.54 ms later") == 1


def test_a_value_that_is_lost_or_a_member_that_differs_is_a_difference() -> None:
    whole = configured("given", "********")
    other = {**MASKED, "oauth2": {**MASKED["oauth2"], "client_id": "another"}}
    for changed in ({"description": None}, {"authentication": other}, {"authentication": None}):
        evidence = shown_with(created(whole), fetched({**whole, **changed}))
        assert verdict("4.2-5", evidence) is Verdict.FAIL


def test_secrets_of_another_endpoint_may_come_in_another_order() -> None:
    both = [secret(OTHER_UID), secret(NEW)]
    rolled = roll(EXPIRING, secret(NEW, "new-secret"), body=BODY)
    exchanges = (
        with_secrets("create other", "createEndpoint", *both),
        *rolled.exchanges[1:-1],
        with_secrets("fetch other", "getEndpoint", *reversed(both)),
    )
    evidence = replace(rolled, exchanges=exchanges)
    assert verdict("4.3-14", evidence) is Verdict.PASS


def test_secrets_that_a_creation_shows_otherwise_or_expiring_were_not_changed_by_a_roll() -> None:
    rolled = roll(EXPIRING, secret(NEW, "new-secret"), body=BODY)
    shown_otherwise = with_secrets("create other", "createEndpoint", secret(NEW))
    for one in (secret(OTHER_UID), secret(OTHER_UID, expires_at=AT)):
        exchanges = (
            shown_otherwise,
            with_secrets("fetch other before", "getEndpoint", one),
            *rolled.exchanges[1:-1],
            with_secrets("fetch other", "getEndpoint", one),
        )
        evidence = replace(rolled, exchanges=exchanges)
        assert verdict("4.3-14", evidence) is Verdict.PASS


def test_a_secret_that_is_fetched_with_another_uid_was_not_brought_in_by_a_roll() -> None:
    rolled = roll(EXPIRING, secret(NEW, "new-secret"), body=BODY)
    created_with = with_secrets("create", "createEndpoint", secret(OLD, GIVEN))
    otherwise = with_secrets("fetch before", "getEndpoint", secret(OTHER_UID, GIVEN))
    exchanges = (created_with, otherwise, *rolled.exchanges[2:])
    evidence = replace(rolled, exchanges=exchanges)
    assert verdict("4.3-17", evidence) is Verdict.PASS


def test_a_roll_that_gives_an_ended_secret_another_uid_does_not_tell_which_is_new() -> None:
    for known in ((), (secret(OLD, GIVEN, expires_at=AT),)):
        rolled = roll(*known, EXPIRING | {"uid": OTHER_UID}, secret(NEW, "new"), body=BODY)
        assert verdict("4.3-17", rolled) is None


def test_a_broadcast_with_further_fields_may_be_refused_for_these() -> None:
    payload = {"event_type": "a.b", "data": {}}
    for more, expected in (({}, {"4.8-7": Verdict.FAIL}), ({"acknowledged_at": AT}, {})):
        tried = exchange("create", "createBroadcastEvent", status=400, request={**payload, **more})
        evidence = observation(BroadcastWithPayload, tried)
        assert verdicts("4.8-4 4.8-7", evidence) == expected


def test_where_every_key_is_flagged_no_flag_shows_an_effect_of_what_was_refused() -> None:
    content = broadcast_refused(duplicate=True, fresh=True)
    assert verdict("7-10", content) is None
    flagged = [event(role=role, is_duplicate_event=True) for role in ("accepted", "fresh key")]
    refused = exchange("refused", "createBroadcastEvent", status=401, data={})
    for fresh, expected in ((flagged[1:], {}), ([], {"5-15": Verdict.FAIL})):
        without_right = observation(
            BroadcastsWithoutRight,
            refused,
            flagged[0],
            *fresh,
            operation_id="createBroadcastEvent",
        )
        assert verdicts("5-15", without_right) == expected


def test_a_deprecated_list_may_be_shown_as_it_was_written() -> None:
    written = update({"endpoints": [OTHER_UID]}, endpoints=[OTHER_UID])
    looks = [
        retrieved(endpoints=[OTHER_UID], endpoints_metadata=[endpoint(uid=uid) for uid in uids])
        for uids in ((), (UID,), (UID, OTHER_UID))
    ]

    for before in ([], [retrieved(endpoints=[])]):
        evidence = observation(PortalLinkUpdate, *before, written, *looks, field="endpoints")
        assert Verdict.FAIL not in verdicts("2.6-8", evidence).values()


def refused_update(*named: str) -> Exchange:
    """An update of the deprecated list that was refused."""
    return refusal(400, "updatePortalLink", role="update", request={"endpoints": list(named)})


@pytest.mark.parametrize("named", [(), ("nothing",), (OTHER_UID,)])
def test_a_list_without_an_endpoint_that_exists_may_be_refused_or_ignored(
    named: tuple[str, ...],
) -> None:
    taken = update({"endpoints": list(named)})
    for answer in (refused_update(*named), taken):
        evidence = endpoints_updated(answer, retrieved("after"))
        assert verdicts("9-2 9-4", evidence) == {}
    assert verdict("4.6-1", endpoints_updated(refused_update(*named), taken)) is Verdict.PASS


def test_an_endpoint_whose_uid_was_never_shown_need_not_be_found() -> None:
    without_uid = created({"uid": None}, role="same owner later")
    looks = observation(PortalLinkOfOwner, without_uid, retrieved("retrieve later"))
    assert verdicts("2.6-2 2.6-3 2.6-4 4.6-10 4.6-11", looks) == {}
    fetch = refusal(404, "getEndpoint", role="fetch", path={"endpointID": "nothing"})
    evidence = observation(SucceedingRequests, without_uid, fetch)
    assert all_verdicts(evidence) == {}
    numbered = created({"uid": 17}, role="same owner later")
    listed = retrieved("retrieve later", endpoints_metadata=[endpoint(uid=17)])
    looks = observation(PortalLinkOfOwner, numbered, listed)
    assert verdicts("2.6-2 2.6-3 2.6-4 4.6-10 4.6-11", looks) == {}


def test_resources_without_uid_are_not_one_and_the_same() -> None:
    unnamed = created({"uid": None})
    assert verdict("2.3-2", shown_with(unnamed, unnamed)) is None
    events = [event(uid=None), event(uid=None)]
    evidence = observation(DifferentEvents, *events, difference=EventDifference.KEY)
    assert verdicts("2.8-2 4.8-10 4.8-12", evidence) == {"4.8-10": Verdict.PASS}
    pages = page(LINKS, [link(uid=None), link(uid=None)])
    unnamed_walk = replace(walk("cba"), exchanges=(pages,))
    assert verdict("2.2-14", unnamed_walk) is None
    listed = page(LINKS, [], "inventory")
    nameless = observation(ListedPortalLinks, listed, retrieved(uid=None))
    assert verdicts("2.6-7 4.4-14", nameless) == {}
    unnamed = created({"uid": None, "owner_id": "owner-1"})
    sequence = steps.sequence(unnamed, steps.retrieved(owner_id="owner-1"))
    assert verdict("2.6-2", sequence) is None


@pytest.mark.parametrize("part", ["authentication", "mtls_client_cert"])
def test_a_service_may_lack_what_is_optional(part: str) -> None:
    body = {part: OAUTH2, "is_disabled": True}
    answer = refusal(400, role="create", request=body)
    everything = shown_with(answer, fields=(part, "is_disabled"))
    assert all_verdicts(everything) == {"2.5-24": Verdict.NOT_APPLICABLE}


def owned(owner: str | None, *members: str) -> Exchange:
    """A portal link of this owner, with these endpoints."""
    return retrieved(
        "retrieve", owner_id=owner, endpoints_metadata=[endpoint(uid=uid) for uid in members]
    )


@pytest.mark.parametrize(("owner", "expected"), [("old", None), ("new", Verdict.FAIL)])
def test_an_owner_that_is_not_stored_is_judged_by_the_update(
    owner: str, expected: Verdict | None
) -> None:
    body = {"owner_id": "new"}
    creation = exchange("same owner", data=endpoint(owner_id="new"), request=body)
    evidence = observation(PortalLinkOfOwner, creation, owned(owner))
    actual = verdicts("2.6-2 2.6-3 2.6-4 4.6-10 4.6-11", evidence)
    assert actual == ({} if expected is None else {"2.6-2": expected})
    not_stored = exchange("same owner", data=endpoint(owner_id=None), request=body)
    evidence = observation(PortalLinkOfOwner, not_stored, owned(owner))
    assert verdicts("2.6-2 2.6-3 2.6-4 4.6-10 4.6-11", evidence) == {}


def test_an_update_that_is_not_stored_does_not_touch_other_portal_links() -> None:
    other = "01ARZ3NDEKTSV4RRFFQ69G5FB0"
    lost = (steps.updated(name="New"), steps.updated(other, name="Other"))
    listed = page(LINKS, [link(name="Old"), link(uid=other, name="Other")])
    retrieved_as_it_was = steps.sequence(*lost, steps.retrieved(name="Old"), listed)
    assert verdicts("2.6-7 4.4-14 4.6-5 4.6-9 4.6-12", retrieved_as_it_was) == dict.fromkeys(
        ("2.6-7", "4.4-14", "4.6-5"), Verdict.PASS
    )
    assert verdict("4.4-14", steps.sequence(*lost, listed)) is Verdict.PASS
    assert verdict("2.6-7", steps.sequence(*lost, listed)) is None


def test_what_an_unreadable_update_has_done_is_not_known() -> None:
    broken = exchange(
        "update", "updatePortalLink", status=500, body=b"", path={"portalLinkID": UID}
    )
    evidence = steps.sequence(steps.updated(name="New"), broken, steps.retrieved(name="Newer"))
    assert verdicts("4.6-5 4.6-9", evidence) == {"4.6-5": Verdict.PASS}
    roll_without_answer = exchange(
        "roll", "expireEndpointSecret", status=504, body=b"", path={"endpointID": UID}
    )
    rolled = steps.fetched(secrets=[secret(uid=NEW)])
    evidence = steps.sequence(steps.created(), roll_without_answer, rolled)
    assert verdicts("4.2-5 4.2-6 4.3-11 4.3-14", evidence) == {}


def test_a_portal_link_that_is_missing_from_a_list_was_not_changed() -> None:
    evidence = observation(
        UpdateAmongPortalLinks,
        page(LINKS, [link(uid=OTHER_UID), link()], "inventory"),
        update({"name": "New"}, uid=OTHER_UID, name="New"),
        page(LINKS, [link(uid=OTHER_UID, name="New")], "inventory"),
        uid=OTHER_UID,
    )
    assert verdict("4.6-12", evidence) is None


def test_a_list_that_was_not_read_to_its_end_lacks_nothing() -> None:
    first = page(LINKS, [link(uid=OTHER_UID)], "inventory", has_next_page=True)
    evidence = observation(ListedPortalLinks, first, retrieved())
    assert verdicts("2.6-7 4.4-14", evidence) == {}


@pytest.mark.parametrize("operation_id", [LINKS, SOURCES])
def test_a_sort_that_loses_resources_is_no_filter_that_fails(operation_id: str) -> None:
    lossy = walk("bc", operation_id=operation_id, sort="ASC", per_page=4)
    opposite = "4.4-8" if operation_id == LINKS else "4.7-8"

    assert verdicts("4.4-7 4.4-8" if operation_id == LINKS else "4.7-7 4.7-8", lossy) == {
        opposite: Verdict.FAIL
    }
    assert verdict("2.2-10", lossy) is None
    filtered = {"ownerId": "o1"} if operation_id == LINKS else {"type": "http"}
    lossy = walk("c", operation_id=operation_id, sort="ASC", filtered=filtered)
    actual = all_verdicts(lossy)
    assert Verdict.FAIL not in actual.values()
    assert ("4.4-10" if operation_id == LINKS else "4.7-12") not in actual


def test_pages_that_lose_resources_are_no_filter_that_fails() -> None:
    lossy = walk("c", "", filtered={"ownerId": "o1"})
    actual = all_verdicts(lossy)
    assert "4.4-10" not in actual


@pytest.mark.parametrize(
    ("ends", "date", "passes"),
    [("09:01", "08:01:00", True), ("09:01", "08:00:00", False), ("08:00", "07:59:55", True)],
    ids=["its clock is ahead", "it expires late", "the Date was kept"],
)
def test_a_secret_expires_by_the_targets_clock(ends: str, date: str, passes: bool) -> None:
    old = secret(OLD, GIVEN, expires_at=f"2027-01-15T{ends}:00.000000Z")
    body = {**BODY, "expiration": 3600 if ends > "09" else 0}
    rolled = roll(old, secret(NEW, "new-secret"), body=body)
    by_date = ("Date", f"Fri, 15 Jan 2027 {date} GMT")
    exchanges = (
        replace(each, response_headers=(*each.response_headers, by_date))
        if each.role == "roll"
        else each
        for each in rolled.exchanges
    )
    evidence = replace(rolled, exchanges=tuple(exchanges))
    expected = {"4.3-15": Verdict.PASS if passes else Verdict.FAIL}
    assert verdicts("4.3-15 4.3-18", evidence) == expected


def test_a_portal_link_that_tells_no_owner_lacks_none_of_many_endpoints() -> None:
    assert verdict("2.6-2", many_in_portal_link(range(20), owner=None)) is None
    assert verdict("2.6-2", many_in_portal_link(range(0))) is None
