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
from hookproof.mockserver.control.fixtures import DEFAULT_PATH, ProjectFixtures, read_fixtures
from hookproof.spec.contract.service_contract import Contract, contract_for
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.reader import load_dialect

DIALECTS = ("reference", "contrary", "standard-webhooks")
every_dialect = pytest.mark.parametrize("name", DIALECTS)
PROJECTS = {"one": ("key-one",), "two": ("key-two",)}


@cache
def load_contract(name: str) -> tuple[Dialect, Contract]:
    dialect = load_dialect(name)
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
        operation = self.contract.operations[operation_id]
        path = operation.path.replace("{projectID}", quote(project, safe=""))
        for name in ("{endpointID}", "{portalLinkID}"):
            path = path.replace(name, quote(target, safe=""))
        sent = {"Content-Type": "application/json"} if operation.body_schema is not None else {}
        if key is not None:
            sent["Authorization"] = self.dialect.authentication.key_format.format(key=key)
        content = raw if raw is not None else (None if body is None else json.dumps(body).encode())
        return await self.send(
            operation.method,
            path,
            content=content,
            query=query,
            headers={**sent, **(headers or {})},
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
        url = (
            URL(self.base + path, encoded=True).with_query(query)
            if query
            else URL(self.base + path, encoded=True)
        )
        async with self.session.request(method, url, data=content, headers=headers) as response:
            text = await response.read()
            is_json = "json" in response.content_type
            return ServerResponse(
                status=response.status,
                body=json.loads(text) if is_json and text else None,
                media_type=response.headers.get("Content-Type", ""),
                text=text,
            )

    def refused(self, answered: ServerResponse, status: int) -> bool:
        """Return whether this is the dialect's error response with this status."""
        return (
            answered.status == status
            and answered.media_type == self.dialect.errors.content_type
            and not self.contract.error_problems(answered.body)
        )

    def sound(self, operation_id: str, answered: ServerResponse) -> bool:
        """Return whether this is a success that fulfils the contract."""
        assert not self.contract.response_problems(operation_id, answered.body), answered.body
        return answered.status == self.contract.operations[operation_id].success.value

    def endpoint_body(self, **fields: Any) -> dict[str, Any]:
        """Return a body of createEndpoint with all that any dialect requires."""
        return {
            "name": "an endpoint",
            "url": "https://receiver.invalid/hook",
            "owner_id": "an owner",
            **fields,
        }

    async def endpoint(self, **fields: Any) -> Any:
        answered = await self.call("createEndpoint", body=self.endpoint_body(**fields))
        assert self.sound("createEndpoint", answered), answered
        return answered.data

    async def portal_link(self, project: str = "one", **fields: Any) -> Any:
        async with self.session.post(
            f"{self.control}/projects/{project}/portal-links", json=fields
        ) as response:
            assert response.status == 201, await response.text()
            return await response.json()

    async def source(self, project: str = "one", **fields: Any) -> Any:
        async with self.session.post(
            f"{self.control}/projects/{project}/sources", json=fields
        ) as response:
            assert response.status == 201, await response.text()
            return await response.json()

    async def journal(self, **query: str) -> Any:
        async with self.session.get(f"{self.control}/journal", params=query) as response:
            return await response.json()


@asynccontextmanager
async def run_server(
    name: str = "reference",
    *,
    fixtures: bool = False,
    change: Callable[[Dialect], Dialect] = lambda dialect: dialect,
    **options: Any,
) -> AsyncIterator[Server]:
    """Start a server; at the end, stop it and close its connections."""
    dialect, contract = load_contract(name)
    dialect = change(dialect)
    content = read_fixtures(DEFAULT_PATH, dialect) if fixtures else ProjectFixtures()
    app = create_app(dialect, PROJECTS, fixtures=content, **options)
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
    name: str, scenario: Callable[[Server], Awaitable[None]], **options: Any
) -> None:
    """Run a scenario against a server that uses this dialect."""

    async def main() -> None:
        async with run_server(name, **options) as server:
            await scenario(server)

    asyncio.run(main())
