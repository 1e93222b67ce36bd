"""Examples for sections 2.2, 4.1, 4.2, 4.4, 4.6, 4.8 and 8: long texts, numbers, near filters."""

from dataclasses import replace
from typing import Any

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.extremes import (
    ExtremePageSize,
    LongTextTried,
    NumberTried,
)
from hookproof.conformance.observations.portal_link import PortalLinkUpdate
from hookproof.conformance.subjects.lists.evidence import NearFilter
from hookproof.conformance.subjects.refused_content.evidence import (
    BroadcastsWithRefusedContent,
    ChangesWithRefusedContent,
    CreationsWithRefusedContent,
)
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from tests.conformance.canned_deliveries import destination, event, observed, sent
from tests.conformance.canned_evidence import exchange, observation
from tests.conformance.checks.api.example import (
    ECHOED,
    UID,
    UPDATED,
    Example,
    endpoint,
    link,
    page,
    refusal,
)
from tests.conformance.checks.api.example import event as created_event

LONG = "x" * 70_000
CUT = LONG[:65_535]
LONG_TEXTS = {  # what the answer and what a retrieval shows of them
    ("createEndpoint", "name"): ("4.1-4", "4.2-5"),
    ("createEndpoint", "description"): ("4.1-5", "4.2-5"),
    ("createEndpoint", "owner_id"): ("4.1-7", "4.2-5"),
    ("updatePortalLink", "name"): ("4.6-5", "4.6-9"),
    ("updatePortalLink", "owner_id"): ("4.6-6", "4.6-9"),
    ("createBroadcastEvent", "event_type"): ("4.8-4", ""),
    ("createBroadcastEvent", "idempotency_key"): ("4.8-5", ""),
}
FETCHES = {"createEndpoint": "getEndpoint", "updatePortalLink": "getPortalLink"}


def long_text(
    operation_id: str, field: str, answered: Any, fetched: Any = None, status: int | None = None
) -> LongTextTried:
    """A long text that was answered and fetched like this; with a status it was refused."""
    exchanges = [
        exchange("tried", operation_id, data={field: answered}, request={field: LONG})
        if status is None
        else refusal(status, operation_id, request={field: LONG})
    ]
    if fetched is not None:
        exchanges.append(exchange("fetch", FETCHES[operation_id], data={field: fetched}))
    return observation(
        LongTextTried, *exchanges, operation_id=operation_id, field=field, length=len(LONG)
    )


def number_tried(
    field: str,
    number: str,
    answered: Any = None,
    *,
    operation_id: str = "createEndpoint",
    status: int | None = None,
    ordinary: int | None = None,
) -> NumberTried:
    """A number that was answered with this one; with a status it was refused.

    So was an ordinary number that has a status too.
    """
    body = f'{{"{field}":{number}}}'.encode()
    answer = (
        exchange("tried", operation_id, data={field: answered}, request_body=body)
        if status is None
        else refusal(status, operation_id, request_body=body)
    )
    return observation(
        NumberTried,
        control(operation_id, ordinary),
        answer,
        operation_id=operation_id,
        field=field,
        number=number,
    )


def page_sized(answer: Exchange, number: str = "0", ordinary: int | None = None) -> ExtremePageSize:
    """What a list with this perPage was answered with, beside one without it."""
    return observation(
        ExtremePageSize,
        control("listPortalLinks", ordinary),
        answer,
        operation_id="listPortalLinks",
        query={"perPage": number},
    )


def control(operation_id: str, status: int | None) -> Exchange:
    """An ordinary request, refused if it has a status."""
    if status is None:
        return exchange("control", operation_id, data={"uid": UID})
    return refusal(status, operation_id, role="control")


def tried_page(items: list[dict[str, Any]], **pagination: Any) -> Exchange:
    return page("listPortalLinks", items, "tried", **pagination)


def near(
    *tried_items: dict[str, Any],
    field: str = "owner_id",
    parameter: str = "ownerId",
    found: bool = True,
) -> NearFilter:
    """A portal link, the list filtered by its value, and what a part of the value found."""
    shown = exchange("retrieve", "getPortalLink", data=link(), path={"portalLinkID": UID})
    control = page("listPortalLinks", [link()] if found else [], "control")
    return observation(
        NearFilter,
        shown,
        control,
        tried_page(list(tried_items)),
        operation_id="listPortalLinks",
        query={parameter: "owner"},
        field=field,
        near="a prefix",
    )


def near_source(field: str, *tried: dict[str, Any], ignored: bool | None = False) -> NearFilter:
    """The list of all sources, the list filtered by a value, and what a pattern found.

    `ignored`: whether an unrelated word finds the source too, None if none was asked for.
    """
    source = {"uid": UID, "provider": "github", "type": "http"}
    unrelated = page("listSources", [source] if ignored else [], "unrelated")
    return observation(
        NearFilter,
        *(() if ignored is None else (unrelated,)),
        page("listSources", [source, {"uid": "another", field: "another"}], "retrieve"),
        page("listSources", [source], "control"),
        page("listSources", [{**source, **each} for each in tried], "tried"),
        operation_id="listSources",
        query={field: "g%b"},
        field=field,
        near="a pattern with %",
    )


PLAIN, SENTINEL = destination(), event("sentinel")
SENTINEL_ARRIVED = sent(SENTINEL, PLAIN)
REFUSED_ARRIVED = sent(event("refused"), PLAIN, body=b'{"marker":"refused-1"}')


