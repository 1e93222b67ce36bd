"""A foreign page in the browser can neither read nor use the control listener; programs can."""

import asyncio
from typing import Any

import pytest

from hookproof.mockserver.app import create_app
from hookproof.mockserver.fixture_file import ProjectFixtures
from tests.mockserver.running_server import PROJECTS, Server, load_contract, run_server

FOREIGN_PAGES = [
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1:1"},
    {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
    {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"},
    {"Host": "evil.example"},
    {"Host": "intranet"},
]
REQUESTS = [
    ("POST", "/reset"),
    ("POST", "/fixtures"),
    ("POST", "/faults"),
    ("DELETE", "/faults"),
    ("POST", "/projects/one/sources"),
    ("GET", "/journal"),
    ("GET", "/metrics"),
]


async def answer(server: Server, method: str, path: str, **given: Any) -> tuple[int, str]:
    async with server.session.request(method, server.control + path, **given) as response:
        return response.status, await response.text()


@pytest.mark.parametrize("headers", FOREIGN_PAGES, ids=str)
async def test_a_foreign_page_is_refused_and_changes_nothing(headers: dict[str, str]) -> None:
    async with run_server("reference") as server:
        endpoint = await server.create_endpoint()
        for method, path in REQUESTS:
            status, text = await answer(server, method, path, headers=headers)
            assert (status, "problem" in text) == (403, True), (method, path)
        response = await server.call("getEndpoint", target=endpoint["uid"])
        assert server.is_success("getEndpoint", response)


async def test_a_program_and_a_page_of_the_listener_itself_are_allowed() -> None:
    async with run_server("reference") as server:
        own = {"Origin": server.control, "Sec-Fetch-Site": "same-origin"}
        local = {"Host": "localhost:5006"}
        for headers in ({}, own, local):
            assert await answer(server, "POST", "/reset", headers=headers) == (204, "")


@pytest.mark.parametrize("media_type", ["text/plain", "application/x-www-form-urlencoded", ""])
@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("/faults", b'{"fault": "server_error"}'),
        ("/fixtures", b'{"sources": [{"name": "s", "type": "http"}]}'),
        ("/projects/one/sources", b'{"name": "s", "type": "http"}'),
        ("/projects/one/portal-links", b'{"name": "a link"}'),
    ],
)
async def test_a_body_of_another_content_type_is_refused(
    media_type: str, path: str, content: bytes
) -> None:
    async with run_server("reference") as server:
        headers = {"Content-Type": media_type}
        status, text = await answer(server, "POST", path, data=content, headers=headers)
        assert (status, "Content-Type: application/json" in text) == (415, True)
        json = {"Content-Type": "application/json; charset=utf-8"}
        status, _ = await answer(server, "POST", path, data=content, headers=json)
        assert status in {201, 204}


def test_a_name_that_the_user_allows_is_the_listeners_own() -> None:
    async def statuses(control_names: tuple[str, ...]) -> list[int]:
        dialect, _ = load_contract("reference")
        app = create_app(dialect, PROJECTS, fixtures=ProjectFixtures())
        here = "127.0.0.1"
        try:
            _, port = await app.start(here, 0, here, 0, control_names=control_names)
            return [await status_for_host(port, host) for host in ("hooks", "hooks.evil.example")]
        finally:
            await app.stop()

    assert asyncio.run(statuses(("hooks",))) == [200, 403]
    assert asyncio.run(statuses(())) == [403, 403]


async def status_for_host(port: int, host: str) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    request = f"GET /health HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    writer.write(request.encode())
    answered = await reader.read()
    writer.close()
    await writer.wait_closed()
    return int(answered.split()[1])
