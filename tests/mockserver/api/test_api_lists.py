"""Paging, filters and order of the two list operations (sections 2.2, 4.4 and 4.7)."""

from collections.abc import Mapping
from typing import Any

import pytest

from hookproof.spec.dialect.vocabulary import (
    AboveMaximum,
    BadParameter,
    CursorForm,
    Match,
    NoValue,
    SortKey,
)
from tests.mockserver.running_server import Server, every_dialect, run_server

LISTS = ("listPortalLinks", "listSources")
every_list = pytest.mark.parametrize("operation_id", LISTS)


async def create_item(server: Server, operation_id: str, name: str, **fields: Any) -> Any:
    if operation_id == "listPortalLinks":
        return await server.create_portal_link(name=name, **fields)
    return await server.create_source(
        name=name, type=server.dialect.words.source_types[0], **fields
    )


async def list_page(
    server: Server, operation_id: str, **query: str
) -> tuple[list[str], Mapping[str, Any]]:
    response = await server.call(operation_id, query=query)
    assert server.is_success(operation_id, response), response
    return [item["uid"] for item in response.data["content"]], response.data["pagination"]


async def list_pages(
    server: Server, operation_id: str, direction: str, per_page: int, **query: str
) -> list[list[str]]:
    """Return the uids of all pages; each request repeats the filters."""
    pages = []
    cursor: dict[str, str] = {}
    while True:
        uids, pagination = await list_page(
            server, operation_id, perPage=str(per_page), direction=direction, **query, **cursor
        )
        pages.append(uids)
        name = f"{direction}_page_cursor"
        if not pagination[f"has_{direction}_page"]:
            assert not pagination.get(name)
            return pages
        cursor = {name: pagination[name]}


@every_list
@every_dialect
async def test_every_item_comes_once_in_either_order(dialect_name: str, operation_id: str) -> None:
    async with run_server(dialect_name) as server:
        created = [
            (await create_item(server, operation_id, f"name {n % 5}"))["uid"] for n in range(11)
        ]
        by_name = sorted(range(11), key=lambda n: (n % 5, n))
        key = server.dialect.paging.sort_key.value
        ascending = created if key is SortKey.CREATED_AT else [created[n] for n in by_name]
        for per_page in (1, 3, 4, 10, 11, 12):
            pages = await list_pages(server, operation_id, "next", per_page, sort="ASC")
            assert [uid for page in pages for uid in page] == ascending
            assert all(len(page) == per_page for page in pages[:-1])
            pages = await list_pages(server, operation_id, "next", per_page)
            assert [uid for page in pages for uid in page] == ascending[::-1]


@every_list
@every_dialect
async def test_prev_leads_back_over_the_pages_of_next(dialect_name: str, operation_id: str) -> None:
    async with run_server(dialect_name) as server:
        for n in range(9):
            await create_item(server, operation_id, f"name {n % 4}")
        cursor: dict[str, str] = {}
        seen = []
        while True:
            uids, pagination = await list_page(
                server, operation_id, perPage="2", direction="next", **cursor
            )
            seen.append(uids)
            assert pagination["has_prev_page"] is (len(seen) > 1)
            if not pagination["has_next_page"]:
                break
            cursor = {"next_page_cursor": pagination["next_page_cursor"]}
        for earlier in reversed(seen[:-1]):
            query = {"perPage": "2", "prev_page_cursor": pagination["prev_page_cursor"]}
            uids, pagination = await list_page(server, operation_id, direction="prev", **query)
            assert uids == earlier
            # A cursor alone says in which direction it leads.
            assert (await list_page(server, operation_id, **query))[0] == earlier
            assert pagination["has_next_page"] is True
        assert pagination["has_prev_page"] is False


