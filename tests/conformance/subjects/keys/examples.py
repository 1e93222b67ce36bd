"""Examples for sections 1 and 5: projects and keys."""

from dataclasses import replace
from typing import Any

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.subjects.isolation.evidence import (
    CallAcrossProjects,
    ListsOfTwoProjects,
    OneOwnerInTwoProjects,
)
from hookproof.conformance.subjects.keys.evidence import (
    BroadcastsWithoutRight,
    CallWithKey,
    CreationsWithoutRight,
    KeyKind,
)
from tests.conformance.canned_evidence import Observed, exchange, observation
from tests.conformance.checks.api.example import (
    OPERATIONS,
    OTHER_UID,
    UID,
    Example,
    accepted,
    created,
    endpoint,
    event,
    fetched,
    refusal,
    retrieved,
    secret,
)

GET, ROLL, UPDATE, BROADCAST = (
    "getEndpoint",
    "expireEndpointSecret",
    "updatePortalLink",
    "createBroadcastEvent",
)


def call_with(
    kind: KeyKind, *exchanges: Exchange, operation_id: str = "createEndpoint"
) -> CallWithKey:
    """One request with a key of this kind, perhaps between two looks at a resource."""
    return observation(CallWithKey, *exchanges, kind=kind, operation_id=operation_id)


def denied(status: int, operation_id: str = "createEndpoint", **request: Any) -> Exchange:
    """A request that was refused for its key."""
    return refusal(status, operation_id, role="refused", request=request or None)


def fetched_without_key(
    message: str, authorized: Exchange | None = None, **request: Any
) -> CallWithKey:
    """An endpoint that is fetched with the right key, and a refusal with this message."""
    body = {"status": False, "message": message}
    tried = refusal(401, GET, role="refused", body=body, path={"endpointID": UID}, **request)
    allowed = replace(authorized or fetched(), role="authorized")
    return call_with(KeyKind.NONE, allowed, tried, operation_id=GET)


def around(
    kind: type[Observed], /, before: Exchange, middle: Exchange, after: Exchange, **fields: Any
) -> Observed:
    """A look at a resource before and after a request."""
    looks = [
        replace(exchange, role=role) for exchange, role in ((before, "before"), (after, "after"))
    ]
    return observation(kind, looks[0], middle, looks[1], **fields)


def across_projects(call: Exchange, before: Exchange, after: Exchange) -> CallAcrossProjects:
    """A call through the path of another project, between two looks at the resource."""
    return around(CallAcrossProjects, before, call, after, operation_id=call.operation_id)


def denied_across(operation_id: str, **request: Any) -> Exchange:
    """A call through the path of another project that was refused."""
    return refusal(404, operation_id, role="across", request=request or None)


def listing(operation_id: str, here: str, elsewhere: str) -> ListsOfTwoProjects:
    """One resource in the list of each project."""
    pages = [
        exchange(
            "inventory",
            operation_id,
            project=project,
            data={"content": [{"uid": uid}], "pagination": {}},
        )
        for project, uid in (("p1", here), ("p2", elsewhere))
    ]
    return observation(ListsOfTwoProjects, *pages, operation_id=operation_id, projects=("p1", "p2"))


def same_owner(*members: str) -> OneOwnerInTwoProjects:
    """A portal link with these endpoints, beside UID here and OTHER_UID in another project."""
    shown = retrieved("after", endpoints_metadata=[endpoint(uid=uid) for uid in members])
    here = exchange("here", "createEndpoint", data=endpoint(uid=UID))
    elsewhere = exchange("elsewhere", "createEndpoint", project="p2", data=endpoint(uid=OTHER_UID))
    return observation(OneOwnerInTwoProjects, here, elsewhere, shown)


def creations_refused(before: Exchange, after: Exchange) -> CreationsWithoutRight:
    """A creation without a key, between two looks at a portal link, after one that is allowed."""
    around_them = around(
        CreationsWithoutRight, before, denied(401), after, operation_id="createEndpoint"
    )
    return replace(around_them, exchanges=(created(role="allowed"), *around_them.exchanges))


