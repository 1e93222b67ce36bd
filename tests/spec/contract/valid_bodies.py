"""Bodies that keep the contract of the reference dialect, to be spoilt in one place by a test."""

from copy import deepcopy
from typing import Any

UID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
TIME = "2030-01-02T03:04:05.678901Z"

REQUESTS: dict[str, dict[str, Any]] = {
    "createEndpoint": {
        "name": "Orders",
        "url": "https://receiver.invalid/orders",
        "rate_limit": 5,
        "rate_limit_duration": 60,
        "http_timeout": 10,
        "authentication": {
            "type": "oauth2",
            "oauth2": {
                "authentication_type": "shared_secret",
                "field_mapping": {"expires_in": "lifetime"},
            },
        },
    },
    "expireEndpointSecret": {"expiration": 60, "secret": "second"},
    "updatePortalLink": {"name": "Orders", "auth_type": "refresh_token"},
    "createBroadcastEvent": {
        "event_type": "order.paid",
        "data": {"order": 1},
        "acknowledged_at": "at noon",
    },
}

SECRET = {"uid": UID, "value": "first", "created_at": TIME, "updated_at": TIME, "expires_at": None}
ENDPOINT = {
    "uid": UID,
    "project_id": "demo",
    "name": "Orders",
    "url": "https://receiver.invalid/orders",
    "advanced_signatures": False,
    "content_type": "application/json",
    "status": "active",
    "failure_rate": 0,
    "secrets": [SECRET],
    "authentication": {
        "type": "api_key",
        "api_key": {"header_name": "X-Key", "header_value": "k"},
        "oauth2": None,
    },
    "mtls_client_cert": None,
    "created_at": TIME,
    "deleted_at": None,
}
PORTAL_LINK = {
    "uid": UID,
    "project_id": "demo",
    "endpoint_count": 1,
    "endpoints_metadata": [ENDPOINT],
    "endpoints": None,
    "created_at": TIME,
}
SOURCE = {
    "uid": UID,
    "project_id": "demo",
    "type": "http",
    "verifier": {"type": "noop"},
    "created_at": TIME,
}
EVENT = {
    "uid": UID,
    "project_id": "demo",
    "data": [123, 125],
    "source_metadata": None,
    "is_duplicate_event": False,
    "status": "Processing",
    "acknowledged_at": "at noon",
    "created_at": TIME,
}
PAGINATION = {
    "has_next_page": False,
    "has_prev_page": False,
    "per_page": 20,
    "next_page_cursor": None,
}


def envelope(data: object) -> dict[str, Any]:
    return {"message": "done", "status": True, "data": deepcopy(data)}


def page(resource: object) -> dict[str, Any]:
    return envelope({"content": [resource], "pagination": PAGINATION})


RESPONSES: dict[str, dict[str, Any]] = {
    "createEndpoint": envelope(ENDPOINT),
    "getEndpoint": envelope(ENDPOINT),
    "expireEndpointSecret": envelope(ENDPOINT),
    "listPortalLinks": page(PORTAL_LINK),
    "getPortalLink": envelope(PORTAL_LINK),
    "updatePortalLink": envelope(PORTAL_LINK),
    "listSources": page(SOURCE),
    "createBroadcastEvent": envelope(EVENT),
}


def spoilt(body: dict[str, Any], pointer: str, value: object) -> dict[str, Any]:
    """A copy in which another value stands at a JSON Pointer."""
    copy: dict[str, Any] = deepcopy(body)
    part, last = _container(copy, pointer)
    part[last] = value
    return copy


def without(body: dict[str, Any], pointer: str) -> dict[str, Any]:
    """A copy in which the field at a JSON Pointer is absent."""
    copy: dict[str, Any] = deepcopy(body)
    part, last = _container(copy, pointer)
    del part[last]
    return copy


def _container(body: Any, pointer: str) -> tuple[Any, Any]:
    """The mapping or list that holds what a JSON Pointer points at, and its key or index there."""
    *parents, last = pointer.removeprefix("/").split("/")
    part = body
    for step in parents:
        part = part[int(step) if isinstance(part, list) else step]
    return part, int(last) if isinstance(part, list) else last