@every_list
@every_dialect
async def test_items_created_between_pages_neither_repeat_nor_hide_others(
    dialect_name: str, operation_id: str
) -> None:
    async with run_server(dialect_name) as server:
        created = [(await create_item(server, operation_id, f"b {n:02}"))["uid"] for n in range(8)]
        seen = []
        cursor: dict[str, str] = {}
        for turn in range(8):
            uids, pagination = await list_page(
                server, operation_id, perPage="2", sort="DESC", **cursor
            )
            seen += uids
            await create_item(server, operation_id, f"a {turn}")
            await create_item(server, operation_id, f"c {turn}")
            if not set(created) - set(seen):
                break
            cursor = {"next_page_cursor": pagination["next_page_cursor"]}
        assert [uid for uid in seen if uid in created] == created[::-1]
        assert len(set(seen)) == len(seen)


@every_dialect
async def test_portal_links_are_filtered_as_the_dialect_matches(dialect_name: str) -> None:
    async with run_server(dialect_name) as server:
        rules = server.dialect.paging
        names = ["Alpha", "alpha", "Beta alpha", "Alph", "ÄLPHA", "100%", "a_b", "äl"]
        owners = ["own", "owner", "an own", "OWN", ""]
        links = [await server.create_portal_link(name=n, owner_id=o) for n in names for o in owners]

        async def expect(query: dict[str, str], matches: list[bool]) -> None:
            pages = await list_pages(server, "listPortalLinks", "next", 7, sort="ASC", **query)
            listed = {uid for page in pages for uid in page}
            assert listed == {
                link["uid"] for link, match in zip(links, matches, strict=True) if match
            }, query

        for wanted in ("alpha", "Alpha", "lph", "äl", "%", "_", "own"):
            match: Match = rules.name_match.value
            await expect(
                {rules.name_filter: wanted}, [match.matches(wanted, link["name"]) for link in links]
            )
            match = rules.owner_match.value
            await expect(
                {rules.owner_filter: wanted},
                [match.matches(wanted, link.get("owner_id") or "") for link in links],
            )
        await expect(
            {rules.name_filter: "Alpha", rules.owner_filter: "own"},
            [
                rules.name_match.value.matches("Alpha", link["name"])
                and rules.owner_match.value.matches("own", link.get("owner_id") or "")
                for link in links
            ],
        )


async def test_an_opaque_cursor_carries_filter_and_order() -> None:
    async with run_server("reference") as server:
        rules = server.dialect.paging
        wanted = [
            (await server.create_portal_link(name=f"yes {n}", owner_id="o"))["uid"]
            for n in range(5)
        ]
        for n in range(5):
            await server.create_portal_link(name=f"no {n}", owner_id="p")
        first, pagination = await list_page(
            server,
            "listPortalLinks",
            perPage="2",
            sort="ASC",
            **{rules.owner_filter: "o", rules.name_filter: "yes"},
        )
        second, pagination = await list_page(
            server, "listPortalLinks", perPage="2", next_page_cursor=pagination["next_page_cursor"]
        )
        third, _ = await list_page(
            server, "listPortalLinks", perPage="2", next_page_cursor=pagination["next_page_cursor"]
        )
        assert first + second + third == wanted


@every_dialect
async def test_sources_are_filtered_by_type_and_provider(dialect_name: str) -> None:
    async with run_server(dialect_name) as server:
        words = server.dialect.words
        http, queue = words.source_types[:2]
        github, twitter = words.source_providers[:2]
        kinds = [(http, github), (http, twitter), (http, None), (queue, None), (http, github)]
        created = []
        for number, (kind, provider) in enumerate(kinds):
            more = {} if provider is None else {"provider": provider}
            created.append(
                (await server.create_source(name=f"s{number}", type=kind, **more))["uid"]
            )

        async def list_uids(**query: str) -> set[str]:
            pages = await list_pages(server, "listSources", "next", 2, **query)
            return {uid for page in pages for uid in page}

        assert await list_uids(type=http) == {created[0], created[1], created[2], created[4]}
        assert await list_uids(type=queue) == {created[3]}
        assert await list_uids(provider=github) == {created[0], created[4]}
        assert await list_uids(type=queue, provider=github) == set()
        assert await list_uids(type="else") == set()


