"""Answers of dialects that no shipped dialect has."""

from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from tests.mockserver.running_server import Server, run_server
from tests.spec.dialect_variants import variant


def under(answers: dict[str, Any]) -> AbstractAsyncContextManager[Server]:
    return run_server("reference", change=lambda _: variant(answers))


async def test_a_duplicate_may_show_the_first_event_flagged() -> None:
    async with under({"idempotency.duplicate": "flagged_first_event"}) as server:
        body = {"event_type": "a", "data": {}, "idempotency_key": "k"}
        first = await server.call("createBroadcastEvent", body=body)
        again = await server.call("createBroadcastEvent", body=body)
        assert again.data == {**first.data, "is_duplicate_event": True}


async def test_a_cursor_may_be_refused_where_other_parameters_fall_back() -> None:
    async with under({"paging.bad_parameter": "default", "paging.bad_cursor": "refuse"}) as server:
        sorted_oddly = await server.call("listSources", query={"sort": "SIDEWAYS"})
        assert server.is_success("listSources", sorted_oddly)
        cursor = {"direction": "next", "next_page_cursor": "no-such-cursor"}
        refused = await server.call("listSources", query=cursor)
        assert server.is_refusal(refused, server.dialect.errors.invalid_value.value)


async def test_a_code_in_an_error_body_may_vary() -> None:
    async with under({"errors.body": {"code": "{any}", "text": "{message}"}}) as server:
        codes = set()
        for target, body in (("unknown", None), ("unknown", {"expiration": "no"})):
            operation = "getEndpoint" if body is None else "expireEndpointSecret"
            response = await server.call(operation, target=target, body=body)
            codes.add(response.body["code"])
        assert len(codes) == 2


@pytest.mark.parametrize("sort", ["ASC", "DESC"])
@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("first_page", ["a", "b"]),
        ({"undecided": "nobody asked"}, ["a", "b"]),
        ("last_page", ["b", "c"]),
        ("empty_page", []),
        ("refused", None),
    ],
)
async def test_what_direction_prev_without_a_cursor_leads_to(
    answer: Any, shown: list[str] | None, sort: str
) -> None:
    async with under({"paging.prev_without_cursor": answer}) as server:
        for name in ("a", "b", "c") if sort == "ASC" else ("c", "b", "a"):
            await server.create_source(name=name, type="http")
        query = {"direction": "prev", "perPage": "2", "sort": sort}
        page = await server.call("listSources", query=query)
        if shown is None:
            assert server.is_refusal(page, server.dialect.errors.invalid_value.value)
            return
        assert server.is_success("listSources", page)
        assert [item["name"] for item in page.data["content"]] == shown
        flags = page.data["pagination"]["has_prev_page"], page.data["pagination"]["has_next_page"]
        assert flags == (shown[:1] == ["b"], shown[:1] == ["a"])
        if shown[:1] == ["b"]:
            cursor = page.data["pagination"]["prev_page_cursor"]
            query |= {"prev_page_cursor": cursor}
            before = await server.call("listSources", query=query)
            assert [item["name"] for item in before.data["content"]] == ["a"]


@pytest.mark.parametrize(
    ("answer", "is_listed"),
    [("listed", True), ({"undecided": "nobody asked"}, True), ("left_out", False)],
)
async def test_whether_expired_secrets_are_shown(answer: Any, is_listed: bool) -> None:
    async with under({"representation.expired_secrets": answer}) as server:
        link = await server.create_portal_link(name="link", owner_id="an owner")
        created = await server.create_endpoint()
        for expiration, expired in ((3600, False), (0, True)):
            target, body = created["uid"], {"expiration": expiration}
            before = await server.call("getEndpoint", target=target)
            await server.call("expireEndpointSecret", target=target, body=body)
            fetched = await server.call("getEndpoint", target=target)
            linked = await server.call("getPortalLink", target=link["uid"])
            assert [one["secrets"] for one in linked.data["endpoints_metadata"]] == [
                fetched.data["secrets"]
            ]
            current = before.data["secrets"][-1]["uid"]
            left = [secret["uid"] for secret in fetched.data["secrets"]]
            assert (current in left) is (is_listed or not expired)
            assert left[-1] != current


async def test_keys_may_be_refused_with_bodies_of_their_own() -> None:
    bodies = {"missing_key": {"denied": "{message}"}, "wrong_key": None}
    statuses = {"wrong_key_status": 403, "foreign_key_status": 404}
    answers = {f"authentication.{name}": status for name, status in statuses.items()}
    async with under({**answers, "errors.bodies": bodies}) as server:
        missing = await server.call("listSources", key=None)
        assert (missing.status, missing.body) == (401, {"denied": missing.body["denied"]})
        wrong = await server.call("listSources", key="never-issued")
        assert (wrong.status, wrong.text, wrong.media_type) == (403, b"", "")
        foreign = await server.call("listSources", key="key-two")
        assert (foreign.status, foreign.body["status"]) == (404, False)


