"""Single portal links (sections 2.6, 4.5 and 4.6), under every shipped dialect."""

from dataclasses import replace
from typing import Any

import pytest

from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import LeftOut, OnInput, PortalEndpointsMeaning
from tests.mockserver.running_server import Server, every_dialect, run_server


async def exposed_uids(server: Server, link: Any) -> list[str]:
    """Return the uids of the endpoints that a portal link exposes.

    The operation, the list, the count and the metadata have to agree.
    """
    fetched = await server.call("getPortalLink", target=link["uid"])
    assert server.is_success("getPortalLink", fetched)
    listed = await server.call("listPortalLinks")
    assert [item for item in listed.data["content"] if item["uid"] == link["uid"]] == [fetched.data]
    uids = [resource["uid"] for resource in fetched.data["endpoints_metadata"]]
    assert fetched.data["endpoint_count"] == len(uids)
    assert fetched.data["endpoints"] == uids
    return uids


@every_dialect
async def test_a_portal_link_inherits_the_endpoints_of_its_owner_as_they_come(
    dialect_name: str,
) -> None:
    async with run_server(dialect_name) as server:
        link = await server.create_portal_link(name="link", owner_id="mine")
        assert await exposed_uids(server, link) == []
        await server.create_endpoint(owner_id="not mine")
        created = []
        for _ in range(3):
            created.append((await server.create_endpoint(owner_id="mine"))["uid"])
            assert await exposed_uids(server, link) == created


@every_dialect
async def test_an_update_is_what_is_fetched_afterwards(dialect_name: str) -> None:
    async with run_server(dialect_name) as server:
        link = await server.create_portal_link(name="old", owner_id="old owner")
        auth_type = server.dialect.words.portal_auth_types[1]
        change = {
            "name": "new",
            "owner_id": "new owner",
            "can_manage_endpoint": True,
            "auth_type": auth_type,
        }
        updated = await server.call("updatePortalLink", target=link["uid"], body=change)
        assert server.is_success("updatePortalLink", updated)
        assert {field: updated.data[field] for field in change} == change
        assert updated.data["updated_at"] > link["updated_at"]
        assert updated.data["created_at"] == link["created_at"]
        fetched = await server.call("getPortalLink", target=link["uid"])
        assert fetched.data == updated.data
        kept = await server.call(
            "updatePortalLink", target=link["uid"], body={"name": "n", "owner_id": "new owner"}
        )
        assert kept.data["can_manage_endpoint"] is True


@every_dialect
async def test_a_new_owner_brings_that_owners_endpoints(dialect_name: str) -> None:
    async with run_server(dialect_name) as server:
        ours = (await server.create_endpoint(owner_id="ours"))["uid"]
        theirs = (await server.create_endpoint(owner_id="theirs"))["uid"]
        link = await server.create_portal_link(name="link", owner_id="ours")
        assert await exposed_uids(server, link) == [ours]
        await server.call(
            "updatePortalLink", target=link["uid"], body={"name": "link", "owner_id": "theirs"}
        )
        assert await exposed_uids(server, link) == [theirs]


@every_dialect
async def test_the_deprecated_endpoints_list_means_what_the_dialect_says(dialect_name: str) -> None:
    async with run_server(dialect_name) as server:
        owned = (await server.create_endpoint(owner_id="ours"))["uid"]
        named = (await server.create_endpoint(owner_id="theirs"))["uid"]
        link = await server.create_portal_link(name="link", owner_id="ours")
        ignored = server.dialect.requests.unknown_listed_endpoints.value is OnInput.IGNORED
        unknown = ["unknown"] if ignored else []
        body = {"name": "link", "owner_id": "ours", "endpoints": [named, owned, named, *unknown]}
        assert server.is_success(
            "updatePortalLink", await server.call("updatePortalLink", target=link["uid"], body=body)
        )
        added = server.dialect.requests.portal_endpoints.value is PortalEndpointsMeaning.ADDED
        assert await exposed_uids(server, link) == ([owned, named] if added else [owned])


@every_dialect
async def test_other_projects_neither_see_nor_lend_anything(dialect_name: str) -> None:
    async with run_server(dialect_name) as server:
        body = server.endpoint_body(owner_id="shared")
        foreign = await server.call("createEndpoint", body=body, project="two", key="key-two")
        link = await server.create_portal_link(name="link", owner_id="shared")
        assert await exposed_uids(server, link) == []
        update = {"name": "link", "owner_id": "shared", "endpoints": [foreign.data["uid"]]}
        await server.call("updatePortalLink", target=link["uid"], body=update)
        assert await exposed_uids(server, link) == []
        for operation_id, body in (
            ("getPortalLink", None),
            ("updatePortalLink", {"name": "x", "owner_id": "y"}),
        ):
            response = await server.call(
                operation_id, target=link["uid"], project="two", key="key-two", body=body
            )
            assert server.is_refusal(response, server.dialect.errors.unknown_resource.value)


@pytest.mark.parametrize("left_out", LeftOut)
async def test_what_an_update_leaves_out_is_kept_or_cleared(left_out: LeftOut) -> None:
    def with_answer(dialect: Dialect) -> Dialect:
        requests = replace(dialect.requests, update_left_out=Answer((left_out,)))
        return replace(dialect, requests=requests)

    async with run_server("reference", change=with_answer) as server:
        link = await server.create_portal_link(
            name="link", owner_id="owner", can_manage_endpoint=True
        )
        updated = await server.call("updatePortalLink", target=link["uid"], body={"name": "new"})
        kept = left_out is LeftOut.KEPT
        assert updated.data["owner_id"] == ("owner" if kept else None)
        assert updated.data["can_manage_endpoint"] is kept
