"""Where spec/openapi.yaml lets a response show null, and what a dialect leaves of it."""

from typing import Any

import pytest

from hookproof.spec.contract.service_contract import contract_for
from hookproof.spec.dialect.reader import load_dialect
from tests.spec.dialect_variants import UNDECIDED, contract
from tests.spec.test_openapi import SCHEMAS, may_be_null

# Fields of responses that always have a value, so that no form of none may stand in them.
ALWAYS_VALUED = {
    "Pagination": {"has_next_page", "has_prev_page", "per_page"},
    "Endpoint": {
        *("uid", "project_id", "url", "advanced_signatures", "content_type", "status"),
        "created_at",
    },
    "Secret": {"uid", "created_at"},
    "PortalLink": {"uid", "project_id", "endpoint_count", "created_at"},
    "Source": {"uid", "project_id", "type", "created_at"},
    "Event": {"uid", "project_id", "status", "is_duplicate_event", "created_at"},
}


def test_a_response_may_show_null_for_whatever_may_have_no_value() -> None:
    shared = {"MtlsClientCert", "OAuth2", "FieldMapping", "SigningKey"}  # by requests and responses
    requests = {"CreateEndpoint", "CreateEndpointAuthentication", "ExpireSecret"} | {
        "UpdatePortalLink",
        "CreateBroadcastEvent",
    }
    never = {name for name in SCHEMAS if name.endswith(("Envelope", "Page"))} | requests
    assert shared.isdisjoint(never)
    assert {
        f"{name}.{field}"
        for name, schema in SCHEMAS.items()
        for field, node in schema["properties"].items()
        if may_be_null(node)
    } == {
        f"{name}.{field}"
        for name, schema in SCHEMAS.items()
        if name not in never
        for field, node in schema["properties"].items()
        if field not in ALWAYS_VALUED.get(name, set()) and ("type" in node or "anyOf" in node)
    }


@pytest.mark.parametrize("no_value", ["absent", "empty", {"one_of": ["absent", "empty"]}])
def test_no_null_is_left_where_the_dialect_shows_no_value_otherwise(no_value: Any) -> None:
    schemas = contract({"representation.no_value": no_value}).document["components"]["schemas"]
    assert [name for name, schema in schemas.items() if nulls(schema)] == []


@pytest.mark.parametrize("no_value", ["null", {"one_of": ["absent", "null"]}, UNDECIDED])
def test_every_null_is_left_where_the_dialect_shows_it(no_value: Any) -> None:
    schemas = contract({"representation.no_value": no_value}).document["components"]["schemas"]
    assert {name: nulls(schema) for name, schema in SCHEMAS.items()} == {
        name: nulls(schemas[name]) for name in SCHEMAS
    }


@pytest.mark.parametrize("dialect", ["reference", "contrary"])
def test_no_body_of_a_request_may_hold_null(dialect: str) -> None:
    schemas = contract_for(load_dialect(dialect)).document["components"]["schemas"]
    of_requests = [name for name in schemas if name.startswith(("Create", "Update", "Expire"))]
    of_requests += [name for name in schemas if name.endswith("Input")]
    assert len(of_requests) == 11
    assert [name for name in of_requests if nulls(schemas[name])] == []


def nulls(schema: dict[str, Any]) -> list[str]:
    return [name for name, member in schema.get("properties", {}).items() if may_be_null(member)]