def broadcast_refused(
    *arrived: ReceivedDelivery,
    duplicate: bool | None = False,
    fresh: bool = False,
    status: int = 400,
) -> BroadcastsWithRefusedContent:
    """A broadcast with this status, what arrived, and the flags of those with the same key and with
    a fresh one.
    """
    evidence = observed(
        BroadcastsWithRefusedContent, PLAIN, *arrived, events=[SENTINEL], markers=("refused-1",)
    )
    tried = exchange("refused content", "createBroadcastEvent", status=status, data={})
    repeated = created_event(role="same key", is_duplicate_event=duplicate)
    of_fresh = created_event(role="fresh key", is_duplicate_event=fresh)
    return replace(evidence, exchanges=(*evidence.exchanges, tried, repeated, of_fresh))


def endpoints_refused(before: int, after: int, status: int = 400) -> CreationsWithRefusedContent:
    """A creation with this status, and how many endpoints a portal link had before and after."""
    return observation(
        CreationsWithRefusedContent,
        _link_with("before", before),
        refusal(status, role="refused"),
        _link_with("after", after),
    )


def change_refused(
    after: Any, *, before: Any = "before", changed: str = "name", status: int = 400
) -> ChangesWithRefusedContent:
    """A change with this status of a resource, and what its field has before and after it."""
    return observation(
        ChangesWithRefusedContent,
        exchange("before", "getPortalLink", data=link(**{changed: before})),
        refusal(status, "updatePortalLink", role="refused"),
        exchange("after", "getPortalLink", data=link(**{changed: after})),
        changed=changed,
    )


def _link_with(role: str, count: int) -> Exchange:
    return exchange(role, "getPortalLink", data=link(endpoints_metadata=[endpoint()] * count))


def updated(request: dict[str, Any], **after: Any) -> PortalLinkUpdate:
    """An update with these fields, after which the portal link shows these."""
    place = {"portalLinkID": UID}
    return observation(
        PortalLinkUpdate,
        exchange("before", "getPortalLink", data=link(), path=place),
        exchange("update", "updatePortalLink", data=link(**after), request=request, path=place),
        exchange("after", "getPortalLink", data=link(**after), path=place),
        field="endpoints",
    )


FULL_PAGE = [link(uid=f"{UID}{place}") for place in range(101)]

EXAMPLES = (
    *(
        Example(
            requirement=in_answer,
            kept=long_text(operation_id, field, LONG),
            broken=long_text(operation_id, field, CUT),
        )
        for (operation_id, field), (in_answer, _) in LONG_TEXTS.items()
    ),
    *(
        Example(
            requirement=in_fetch,
            kept=long_text(operation_id, field, LONG, LONG),
            broken=long_text(operation_id, field, LONG, CUT),
        )
        for (operation_id, field), (_, in_fetch) in LONG_TEXTS.items()
        if in_fetch
    ),
    *(
        Example(
            requirement=ECHOED[field],
            kept=number_tried(field, number, kept),
            broken=number_tried(field, number, broken),
        )
        for field in ("http_timeout", "rate_limit", "rate_limit_duration")
        for number, kept, broken in (
            ("2147483648", 2147483648, -2147483648),
            ("9223372036854775808", 9.223372036854775808e18, 9223372036854775807),
            ("1e400", float("inf"), None),
            ("-1", -1, 1),
            ("0", None, 5),
            ("-0", 0, 7),
        )
    ),
    *(
        Example(
            requirement="8-17",
            kept=number_tried(
                "expiration", number, operation_id="expireEndpointSecret", status=400
            ),
            broken=broken,
        )
        for number in ("2147483648", "1e400")
        for broken in (
            number_tried("expiration", number, operation_id="expireEndpointSecret"),
            number_tried("expiration", number, operation_id="expireEndpointSecret", status=409),
            number_tried("expiration", number, operation_id="expireEndpointSecret", status=500),
        )
    ),
    *(
        Example(requirement="8-20", kept=page_sized(kept), broken=page_sized(broken))
        for kept in (
            tried_page([link()], per_page=20),
            tried_page([], per_page=0),
            refusal(400, "listPortalLinks"),
        )
        for broken in (
            tried_page([link()], per_page=1_000_000),
            tried_page([], per_page=-1),
            tried_page(FULL_PAGE, per_page=None),
        )
    ),
    Example(requirement="4.4-9", kept=near(), broken=near(link())),
    Example(
        requirement="4.4-11",
        kept=near(field="name", parameter="q"),
        broken=near(link(), field="name", parameter="q"),
    ),
    Example(
        requirement="4.7-9",
        kept=near_source("provider", {"uid": "third", "provider": "g%b"}),
        broken=near_source("provider", {}),
    ),
    Example(
        requirement="4.7-11", kept=near_source("type"), broken=near_source("type", {}, ignored=None)
    ),
    *(
        Example(
            requirement="2.2-18",
            kept=tried_page([]),
            broken=tried_page([], has_next_page=claimed, next_page_cursor=more),
        )
        for claimed, more in ((True, "more"), (True, ""), (False, "more"), (False, 17))
    ),
    *(
        Example(requirement="7-10", kept=broadcast_refused(SENTINEL_ARRIVED), broken=broken)
        for broken in (
            broadcast_refused(SENTINEL_ARRIVED, REFUSED_ARRIVED),
            broadcast_refused(SENTINEL_ARRIVED, duplicate=True),
        )
    ),
    Example(requirement="7-10", kept=endpoints_refused(1, 1), broken=endpoints_refused(1, 2)),
    Example(requirement="7-10", kept=change_refused("before"), broken=change_refused("renamed")),
    *(
        Example(
            requirement="4.6-15",
            kept=updated({"endpoints": []}),
            broken=updated({"endpoints": []}, **{field: value}),
        )
        for field in UPDATED
        for value in (None, "another")
    ),
)
