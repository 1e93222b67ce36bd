"""The control listener sets up and inspects the server, and is not on the API's port."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from hookproof.mockserver.fixture_file import read_fixtures
from hookproof.spec.dialect.reader import load_dialect
from hookproof.spec.strict_yaml.reader import FileProblems
from tests.mockserver.running_server import Server, every_dialect, run_server


async def control(server: Server, method: str, path: str, **given: Any) -> tuple[int, Any]:
    async with server.session.request(method, server.control + path, **given) as response:
        text = await response.text()
        return response.status, (await response.json()) if "json" in response.content_type else text


async def list_all(server: Server, operation_id: str, project: str) -> list[Any]:
    """Return the items of all pages."""
    items: list[Any] = []
    query = {"perPage": "50"}
    while True:
        response = await server.call(
            operation_id, query=query, project=project, key=f"key-{project}"
        )
        assert server.is_success(operation_id, response)
        items += response.data["content"]
        if not response.data["pagination"]["has_next_page"]:
            return items
        query["next_page_cursor"] = response.data["pagination"]["next_page_cursor"]


@every_dialect
async def test_the_default_fixtures_hold_every_kind_in_every_project(dialect_name: str) -> None:
    async with run_server(dialect_name, fixtures=True) as server:
        words = server.dialect.words
        for project in ("one", "two"):
            links = await list_all(server, "listPortalLinks", project)
            sources = await list_all(server, "listSources", project)
            assert len({item["name"] for item in links}) > 20
            assert len({item.get("owner_id") for item in links}) > 5
            assert {item["type"] for item in sources} == set(words.source_types)
            assert {item["verifier"]["type"] for item in sources} == set(words.verifier_types)
            kinds = {item["pub_sub"]["type"] for item in sources if item.get("pub_sub")}
            assert kinds >= set(words.pub_sub_types[:4])
            assert {item["provider"] for item in sources if item.get("provider")} == set(
                words.source_providers[:3]
            )


async def test_a_reset_brings_back_the_start() -> None:
    async with run_server("reference", fixtures=True) as server:

        async def names() -> list[str]:
            response = await server.call("listPortalLinks", query={"perPage": "100"})
            return [item["name"] for item in response.data["content"]]

        start = await names()
        endpoint = await server.create_endpoint()
        await server.create_portal_link(name="another")
        assert await control(server, "POST", "/reset") == (204, "")
        assert await names() == start
        response = await server.call("getEndpoint", target=endpoint["uid"])
        assert server.is_refusal(response, server.dialect.errors.unknown_resource.value)


async def test_fixtures_can_be_added_to_all_projects() -> None:
    async with run_server("reference") as server:
        content = {"portal_links": [{"name": "added"}], "sources": [{"name": "s", "type": "http"}]}
        assert await control(server, "POST", "/fixtures", json=content) == (204, "")
        for project in ("one", "two"):
            for operation_id in ("listPortalLinks", "listSources"):
                response = await server.call(operation_id, project=project, key=f"key-{project}")
                assert len(response.data["content"]) == 1


@pytest.mark.parametrize(
    ("path", "content", "expected"),
    [
        ("/fixtures", b"{", "truncated"),
        ("/fixtures", b'{"portal": []}', "portal"),
        ("/fixtures", b'{"portal_links": [{"name": "x"}, {}]}', "portal_links[1]"),
        ("/fixtures", b'{"portal_links": [1]}', "object"),
        ("/projects/one/portal-links", b'{"name": 1}', "/name"),
        ("/projects/one/portal-links", b'{"name": "x", "colour": "red"}', "colour"),
        ("/projects/one/sources", b'{"name": "x"}', "type"),
        ("/projects/none/sources", b'{"name": "x", "type": "http"}', "no project none"),
    ],
)
async def test_a_wrong_request_gets_the_reason_and_stores_nothing(
    path: str, content: bytes, expected: str
) -> None:
    async with run_server("reference") as server:
        headers = {"Content-Type": "application/json"}
        status, body = await control(server, "POST", path, data=content, headers=headers)
        assert 400 <= status < 500
        assert expected in body["problem"]
        for operation_id in ("listPortalLinks", "listSources"):
            assert (await server.call(operation_id)).data["content"] == []


async def test_the_journal_waits_for_a_count_and_filters() -> None:
    async with run_server("reference") as server:
        waiting = asyncio.create_task(
            server.journal(operation="listSources", count="2", timeout="60")
        )
        await server.call("listSources")
        await server.call("listSources", key="wrong")
        journal = await waiting
        assert journal["complete"] is True
        assert [entry["status"] for entry in journal["requests"]] == [200, 401]
        refused = await server.journal(status="401")
        assert [entry["operation"] for entry in refused["requests"]] == ["listSources"]
        incomplete = await server.journal(project="two", count="1", timeout="0.01")
        assert incomplete == {"requests": [], "complete": False}
        status, body = await control(server, "GET", "/journal?colour=red")
        assert (status, "colour" in body["problem"]) == (422, True)
        for query in ("count=x", "count=nan", "timeout=-1", "kind=else"):
            assert (await control(server, "GET", f"/journal?{query}"))[0] == 422


async def test_health_and_metrics_are_reported() -> None:
    async with run_server("reference") as server:
        await server.call("listSources")
        assert await control(server, "GET", "/health") == (200, {"status": "ok"})
        status, text = await control(server, "GET", "/metrics")
        assert status == 200
        assert 'hookproof_requests_total{operation="listSources",status="200"} 1.0' in text


async def test_the_api_knows_nothing_of_the_control_listener() -> None:
    async with run_server("reference") as server:
        for method, path in (
            ("POST", "/reset"),
            ("GET", "/journal"),
            ("GET", "/metrics"),
            ("GET", "/health"),
        ):
            response = await server.send(method, path)
            assert server.is_refusal(response, server.dialect.errors.unknown_path.value)


def test_a_fixture_file_with_mistakes_is_refused_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "fixtures.yaml"
    path.write_text("portal_links:\n  - {owner_id: o}\nsorces: []\n")
    with pytest.raises(FileProblems) as caught:
        read_fixtures(path, load_dialect("reference"))
    assert {problem.line for problem in caught.value.problems} == {2, 3}