PROJECTS = (
    Example(requirement="1-3", kept=created(), broken=created({"project_id": "p2"})),
    *(
        Example(
            requirement=requirement,
            kept=across_projects(denied_across(call.operation_id or ""), before, before),
            broken=across_projects(call, before, after),
        )
        for requirement, call, before, after in (
            ("1-4", accepted("getEndpoint", "across"), fetched(), fetched()),
            ("1-6", accepted("getPortalLink", "across"), retrieved(), retrieved()),
            (
                "1-5",
                denied_across(ROLL, secret="changed"),
                fetched(),
                fetched({"secrets": [secret(value="changed")]}),
            ),
            (
                "1-7",
                denied_across(UPDATE, name="Changed"),
                retrieved(),
                retrieved(name="Changed"),
            ),
        )
    ),
    *(
        Example(
            requirement=requirement,
            kept=listing(operation_id, UID, OTHER_UID),
            broken=listing(operation_id, UID, UID),
        )
        for operation_id, requirement in (("listPortalLinks", "1-8"), ("listSources", "1-9"))
    ),
    Example(requirement="1-10", kept=same_owner(UID), broken=same_owner(UID, OTHER_UID)),
    Example(
        requirement="4-1",
        kept=call_with(KeyKind.UNKNOWN_PROJECT, denied(401), accepted(role="authorized")),
        broken=call_with(KeyKind.UNKNOWN_PROJECT, denied(403), accepted(role="authorized")),
    ),
)

ONE, BOTH = (
    retrieved(endpoints_metadata=[endpoint(uid=uid) for uid in uids])
    for uids in ((UID,), (UID, OTHER_UID))
)
KEYS = (
    *(
        Example(
            requirement=f"5-{number}",
            kept=call_with(
                kind,
                denied(401, operation_id),
                accepted(operation_id, "authorized"),
                operation_id=operation_id,
            ),
            broken=call_with(kind, accepted(operation_id), operation_id=operation_id),
        )
        for number, operation_id in enumerate(OPERATIONS, 1)
        for kind in (KeyKind.NONE, KeyKind.IN_BODY, KeyKind.ELSEWHERE)
    ),
    *(
        Example(
            requirement=requirement,
            kept=call_with(kind, denied(401), accepted(role="authorized")),
            broken=call_with(kind, accepted()),
        )
        for kind, requirement in (
            (KeyKind.WRONG, "5-9"),
            (KeyKind.TRUNCATED, "5-9"),
            (KeyKind.FORMAT, "5-13"),
            (KeyKind.EMPTY, "5-13"),
            (KeyKind.CREDENTIAL, "5-14"),
        )
    ),
    *(
        Example(
            requirement=requirement,
            kept=call_with(kind, denied(status), accepted(role="authorized")),
            broken=call_with(kind, denied(404), accepted(role="authorized")),
            dialect="contrary",
        )
        for kind, requirement, status in (
            (KeyKind.NONE, "5-10", 401),
            (KeyKind.WRONG, "5-11", 403),
            (KeyKind.TRUNCATED, "5-11", 403),
        )
    ),
    Example(
        requirement="5-12",
        kept=call_with(KeyKind.FOREIGN, denied(401), accepted(role="authorized")),
        broken=call_with(KeyKind.FOREIGN, accepted()),
    ),
    Example(
        requirement="5-12",
        kept=call_with(KeyKind.FOREIGN, accepted()),
        broken=call_with(KeyKind.FOREIGN, denied(403), accepted(role="authorized")),
        dialect="contrary",
    ),
    Example(
        requirement="5-17",
        kept=fetched_without_key("no"),
        broken=fetched_without_key("no: https://one.invalid/hook"),
    ),
    Example(
        requirement="5-15",
        kept=around(
            CallWithKey,
            fetched({"events": 1}),
            denied(401, ROLL),
            fetched({"events": 2}),
            kind=KeyKind.NONE,
            operation_id=ROLL,
        ),
        broken=around(
            CallWithKey,
            fetched(),
            denied(401, ROLL, secret="new"),
            fetched({"secrets": [secret(value="new")]}),
            kind=KeyKind.NONE,
            operation_id=ROLL,
        ),
    ),
    Example(
        requirement="5-15", kept=creations_refused(ONE, ONE), broken=creations_refused(ONE, BOTH)
    ),
    Example(
        requirement="5-15",
        kept=observation(
            BroadcastsWithoutRight,
            denied(401, BROADCAST),
            event(role="accepted"),
            operation_id=BROADCAST,
        ),
        broken=observation(
            BroadcastsWithoutRight,
            denied(401, BROADCAST),
            event(role="accepted", is_duplicate_event=True),
            operation_id=BROADCAST,
        ),
    ),
)


EXAMPLES = (
    *PROJECTS,
    *KEYS,
)
