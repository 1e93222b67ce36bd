"""Examples for what operations have in common: success, status, identity, types and forms (sections
2.4, 2.9, 4).
"""

from typing import Any

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.succeeding_requests import SucceedingRequests
from hookproof.spec.openapi_document import openapi_document, schema_named
from tests.conformance.canned_evidence import exchange, observation
from tests.conformance.checks.api.example import (
    AT,
    LATER,
    OTHER_UID,
    UID,
    Example,
    created,
    endpoint,
    event,
    fetched,
    link,
    page,
    refusal,
    secret,
)

EVENT_FIELDS_WITHOUT_VALUE = (
    "raw",
    "headers",
    "endpoints",
    "endpoint_metadata",
    "source_id",
    "source_metadata",
    "app_id",
    "idempotency_key",
    "metadata",
    "url_query_params",
    "acknowledged_at",
    "deleted_at",
)

# Each field of an endpoint, and none of its secrets.
NO_FIELDS: dict[str, Any] = {
    **dict.fromkeys(schema_named(openapi_document(), "Endpoint")["properties"]),
    "secrets": [],
}

DATA: dict[str, dict[str, Any]] = {
    "createEndpoint": endpoint(),
    "getEndpoint": endpoint(),
    "expireEndpointSecret": endpoint(),
    "listPortalLinks": {"content": [link()], "pagination": {}},
    "getPortalLink": link(),
    "updatePortalLink": link(),
    "listSources": {"content": [{"uid": UID, "name": "Pushes"}], "pagination": {}},
    "createBroadcastEvent": {"uid": UID, "event_type": "order.paid"},
}
ROLES = {
    "createEndpoint": "create",
    "getEndpoint": "fetch",
    "expireEndpointSecret": "roll",
    "updatePortalLink": "update",
}


def with_wrong_type(operation_id: str) -> Exchange:
    """An answer in which a documented string is a number."""
    data = DATA[operation_id]
    if "content" in data:
        wrong: dict[str, Any] = {"content": [{**data["content"][0], "name": 7}]}
    elif "event_type" in data:
        wrong = {"event_type": 7}
    else:
        wrong = {"name": 7}
    return exchange("any", operation_id, data={**data, **wrong})


