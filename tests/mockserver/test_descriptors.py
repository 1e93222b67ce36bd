"""Connections without a request leave descriptors to deliveries, to the store and to the log."""

import asyncio
import json
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.mockserver.delivery.endpoints import LoopbackAuthority, always_ok, serving
from tests.mockserver.running_server import run_server
from tests.mockserver.server_process import SERVE

LIMIT = 256
IDLE = 300
LIMITED = (
    "import os, resource, sys;"
    f" resource.setrlimit(resource.RLIMIT_NOFILE, ({LIMIT}, {LIMIT}));"
    " os.execv(sys.argv[1], sys.argv[1:])"
)


@contextmanager
def idle_connections(base: str, count: int, said: bytes = b"") -> Iterator[list[socket.socket]]:
    host, port = base.removeprefix("http://").split(":")
    with ExitStack() as stack:
        connections = []
        for _ in range(count):
            connection = stack.enter_context(socket.create_connection((host, int(port)), 30))
            connection.sendall(said)
            connections.append(connection)
        yield connections


async def call(base: str, path: str, body: Any) -> Any:
    """Post to the API on a new connection."""
    host, port = base.removeprefix("http://").split(":")
    content = json.dumps(body).encode()
    reader, writer = await asyncio.open_connection(host, int(port))
    head = (
        f"POST /api/v1/projects/demo/{path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
        "Authorization: Bearer demo-key\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(content)}\r\n\r\n"
    )
    writer.write(head.encode() + content)
    answer = await reader.read()
    writer.close()
    return json.loads(answer.partition(b"\r\n\r\n")[2])


@pytest.mark.parametrize("said", [b"", b"GET /api/v1/projects/demo/sources HTTP/1.1\r\nHost:"])
async def test_idle_connections_do_not_use_up_what_deliveries_need(
    authority: LoopbackAuthority, tmp_path: Path, said: bytes
) -> None:
    async with serving(always_ok, authority.context()) as endpoint:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", LIMITED, *SERVE, "--port", "0", "--json"),
            *("--until-stdin-closes", "--ca", str(authority.file)),
            *("--db", str(tmp_path / "hookproof.db")),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        base = json.loads(await process.stdout.readline())["api"]
        with idle_connections(base, IDLE, said):
            created = await call(base, "endpoints", {"name": "n", "url": f"{endpoint.url}/e"})
            assert created["status"] is True
            event = {"event_type": "a.b", "data": {"n": 1}}
            accepted = await call(base, "events/broadcast", event)
            assert accepted["status"] is True
            await endpoint.wait_for_requests(1, 30)
        process.stdin.close()
        _, log = await process.communicate()
        assert (process.returncode, log) == (0, b"")


async def test_the_connection_that_was_idle_for_longest_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("hookproof.mockserver.app.descriptor_limit", lambda: 8)

    async def use(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(
            b"GET /api/v1/projects/one/sources HTTP/1.1\r\nHost: x\r\n"
            b"Authorization: Bearer key-one\r\n\r\n"
        )
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 ")
        length = next(
            int(line.split(b":")[1])
            for line in head.split(b"\r\n")
            if line.lower().startswith(b"content-length")
        )
        await reader.readexactly(length)

    async with run_server() as server:
        host, port = server.base.removeprefix("http://").split(":")
        opened = []
        for _ in range(4):
            opened.append(await asyncio.open_connection(host, int(port)))
            await use(*opened[-1])
        await use(*opened[0])  # so that the second one is idle for longest
        opened.append(await asyncio.open_connection(host, int(port)))
        await use(*opened[-1])
        assert await asyncio.wait_for(opened[1][0].read(), 30) == b""
        for kept in (0, 2, 3, 4):
            await use(*opened[kept])
        for _, writer in opened:
            writer.close()
