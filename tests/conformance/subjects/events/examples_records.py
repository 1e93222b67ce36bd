"""Examples for sections 2.6, 2.8 and 4.8: endpoints in portal links and in events."""

from typing import Any

from hookproof.conformance.observations.endpoint_records import (
    ManyInPortalLink,
    RecordsInEvent,
    RecordsInPortalLink,
)
from hookproof.conformance.subjects.events.evidence import BroadcastWithField
from tests.conformance.canned_evidence import exchange, observation
from tests.conformance.checks.api.example import UID, Example, endpoint, link
from tests.conformance.checks.api.example import event as created_event

IDENTIFYING = ("name", "url", "owner_id")
RECORDED = (
    *("project_id", "description", "content_type", "advanced_signatures", "http_timeout"),
    *("rate_limit", "rate_limit_duration", "slack_webhook_url", "support_email"),
    *("authentication", "mtls_client_cert", "created_at"),
)
COUNTED = ("status", "events", "failure_rate", "updated_at")
SHOWN_SECRET = {"uid": "a secret", "value": "its value"}
OTHER_SECRET = {"uid": "newer", "value": "another value"}
EVERY_FIELD = {field: f"the {field}" for field in (*IDENTIFYING, *RECORDED, *COUNTED)}


def in_portal_link(
    operation_id: str = "getPortalLink",
    *,
    again: dict[str, Any] | None = None,
    secrets_before: tuple[Any, ...] = (SHOWN_SECRET,),
    **record: Any,
) -> RecordsInPortalLink:
    """An endpoint with every field, and a record of it that differs in these fields.

    If `again` is given, the endpoint is fetched again, and differs in those.
    """
    full = endpoint(**EVERY_FIELD, secrets=list(secrets_before))
    place = {"endpointID": UID}
    refetched = [
        exchange("fetch", "getEndpoint", data=full | changes, path=place)
        for changes in ([] if again is None else [again])
    ]
    holder = link(endpoints_metadata=[full | record])
    is_list = operation_id == "listPortalLinks"
    return observation(
        RecordsInPortalLink,
        exchange("fetch", "getEndpoint", data=full, path=place),
        exchange("shows records", operation_id, data={"content": [holder]} if is_list else holder),
        *refetched,
    )


def in_event(**record: Any) -> RecordsInEvent:
    """An endpoint with every field, and an event with a record that differs in these fields."""
    full = endpoint(**EVERY_FIELD, secrets=[SHOWN_SECRET])
    return observation(
        RecordsInEvent,
        exchange("fetch", "getEndpoint", data=full, path={"endpointID": UID}),
        created_event(role="shows records", endpoint_metadata=[full | record]),
    )


def many_in_portal_link(
    shown_ones: range,
    operation_id: str = "getPortalLink",
    owner: str | None = "o",
    owned: range = range(30),
) -> ManyInPortalLink:
    """Thirty endpoints that were created for one owner, and its portal link with some of them;
    those that are `owned` show it.
    """
    records = [
        endpoint(uid=f"endpoint {number}", owner_id="o" if number in owned else None)
        for number in range(30)
    ]
    holder = link(owner_id=owner, endpoints_metadata=[records[number] for number in shown_ones])
    data = {"content": [holder]} if operation_id == "listPortalLinks" else holder
    return observation(
        ManyInPortalLink,
        *(
            exchange("one of many", "createEndpoint", data=record, request={"owner_id": "o"})
            for record in records
        ),
        exchange("shows records", operation_id, data=data),
        link_uid=UID,
    )


def acknowledged(shown_at: str | None) -> BroadcastWithField:
    """An event that was sent with an acknowledged_at and shows this one."""
    sent_at = "2024-05-06T07:08:09.000001Z"
    return observation(
        BroadcastWithField,
        created_event({"acknowledged_at": sent_at}, acknowledged_at=shown_at),
        field="acknowledged_at",
    )


EXAMPLES = (
    *(
        Example(
            requirement="2.6-2",
            kept=many_in_portal_link(range(30), operation_id),
            broken=many_in_portal_link(range(20), operation_id),
        )
        for operation_id in ("getPortalLink", "listPortalLinks", "updatePortalLink")
    ),
    *(
        Example(
            requirement="2.6-10", kept=in_portal_link(), broken=in_portal_link(**{field: value})
        )
        for field in RECORDED
        for value in (None, "another")
    ),
    *(
        Example(
            requirement="2.6-10",
            kept=in_portal_link(**{field: "another"}),
            broken=in_portal_link(**{field: None}),
        )
        for field in COUNTED
    ),
    *(
        Example(
            requirement="2.6-10",
            kept=in_portal_link(again={field: "since another"}, **{field: "another"}),
            broken=in_portal_link(again={}, **{field: "another"}),
        )
        for field in COUNTED
    ),
    Example(requirement="2.6-10", kept=in_portal_link(), broken=in_portal_link(uid=None)),
    Example(
        requirement="2.6-10",
        kept=in_portal_link(
            secrets_before=(SHOWN_SECRET, OTHER_SECRET), secrets=[OTHER_SECRET, SHOWN_SECRET]
        ),
        broken=in_portal_link(secrets_before=(SHOWN_SECRET, OTHER_SECRET), secrets=[OTHER_SECRET]),
    ),
    *(
        Example(
            requirement="2.6-6",
            kept=in_portal_link(operation_id),
            broken=in_portal_link(operation_id, **{field: "another"}),
        )
        for operation_id in ("getPortalLink", "listPortalLinks", "updatePortalLink")
        for field in IDENTIFYING
    ),
    *(
        Example(
            requirement="2.6-10",
            kept=in_portal_link(secrets=[kept]),
            broken=in_portal_link(secrets=[broken]),
        )
        for kept in (SHOWN_SECRET, {"uid": "a secret"}, SHOWN_SECRET | {"value": "********"})
        for broken in (SHOWN_SECRET | {"uid": "another"}, SHOWN_SECRET | {"value": "another"})
    ),
    *(
        Example(
            requirement="2.8-10",
            kept=in_event(secrets=kept),
            broken=in_event(secrets=[SHOWN_SECRET | {"value": "another"}]),
        )
        for kept in ([SHOWN_SECRET], [SHOWN_SECRET | {"value": "********"}], [])
    ),
    *(
        Example(
            requirement="2.8-10",
            kept=in_event(description=None),
            broken=in_event(**{field: "another"}),
        )
        for field in ("url", *RECORDED)
    ),
    *(
        Example(
            requirement="4.8-18",
            kept=acknowledged(kept),
            broken=acknowledged("2024-05-06T08:08:09Z"),
        )
        for kept in ("2024-05-06T07:08:09.000001Z", "2024-05-06T07:08:09Z")
    ),
)