def in_capitals(value: Any) -> Any:
    """JSON in which every name is in capitals but those of the envelope."""
    if isinstance(value, list):
        return [in_capitals(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name if name in ("content", "pagination") else name.upper(): in_capitals(member)
        for name, member in value.items()
    }


# That it succeeds, with which status, and with fields as documented.
OF_OPERATION = {
    "createEndpoint": ("4.1-1", "4.1-2", "4.1-3"),
    "getEndpoint": ("4.2-1", "4.2-2", "4.2-3"),
    "expireEndpointSecret": ("4.3-1", "4.3-8", "4.3-9"),
    "listPortalLinks": ("4.4-1", "4.4-2", "4.4-3"),
    "getPortalLink": ("4.5-1", "4.5-2", "4.5-3"),
    "updatePortalLink": ("4.6-1", "4.6-2", "4.6-3"),
    "listSources": ("4.7-1", "4.7-2", "4.7-3"),
    "createBroadcastEvent": ("4.8-1", "4.8-2", "4.8-3"),
}

OF_OPERATIONS = (
    *(
        Example(
            requirement=requirement,
            kept=observation(
                SucceedingRequests,
                exchange(ROLES.get(operation_id, "first"), operation_id, data={}),
            ),
            broken=observation(
                SucceedingRequests,
                exchange("prepare", data=endpoint()),
                refusal(
                    400,
                    operation_id,
                    role=ROLES.get(operation_id, "first"),
                    path={"endpointID": UID},
                ),
            ),
        )
        for operation_id, (requirement, _, _) in OF_OPERATION.items()
    ),
    *(
        Example(
            requirement=requirement,
            kept=exchange("any", operation_id, data={}),
            broken=exchange("any", operation_id, status=206, data={}),
        )
        for operation_id, (_, requirement, _) in OF_OPERATION.items()
    ),
    *(
        Example(
            requirement=requirement,
            kept=exchange("any", operation_id, data={"uid": UID}, path={parameter: UID}),
            broken=exchange("any", operation_id, data={"uid": OTHER_UID}, path={parameter: UID}),
        )
        for operation_id, requirement, parameter in (
            ("getEndpoint", "4.2-4", "endpointID"),
            ("expireEndpointSecret", "4.3-10", "endpointID"),
            ("getPortalLink", "4.5-4", "portalLinkID"),
            ("updatePortalLink", "4.6-4", "portalLinkID"),
        )
    ),
    *(
        Example(
            requirement=requirement,
            kept=exchange("any", operation_id, data=DATA[operation_id]),
            broken=with_wrong_type(operation_id),
        )
        for operation_id, (_, _, requirement) in OF_OPERATION.items()
    ),
    *(
        Example(
            requirement=requirement,
            kept=exchange("any", operation_id, data=DATA[operation_id]),
            broken=exchange("any", operation_id, data=in_capitals(DATA[operation_id])),
        )
        for operation_id, (_, _, requirement) in OF_OPERATION.items()
    ),
)

FORMS = (
    *(
        Example(requirement=requirement, kept=fetched(), broken=fetched(broken))
        for requirement, broken in (
            ("2.4-1", {"secrets": [secret(value=7)]}),
            ("2.9-1", {"uid": "endpoint-1"}),
            ("2.9-2", {"created_at": "yesterday"}),
        )
    ),
    Example(
        requirement="2.8-18",
        kept=event(headers={"X-Trace": "a"}),
        broken=event(headers={"X-Trace": ["a"]}),
    ),
    Example(
        requirement="2.8-18",
        kept=event(headers={"X-Trace": ["a"]}),
        broken=event(headers={"X-Trace": "a"}),
        dialect="contrary",
    ),
    Example(
        requirement="2.9-3",
        kept=created({**NO_FIELDS, "name": ""}, {"name": ""}),
        broken=created({**NO_FIELDS, "name": ""}, {}),
    ),
    Example(
        requirement="2.9-3",
        kept=event(**dict.fromkeys(EVENT_FIELDS_WITHOUT_VALUE) | {"url_query_params": ""}),
        broken=event(deleted_at=None),
    ),
    Example(
        requirement="2.9-3",
        kept=exchange("any", "getEndpoint", dialect="contrary", data={"uid": UID}),
        broken=exchange("any", "getEndpoint", dialect="contrary", data={"uid": UID, "name": None}),
        dialect="contrary",
    ),
    *(
        Example(
            requirement="2.3-19",
            kept=fetched({"failure_rate": kept}),
            broken=fetched({"failure_rate": broken}),
            dialect=dialect,
        )
        for dialect, kept, broken in (
            ("reference", 100, 101),
            ("reference", 0, -1),
            ("reference", 12.0, 1000),
            ("contrary", 1000, 1001),
        )
    ),
    *(
        Example(
            requirement="2.9-12",
            kept=fetched({"created_at": created, "updated_at": LATER}),
            broken=fetched({"created_at": LATER, "updated_at": "2024-05-06T07:08:08.000001Z"}),
        )
        for created in (AT, f"{LATER[:-8]}.900000Z")  # the same second, with another precision
    ),
    *(
        Example(
            requirement=requirement,
            kept=page(operation_id, [kept]),
            broken=page(operation_id, [broken]),
        )
        for requirement, operation_id, kept, broken in (
            ("2.9-4", "listPortalLinks", {"auth_type": "refresh_token"}, {"auth_type": "door"}),
            ("2.9-5", "listSources", {"type": "http"}, {"type": "pigeon"}),
            ("2.9-6", "listSources", {"provider": "github"}, {"provider": "stranger"}),
            (
                "2.9-7",
                "listSources",
                {"verifier": {"type": "noop"}},
                {"verifier": {"type": "guess"}},
            ),
            (
                "2.9-14",
                "listSources",
                {"verifier": {"hmac": {"encoding": "hex"}}},
                {"verifier": {"hmac": {"encoding": "HEX"}}},
            ),
            (
                "2.9-15",
                "listSources",
                {"pub_sub": {"kafka": {"auth": {"type": "scram"}}}},
                {"pub_sub": {"kafka": {"auth": {"type": "whisper"}}}},
            ),
            ("2.9-8", "listSources", {"pub_sub": {"type": "sqs"}}, {"pub_sub": {"type": "drum"}}),
        )
    ),
)

EXAMPLES = (*OF_OPERATIONS, *FORMS)
