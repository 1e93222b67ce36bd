"""A server with generated faults that delivers to an endpoint, whose answers a test decides."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final

from hookproof.mockserver.faults.operators.generation import find_generated_fault
from hookproof.mockserver.faults.registry import Fault
from hookproof.spec.dialect.model import Dialect
from tests.mockserver.delivery.endpoints import (
    OK,
    EndpointRequest,
    EndpointServer,
    LoopbackAuthority,
    Responder,
    always_ok,
    reply,
    serving,
)
from tests.mockserver.delivery.engines import PROMPT, dialect
from tests.mockserver.running_server import Server, run_server

# The Standard Webhooks format signs the event's identifier and a time in a header of its own.
TYPED: Final = {"event_type_header": "X-Event-Type"}
TELLING: Final = dialect("standard-webhooks", delivery=TYPED)
HASTY: Final = dialect("standard-webhooks", delivery=TYPED, retry=PROMPT)
FAILS: Final = reply(500)
# So much faster goes the clock of the server that times of two attempts differ by seconds.
HASTE: Final = 10_000


@dataclass(kw_only=True)
class ScenarioContext:
    """What a scenario acts on: the server, and the endpoint to which it delivers."""

    server: Server
    endpoint: EndpointServer
    uids: list[str] = field(default_factory=list)

    async def create(self, path: str, **fields: Any) -> str:
        body = self.server.endpoint_body(url=self.endpoint.url + path, **fields)
        response = await self.server.call("createEndpoint", body=body)
        self.uids.append(response.data["uid"])
        return self.uids[-1]

    async def roll(self, **fields: Any) -> None:
        response = await self.server.call("expireEndpointSecret", target=self.uids[0], body=fields)
        assert response.status == 200

    async def broadcast(self, name: str, **fields: Any) -> Any:
        event = {
            "event_type": f"type.{name}",
            "data": {"name": name},
            "custom_headers": {"X-Custom": f"custom {name}"},
            **fields,
        }
        response = await self.server.call("createBroadcastEvent", body=event)
        assert response.status == 201, response.body
        return response.data


def fails_after_the_first() -> Responder:
    """Answer 200 to the first request, and 500 to the others."""
    count = 0

    async def answer(_request: EndpointRequest, writer: asyncio.StreamWriter) -> None:
        nonlocal count
        count += 1
        writer.write(OK if count == 1 else FAILS)

    return answer


def generated(name: str, told: Dialect = TELLING) -> tuple[Fault, ...]:
    """The fault of this name; none for an empty name."""
    return (find_generated_fault(name, told).fault(),) if name else ()


def run_scenario(
    authority: LoopbackAuthority,
    scenario: Callable[[ScenarioContext], Awaitable[None]],
    *faults: Fault,
    responder: Responder = always_ok,
    answers: Dialect = HASTY,
) -> list[EndpointRequest]:
    """Run a scenario on a server with these faults; return the requests that arrived."""
    began = time.time()

    async def run() -> list[EndpointRequest]:
        async with (
            serving(responder, authority.context()) as endpoint,
            run_server(
                faults=faults,
                change=lambda _: answers,
                ca_file=authority.file,
                clock=lambda: began + HASTE * (time.time() - began),
            ) as server,
        ):
            await scenario(ScenarioContext(server=server, endpoint=endpoint))
            return list(endpoint.arrived)

    return asyncio.run(run())
