"""Keys and projects (section 5), and paths outside the eight operations (section 7)."""

import json
from http import HTTPStatus
from typing import Any

import pytest
import yaml

from hookproof.spec.dialect.vocabulary import KeyScope
from tests.mockserver.running_server import Server, every_dialect, run_server
from tests.spec.dialect_variants import variant


def valid_requests(server: Server) -> list[tuple[str, dict[str, Any]]]:
    """Return one well-formed request for each operation."""
    update = {"name": "n", "owner_id": "o"}
    roll = {"expiration": 1, "secret": f"{server.dialect.signatures.secret.prefix}{'abcd' * 8}"}
    event = {"event_type": "t", "data": {}, "idempotency_key": "k"}
    return [
        ("createEndpoint", {"body": server.endpoint_body()}),
        ("getEndpoint", {"target": "x"}),
        ("expireEndpointSecret", {"target": "x", "body": roll}),
        ("listPortalLinks", {}),
        ("getPortalLink", {"target": "x"}),
        ("updatePortalLink", {"target": "x", "body": update}),
        ("listSources", {}),
        ("createBroadcastEvent", {"body": event}),
    ]


@every_dialect
async def test_every_operation_asks_for_a_key(dialect_name: str) -> None:
    async with run_server(dialect_name) as server:
        rules = server.dialect.authentication
        assert {operation_id for operation_id, _ in valid_requests(server)} == set(
            server.contract.operations
        )
        for operation_id, given in valid_requests(server):
            missing = await server.call(operation_id, key=None, **given)
            assert server.is_refusal(missing, rules.missing_key_status.value), operation_id
            for wrong in ("", "key-on", "key-onee", "KEY-ONE", "demo-key", "schlüssel"):
                response = await server.call(operation_id, key=wrong, **given)
                assert server.is_refusal(response, rules.wrong_key_status.value), (
                    operation_id,
                    wrong,
                )


@every_dialect
async def test_a_key_without_its_scheme_is_wrong(dialect_name: str) -> None:
    async with run_server(dialect_name) as server:
        rules = server.dialect.authentication
        for header in ("key-one", "Basic key-one", "bearer key-one", "Bearer  key-one", " "):
            response = await server.call("listSources", key=None, headers={"Authorization": header})
            expected = rules.wrong_key_status if header.strip() else rules.missing_key_status
            assert server.is_refusal(response, expected.value), header


async def test_a_key_without_its_scheme_is_taken_where_the_dialect_takes_other_formats() -> None:
    answers = {"authentication.other_key_formats": "taken"}
    async with run_server("reference", change=lambda _: variant(answers)) as server:
        for header, is_taken in (("key-one", True), ("Basic key-one", False), ("key-on", False)):
            response = await server.call("listSources", key=None, headers={"Authorization": header})
            assert (response.status == HTTPStatus.OK) is is_taken, header


async def test_a_key_with_a_scheme_is_taken_where_the_format_has_none() -> None:
    answers = {
        "authentication.key_format": "{key}",
        "authentication.other_key_formats": "taken",
    }
    async with run_server("reference", change=lambda _: variant(answers)) as server:
        for header, is_taken in (("key-one", True), ("Basic key-one", True), ("Basic key", False)):
            response = await server.call("listSources", key=None, headers={"Authorization": header})
            assert (response.status == HTTPStatus.OK) is is_taken, header


@every_dialect
async def test_a_key_grants_access_to_what_the_dialect_says_and_no_more(dialect_name: str) -> None:
    async with run_server(dialect_name) as server:
        rules = server.dialect.authentication
        foreign = await server.call("listSources", project="two", key="key-one")
        if rules.key_scope.value is KeyScope.ACCOUNT:
            assert server.is_success("listSources", foreign)
        else:
            assert server.is_refusal(foreign, rules.foreign_key_status.value)
        for project in ("three", "", "..", "one/", "one\x00", "ONE"):
            response = await server.call("listSources", project=project, key="key-one")
            expected = (
                server.dialect.errors.unknown_project
                if project
                else server.dialect.errors.unknown_path
            )
            assert server.is_refusal(response, expected.value), project