@pytest.mark.parametrize(("treatment", "status"), [("refused", 400), ("ignored", 201)])
async def test_further_names_of_custom_headers_may_be_reserved(treatment: str, status: int) -> None:
    names = ["Hook-Tenant"]
    answers = {"reserved_headers": treatment, "further_reserved_headers": names}
    async with under({f"delivery.{each}": answer for each, answer in answers.items()}) as server:
        for name, expected in (("HOOK-tenant", status), ("Hook-Tenants", 201)):
            body = {"event_type": "a", "data": {}, "custom_headers": {name: "mine"}}
            response = await server.call("createBroadcastEvent", body=body)
            assert response.status == expected


async def test_single_fields_without_value_may_be_shown_otherwise() -> None:
    fields = ("deleted_at", "array", "Endpoint.owner_id", "Endpoint.description")
    forms = dict(zip(fields, ("absent", "empty", "empty", "empty"), strict=True))
    async with under({"representation.no_value_of": forms}) as server:
        body = {"name": "n", "url": "https://one.invalid/", "authentication": {"type": "api_key"}}
        endpoint = (await server.call("createEndpoint", body=body)).data
        assert "deleted_at" not in endpoint
        assert endpoint["owner_id"] == endpoint["description"] == ""
        assert endpoint["authentication"]["basic_auth"] is None
        assert "deleted_at" not in endpoint["secrets"][0]
        link = await server.create_portal_link(name="link")
        assert link["owner_id"] is None
        source = await server.create_source(name="source", type="http")
        assert source["forward_headers"] == []
        assert source["header_function"] is None


async def test_the_deprecated_list_may_be_shown_as_written_and_add_nothing() -> None:
    shown = {"requests.portal_endpoints": "shown", "requests.unknown_listed_endpoints": "ignored"}
    async with under({**shown, "requests.update_left_out": "kept"}) as server:
        owned = (await server.create_endpoint(owner_id="ours"))["uid"]
        other = (await server.create_endpoint(owner_id="theirs"))["uid"]
        link = await server.create_portal_link(name="link", owner_id="ours")
        named = [other, "nothing", other]
        body = {"name": "link", "owner_id": "ours", "endpoints": named}
        updated = await server.call("updatePortalLink", target=link["uid"], body=body)
        later = {"name": "link", "owner_id": "ours"}
        again = await server.call("updatePortalLink", target=link["uid"], body=later)
        for data in (updated.data, again.data):
            assert data["endpoints"] == named
            assert [endpoint["uid"] for endpoint in data["endpoints_metadata"]] == [owned]
            assert data["endpoint_count"] == 1


async def test_a_word_may_be_taken_in_one_field_and_refused_in_another() -> None:
    async with under({"words.other_words_of": {"auth_type": "ignored"}}) as server:
        link = await server.create_portal_link(name="link", owner_id="ours")
        body = {"name": "link", "owner_id": "ours", "auth_type": "a-new-word"}
        taken = await server.call("updatePortalLink", target=link["uid"], body=body)
        assert taken.data["auth_type"] == "a-new-word"
        endpoint = server.endpoint_body(authentication={"type": "a-new-word"})
        refused = await server.call("createEndpoint", body=endpoint)
        assert server.is_refusal(refused, server.dialect.errors.invalid_value.value)


async def test_numbers_may_be_large_where_the_dialect_has_no_bounds() -> None:
    maxima = ("http_timeout", "rate_limit", "rate_limit_duration", "expiration")
    unbounded: dict[str, Any] = {f"requests.{name}_maximum": None for name in maxima}
    unbounded["requests.expiration_minimum"] = None
    unbounded["rolling.expiration_unit"] = "hours"
    async with run_server("reference", change=lambda _: variant(unbounded)) as server:
        created = await server.create_endpoint(
            http_timeout=2**30, rate_limit=2**30, rate_limit_duration=2**30
        )
        for expiration in (-1, 2**31 - 1):
            rolled = await server.call(
                "expireEndpointSecret", target=created["uid"], body={"expiration": expiration}
            )
            assert server.is_success("expireEndpointSecret", rolled), rolled


async def test_a_page_may_be_of_any_size_where_the_dialect_has_no_largest_one() -> None:
    answers = {"paging.maximum_per_page": None, "paging.above_maximum": "clamp"}
    async with run_server("reference", change=lambda _: variant(answers)) as server:
        for per_page in (101, 2**70):
            response = await server.call("listSources", query={"perPage": str(per_page)})
            assert server.is_success("listSources", response)
