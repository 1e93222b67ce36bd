"""A reference server in the test's own event loop, on real sockets, with a client."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import quote

import aiohttp
import pytest
from yarl import URL

from hookproof.mockserver.app import create_app
from hookproof.mockserver.fixture_file import DEFAULT_PATH, ProjectFixtures, read_fixtures
from hookproof.spec.contract.service_contract import Contract, contract_for
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.reader import load_dialect

DIALECTS = ("reference", "contrary", "standard-webhooks")
every_dialect = pytest.mark.parametrize("dialect_name", DIALECTS)
PROJECTS = {"one": ("key-one",), "two": ("key-two",)}


@cache
def load_contract(dialect_name: str) -> tuple[Dialect, Contract]:
    dialect = load_dialect(dialect_name)
    return dialect, contract_for(dialect)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerResponse:
    status: int
    body: Any
    media_type: str
    text: bytes

    @property
    def data(self) -> Any:
        return self.body["data"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    base: str
    control: str
    dialect: Dialect
    contract: Contract
    session: aiohttp.ClientSession

    async def call(
        self,
        operation_id: str,
        *,
        target: str = "",
        body: Any = None,
        raw: bytes | None = None,
        query: Mapping[str, str] | None = None,
        project: str = "one",
        key: str | None = "key-one",
        headers: Mapping[str, str] | None = None,
    ) -> ServerResponse:
        """Call an operation; `target` is the id in its path, `raw` a body in place of `body`."""
        operation = self.contract.operations[operation_id]
        path = operation.path.replace("{projectID}", quote(project, safe=""))
        for name in ("{endpointID}", "{portalLinkID}"):
            path = path.replace(name, quote(target, safe=""))
        own_headers = {}
        if operation.body_schema is not None:
            own_headers["Content-Type"] = "application/json"
        if key is not None:
            own_headers["Authorization"] = self.dialect.authentication.key_format.format(key=key)
        content = raw
        if raw is None and body is not None:
            content = json.dumps(body).encode()
        return await self.send(
            operation.method,
            path,
            content=content,
            query=query,
            headers={**own_headers, **(headers or {})},
        )

    async def send(
        self,
        method: str,
        path: str,
        *,
        content: bytes | None = None,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> ServerResponse:
        url = URL(self.base + path, encoded=True)
        if query:
            url = url.with_query(query)
        async with self.session.request(method, url, data=content, headers=headers) as response:
            text = await response.read()
            is_json = "json" in response.headers.get("Content-Type", "")
            return ServerResponse(
                status=response.status,
                body=json.loads(text) if is_json and text else None,
                media_type=response.headers.get("Content-Type", ""),
                text=text,
            )

    def is_refusal(self, response: ServerResponse, status: int) -> bool:
        """Return whether this is the dialect's error response with this status."""
        if response.status != status:
            return False
        for form in self.contract.errors.of(status):
            if form.validator is None and (response.media_type, response.text) == ("", b""):
                return True
            is_declared = response.media_type == self.dialect.errors.content_type
            if is_declared and not self.contract.form_problems(form, response.body):
                return True
        return False

    def is_success(self, operation_id: str, response: ServerResponse) -> bool:
        """Return whether this is a success; its body has to fulfil the contract in any case."""
        assert not self.contract.response_problems(operation_id, response.body), response.body
        return response.status == self.contract.operations[operation_id].success.value

    def endpoint_body(self, **fields: Any) -> dict[str, Any]:
        """Return a body of createEndpoint with all that any dialect requires."""
        return {
            "name": "an endpoint",
            "url": "https://receiver.invalid/hook",
            "owner_id": "an owner",
            **fields,
        }

    async def create_endpoint(self, **fields: Any) -> Any:
        response = await self.call("createEndpoint", body=self.endpoint_body(**fields))
        assert self.is_success("createEndpoint", response), response
        return response.data

    async def create_portal_link(self, project: str = "one", **fields: Any) -> Any:
        return await self._add_fixture(f"/projects/{project}/portal-links", fields)

    async def create_source(self, project: str = "one", **fields: Any) -> Any:
        return await self._add_fixture(f"/projects/{project}/sources", fields)

    async def _add_fixture(self, path: str, fields: dict[str, Any]) -> Any:
        async with self.session.post(self.control + path, json=fields) as response:
            assert response.status == 201, await response.text()
            return await response.json()

    async def arm_fault(self, **order: Any) -> int:
        """Order a fault at run time; return the status."""
        async with self.session.post(f"{self.control}/faults", json=order) as response:
            return response.status

    async def reset(self) -> None:
        """Bring back what the server stored at its start."""
        async with self.session.post(f"{self.control}/reset") as response:
            assert response.status == 204, await response.text()

    async def journal(self, **query: str) -> Any:
        async with self.session.get(f"{self.control}/journal", params=query) as response:
            return await response.json()


@asynccontextmanager
async def run_server(
    dialect_name: str = "reference",
    *,
    fixtures: bool = False,
    change: Callable[[Dialect], Dialect] = lambda dialect: dialect,
    **options: Any,
) -> AsyncIterator[Server]:
    """Start a server; at the end, stop it and close its connections."""
    shipped, contract = load_contract(dialect_name)
    dialect = change(shipped)
    content = read_fixtures(DEFAULT_PATH, dialect) if fixtures else ProjectFixtures()
    own = contract if dialect is shipped else None
    app = create_app(dialect, PROJECTS, fixtures=content, contract=own, **options)
    try:
        port, control = await app.start("127.0.0.1", 0, "127.0.0.1", 0)
        async with aiohttp.ClientSession() as session:
            yield Server(
                base=f"http://127.0.0.1:{port}",
                control=f"http://127.0.0.1:{control}",
                dialect=dialect,
                contract=contract,
                session=session,
            )
    finally:
        await app.stop()


def run_against_server(
    dialect_name: str, scenario: Callable[[Server], Awaitable[None]], **options: Any
) -> None:
    """Run a scenario against a server that uses this dialect."""

    async def main() -> None:
        async with run_server(dialect_name, **options) as server:
            await scenario(server)

    asyncio.run(main())
