"""Two pieces of evidence of a requirement: of a target that conforms, and of one that does not."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hookproof.conformance.model.evidence import Exchange, Observation
from hookproof.conformance.observations.mistakes import RequestTried
from hookproof.conformance.subjects.questions.evidence import (
    Bound,
    EndpointUrlTried,
    HeaderTextTried,
    Mistake,
    MistakenRequest,
    RequestWithinBounds,
    Scheme,
    Unlisted,
    UnlistedInput,
    UnusualUrlTried,
    UrlKind,
)
from hookproof.spec.dialect.vocabulary import HeaderText
from tests.conformance.canned_evidence import exchange, observation

# The operations in the order of the document, which is that of the requirements about each.
OPERATIONS = (
    "createEndpoint",
    "getEndpoint",
    "expireEndpointSecret",
    "listPortalLinks",
    "getPortalLink",
    "updatePortalLink",
    "listSources",
    "createBroadcastEvent",
)
# What an endpoint is created with and shows, and what an update of a portal link changes to what.
ECHOED = {
    "name": "4.1-4",
    "description": "4.1-5",
    "url": "4.1-6",
    "owner_id": "4.1-7",
    "content_type": "4.1-8",
    "advanced_signatures": "4.1-9",
    "http_timeout": "4.1-10",
    "rate_limit": "4.1-11",
    "rate_limit_duration": "4.1-12",
    "slack_webhook_url": "4.1-13",
    "support_email": "4.1-14",
}
UPDATED = {
    "name": ("4.6-5", "New"),
    "owner_id": ("4.6-6", "owner-2"),
    "can_manage_endpoint": ("4.6-7", False),
    "auth_type": ("4.6-8", "static_token"),
}
# What a request may be about: a class of observation, or one of the kinds that share a class.
Topic = type[RequestTried] | Mistake | Unlisted | Bound | Scheme | UrlKind | HeaderText

UID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
OTHER_UID = "01ARZ3NDEKTSV4RRFFQ69G5FAW"
AT = "2024-05-06T07:08:09.000001Z"
LATER = "2024-05-06T07:08:10.000001Z"


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """`kept` makes the checks that judge it pass the requirement, `broken` makes one of them fail
    it, both under the dialect.
    """

    requirement: str
    kept: Observation | Exchange
    broken: Observation | Exchange
    dialect: str = "reference"

    def __str__(self) -> str:
        return f"{self.requirement}-{type(self.broken).__name__}-{self.dialect}"


def created(
    data: Mapping[str, Any] | None = None, request: Any = None, *, role: str = "create", **more: Any
) -> Exchange:
    """A createEndpoint that was answered with this endpoint."""
    return exchange(
        role, "createEndpoint", data=endpoint(**(data or {})), request=request or {}, **more
    )


def fetched(data: Mapping[str, Any] | None = None, **more: Any) -> Exchange:
    """The fetch of that endpoint."""
    return exchange(
        "fetch", "getEndpoint", data=endpoint(**(data or {})), path={"endpointID": UID}, **more
    )


def endpoint(**fields: Any) -> dict[str, Any]:
    """An endpoint with everything that the document gives it by itself (section 2.3)."""
    return {
        "uid": UID,
        "project_id": "p1",
        "url": "https://one.invalid/hook",
        "content_type": "application/json",
        "advanced_signatures": False,
        "status": "active",
        "events": 0,
        "secrets": [secret()],
        "created_at": AT,
        "updated_at": AT,
        **fields,
    }


def secret(
    uid: str = "01ARZ3NDEKTSV4RRFFQ69G5FA0", value: str = "s" * 43, **fields: Any
) -> dict[str, Any]:
    """A secret (section 2.4)."""
    return {"uid": uid, "value": value, "created_at": AT, "updated_at": AT, **fields}


def link(**fields: Any) -> dict[str, Any]:
    """A portal link without endpoints (section 2.6)."""
    return {
        "uid": UID,
        "project_id": "p1",
        "name": "Orders",
        "owner_id": "owner-1",
        "auth_type": "refresh_token",
        "can_manage_endpoint": True,
        "endpoint_count": 0,
        "endpoints_metadata": [],
        "created_at": AT,
        "updated_at": AT,
        **fields,
    }


def retrieved(
    role: str = "retrieve", operation_id: str = "getPortalLink", request: Any = None, **fields: Any
) -> Exchange:
    """A portal link in the answer to its retrieval or its update."""
    return exchange(
        role, operation_id, data=link(**fields), request=request, path={"portalLinkID": UID}
    )


def page(
    operation_id: str, items: list[dict[str, Any]], role: str = "page", **pagination: Any
) -> Exchange:
    """One page of a list, the only one unless said otherwise (section 2.2)."""
    members = {
        "has_next_page": False,
        "has_prev_page": False,
        "next_page_cursor": "",
        "per_page": 20,
        "prev_page_cursor": "",
        **pagination,
    }
    return exchange(role, operation_id, data={"content": items, "pagination": members})


def event(
    request: Mapping[str, Any] | None = None, role: str = "create", **fields: Any
) -> Exchange:
    """The answer to a broadcast (section 2.8)."""
    data = {
        "uid": UID,
        "project_id": "p1",
        "event_type": "order.paid",
        "data": list(b'{"n":1}'),
        "status": "Processing",
        "is_duplicate_event": False,
        "created_at": AT,
        "updated_at": AT,
        **fields,
    }
    sent = {"event_type": "order.paid", "data": {"n": 1}} if request is None else dict(request)
    return exchange(role, "createBroadcastEvent", data=data, request=sent)


def refusal(
    status: int = 400,
    operation_id: str | None = "createEndpoint",
    *,
    role: str = "tried",
    body: Any = None,
    **more: Any,
) -> Exchange:
    """A refusal with the reference dialect's error body."""
    error_body = {"status": False, "message": "no"} if body is None else body
    return exchange(role, operation_id, status=status, body=error_body, **more)


def request_tried(
    what: Topic,
    answer: Exchange,
    *further: Exchange,
    field: str = "name",
    alone: bool = False,
) -> RequestTried:
    """One request, its answer and further exchanges: of this class, or of the class that has this
    kind. Without others, the ordinary request is beside it and was taken, unless it is `alone`.
    """
    kinds: dict[type, tuple[type[RequestTried], str]] = {
        Mistake: (MistakenRequest, "mistake"),
        Unlisted: (UnlistedInput, "kind"),
        Bound: (RequestWithinBounds, "bound"),
        Scheme: (EndpointUrlTried, "scheme"),
        UrlKind: (UnusualUrlTried, "kind"),
        HeaderText: (HeaderTextTried, "needs"),
    }
    fields: dict[str, Any] = {"operation_id": answer.operation_id, "field": field}
    observed, name = (what, "") if isinstance(what, type) else kinds[type(what)]
    if not further and not alone:
        further = (accepted(answer.operation_id or "listSources", observed.role_of_ordinary),)
    fact = {name: what} if name else {}
    return observation(observed, answer, *further, **fields, **fact)


def accepted(operation_id: str = "createEndpoint", role: str = "refused") -> Exchange:
    """A request that should have been refused and was not."""
    return exchange(role, operation_id, data={})