@every_dialect
async def test_other_paths_and_methods_are_refused(dialect_name: str) -> None:
    async with run_server(dialect_name) as server:
        errors = server.dialect.errors
        base = "/api/v1/projects/one"
        paths = (
            "/",
            "/api",
            base,
            f"{base}/endpoints/",
            f"/{base}/sources",
            f"{base}/sources/x",
            "/api/v2/projects/one",
        )
        for path in (
            *paths,
            f"{base}//sources",
            f"{base}/%73ources/../sources",
            f"{base}/" + "x/" * 500,
        ):
            assert server.is_refusal(await server.send("GET", path), errors.unknown_path.value), (
                path
            )
        for method, path in (
            ("DELETE", f"{base}/sources"),
            ("HEAD", f"{base}/sources"),
            ("PATCH", f"{base}/endpoints"),
        ):
            response = await server.send(method, path)
            assert response.status == errors.method_not_allowed.value
        override = {"X-HTTP-Method-Override": "GET", "X-Method-Override": "GET"}
        response = await server.send("DELETE", f"{base}/sources?_method=GET", headers=override)
        assert server.is_refusal(response, errors.method_not_allowed.value)


@every_dialect
async def test_an_encoded_slash_stays_within_its_segment(dialect_name: str) -> None:
    async with run_server(dialect_name) as server:
        for target in ("a/b", "../sources", "%", "\x00", "ä"):
            response = await server.call("getEndpoint", target=target)
            assert server.is_refusal(response, server.dialect.errors.unknown_resource.value), target


@every_dialect
async def test_the_contract_and_its_page_are_served_without_a_key(dialect_name: str) -> None:
    async with run_server(dialect_name) as server:
        document = await server.send("GET", "/openapi.yaml")
        assert document.status == 200
        assert f"({server.dialect.name})".encode() in document.text
        served = await server.send("GET", "/openapi.json")
        assert json.loads(served.text) == yaml.safe_load(document.text)
        page = await server.send("GET", "/docs")
        assert b"swagger-ui-bundle.js" in page.text
        assert b"//" not in page.text.replace(b"<!doctype", b"")
        for asset in ("swagger-ui.css", "swagger-ui-bundle.js", "start.js"):
            response = await server.send("GET", f"/docs/{asset}")
            assert response.status == 200
            assert response.text


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("mock.internal:8080", "http://mock.internal:8080"),
        ("[::1]:5005", "http://[::1]:5005"),
        ('mock.internal"}, {"url": "//other', "/"),
        ("mock internal", "/"),
    ],
)
async def test_the_contract_names_the_address_at_which_it_is_served(host: str, url: str) -> None:
    async with run_server("reference") as server:
        for path in ("/openapi.yaml", "/openapi.json"):
            document = yaml.safe_load((await server.send("GET", path, headers={"Host": host})).text)
            assert document["servers"] == [{"url": url}]
            assert "servers" not in document["paths"]


async def test_a_key_may_open_its_own_project_under_every_path() -> None:
    answers = {"authentication.key_scope": "key_decides"}
    async with run_server("reference", change=lambda _: variant(answers)) as server:
        source = await server.create_source("one", name="a source", type="http")
        own = await server.create_endpoint()
        for project in ("one", "two", "three"):
            listed = await server.call("listSources", project=project, key="key-one")
            assert [item["uid"] for item in listed.data["content"]] == [source["uid"]]
            fetched = await server.call("getEndpoint", target=own["uid"], project=project)
            assert fetched.data["project_id"] == "one"
        other = await server.call("getEndpoint", target=own["uid"], key="key-two")
        assert server.is_refusal(other, server.dialect.errors.unknown_resource.value)
        wrong = await server.call("listSources", project="two", key="key-three")
        assert server.is_refusal(wrong, server.dialect.authentication.wrong_key_status.value)
