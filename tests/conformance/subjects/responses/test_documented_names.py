"""A documented field under another name is told from a field of the service's own."""

from typing import Any

import pytest

from hookproof.conformance.model.evidence import Exchange
from tests.conformance.canned_evidence import exchange, judgements
from tests.conformance.checks.api.example import endpoint, link, page


def found(answered: Exchange) -> dict[str, str]:
    """The requirement and the message of each finding, and the name that is shown."""
    return {
        f"{judgement.requirement}: {judgement.message.rpartition(': ')[2]}": judgement.actual
        for judgement in judgements("4.1-3 4.2-3 4.3-9 4.4-3 4.5-3 4.6-3 4.7-3 4.8-3", answered)
        if judgement.message.startswith("A field is not named as documented")
    }


def listed(**amqp: str) -> Exchange:
    return page("listSources", [{"uid": "s1", "pub_sub": {"type": "amqp", "amqp": amqp}}])


@pytest.mark.parametrize(
    ("answered", "expected"),
    [
        (
            listed(routing_key="orders"),
            {"4.7-3: Source pub_sub.amqp.routingKey": "routing_key"},
        ),
        (
            exchange(operation_id="getEndpoint", data={"uid": "e1", "ownerId": "o1"}),
            {"4.2-3: Endpoint owner_id": "ownerId"},
        ),
        (
            exchange(operation_id="getEndpoint", data={"UID": "e1", "secrets": [{"Value": "v"}]}),
            {"4.2-3: Endpoint uid": "UID", "4.2-3: Endpoint secrets.value": "Value"},
        ),
        (
            page("listPortalLinks", [link(endpoints_metadata=[{"Project-ID": "p1"}])]),
            {"4.4-3: PortalLink endpoints_metadata.project_id": "Project-ID"},
        ),
    ],
)
def test_a_documented_field_in_another_spelling_is_found(
    answered: Exchange, expected: dict[str, str]
) -> None:
    assert found(answered) == expected


@pytest.mark.parametrize(
    "data",
    [
        endpoint(),
        {"uid": "e1", "_revision": 1, "object": "endpoint"},
        {"uid": "e1", "owner_id": "o1", "ownerId": "o1"},
        {"uid": "e1", "secrets": [None, 5, ["value"]], "authentication": "none"},
    ],
)
def test_fields_of_the_services_own_and_both_spellings_pass(data: Any) -> None:
    assert found(exchange(operation_id="getEndpoint", data=data)) == {}


def test_the_names_in_a_senders_own_objects_are_free() -> None:
    event = {"uid": "v1", "headers": {"Event-Type": ["a"], "UID": ["b"]}}
    assert found(exchange(operation_id="createBroadcastEvent", data=event)) == {}