@every_list
@every_dialect
async def test_page_sizes_follow_the_dialect(dialect_name: str, operation_id: str) -> None:
    async with run_server(dialect_name) as server:
        rules = server.dialect.paging
        maximum = rules.maximum_per_page.value
        _, pagination = await list_page(server, operation_id)
        assert pagination["per_page"] == rules.default_per_page.value
        for per_page in (str(maximum + 1), "9" * 5000):
            response = await server.call(operation_id, query={"perPage": per_page})
            if rules.above_maximum.value is AboveMaximum.REFUSE:
                assert server.is_refusal(response, server.dialect.errors.invalid_value.value)
            else:
                assert response.data["pagination"]["per_page"] == maximum


@every_list
@every_dialect
async def test_parameters_that_cannot_be_read_are_refused_or_ignored(
    dialect_name: str, operation_id: str
) -> None:
    async with run_server(dialect_name) as server:
        rules = server.dialect.paging
        await create_item(server, operation_id, "only")
        bad = (
            {"perPage": "0"},
            {"perPage": "-1"},
            {"perPage": "two"},
            {"perPage": "1.5"},
            {"perPage": "٣"},
            {"sort": "asc"},
            {"direction": "sideways"},
            {"direction": "next", "next_page_cursor": "made up"},
            {"direction": "prev", "prev_page_cursor": "\x00"},
            {"next_page_cursor": "A" * 4000},
        )
        for query in bad:
            response = await server.call(operation_id, query=query)
            if rules.bad_parameter.value is BadParameter.REFUSE:
                assert server.is_refusal(response, server.dialect.errors.invalid_value.value), query
            else:
                assert server.is_success(operation_id, response), query
                assert response.data["pagination"]["per_page"] == rules.default_per_page.value
                assert len(response.data["content"]) == 1


async def test_a_cursor_of_the_other_list_is_refused() -> None:
    async with run_server("reference") as server:
        for n in range(2):
            await server.create_source(name=f"s{n}", type=server.dialect.words.source_types[0])
        _, pagination = await list_page(
            server, "listSources", perPage="1", type=server.dialect.words.source_types[0]
        )
        cursor = {"next_page_cursor": pagination["next_page_cursor"]}
        assert server.is_refusal(await server.call("listPortalLinks", query=cursor), 400)


async def test_a_forged_cursor_is_refused() -> None:
    async with run_server("reference") as server:
        assert server.dialect.paging.cursor_form.value is CursorForm.OPAQUE
        for n in range(3):
            await server.create_portal_link(name=f"n{n}")
        _, pagination = await list_page(server, "listPortalLinks", perPage="1")
        cursor = pagination["next_page_cursor"]
        for place in range(len(cursor)):
            forged = cursor[:place] + ("A" if cursor[place] != "A" else "B") + cursor[place + 1 :]
            response = await server.call("listPortalLinks", query={"next_page_cursor": forged})
            assert server.is_refusal(response, 400), place


@every_list
@every_dialect
async def test_a_cursor_of_another_project_or_list_shows_nothing_of_them(
    dialect_name: str, operation_id: str
) -> None:
    async with run_server(dialect_name) as server:
        [other_operation_id] = [other for other in LISTS if other != operation_id]
        for project in ("one", "two"):
            for n in range(3):
                await create_item(server, operation_id, f"n{n}", project=project)
        response = await server.call(
            operation_id, project="two", key="key-two", query={"perPage": "1"}
        )
        assert [item["project_id"] for item in response.data["content"]] == ["two"]
        query = {"next_page_cursor": response.data["pagination"]["next_page_cursor"]}
        for elsewhere, project in ((operation_id, "one"), (other_operation_id, "two")):
            response = await server.call(
                elsewhere, project=project, key=f"key-{project}", query=query
            )
            if response.status != server.dialect.errors.invalid_value.value:
                assert server.is_success(elsewhere, response)
                assert all(item["project_id"] == project for item in response.data["content"])


@every_list
@every_dialect
async def test_an_empty_list_has_an_empty_page(dialect_name: str, operation_id: str) -> None:
    async with run_server(dialect_name) as server:
        uids, pagination = await list_page(server, operation_id)
        assert uids == []
        assert (pagination["has_next_page"], pagination["has_prev_page"]) == (False, False)
        if server.dialect.representation.no_value.value is NoValue.ABSENT:
            assert "next_page_cursor" not in pagination
