"""Endpoints for tests: a TLS server whose responses a test writes byte by byte."""

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import trustme

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


@dataclass(kw_only=True)
class EndpointRequest:
    """A request as it was received; `at` is in seconds of the monotonic clock."""

    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes
    at: float
    connection: int
    client_certificate: bytes | None

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


Responder = Callable[[EndpointRequest, asyncio.StreamWriter], Awaitable[None]]


@dataclass(kw_only=True)
class EndpointServer:
    """A running server and the requests that arrived."""

    url: str
    arrived: list[EndpointRequest] = field(default_factory=list)
    connections: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def requests_at(self, path: str) -> list[EndpointRequest]:
        return [request for request in self.arrived if request.target == path]

    async def wait_for_requests(self, count: int, timeout_s: float = 60.0) -> list[EndpointRequest]:
        """Wait until `count` requests have arrived."""
        async with asyncio.timeout(timeout_s):
            while len(self.arrived) < count:
                self.changed.clear()
                await self.changed.wait()
        return self.arrived


class LoopbackAuthority:
    """A CA for tests, with its certificate in a file."""

    def __init__(self, folder: Path) -> None:
        self.ca = trustme.CA()
        self.file = folder / "ca.pem"
        self.ca.cert_pem.write_to_path(str(self.file))

    def context(self, *names: str) -> ssl.SSLContext:
        """Return a server context for these names that requests client certificates of this CA."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.ca.issue_cert(*(names or ("127.0.0.1", "localhost"))).configure_cert(context)
        self.ca.configure_trust(context)
        context.verify_mode = ssl.CERT_OPTIONAL
        return context


async def always_ok(request: EndpointRequest, writer: asyncio.StreamWriter) -> None:
    writer.write(OK)


async def never_answers(request: EndpointRequest, writer: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


def answering(*answers: bytes) -> Responder:
    """Send these raw responses in turn, the last one indefinitely."""
    remaining = list(answers)

    async def answer(request: EndpointRequest, writer: asyncio.StreamWriter) -> None:
        writer.write(remaining[0])
        if len(remaining) > 1:
            del remaining[0]

    return answer


def reply(status: int, *headers: str, body: bytes = b"") -> bytes:
    """Return a raw response."""
    head = [f"HTTP/1.1 {status} Some", *headers, f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(head).encode("latin-1") + body


@asynccontextmanager
async def serving(
    answer: Responder, context: ssl.SSLContext | None
) -> AsyncIterator[EndpointServer]:
    """Run a server; at the end all connections are closed and all handlers have ended."""
    handlers: set[asyncio.Task[None]] = set()
    endpoint = EndpointServer(url="")

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        handlers.add(task)
        endpoint.connections += 1
        try:
            while await _handle_request(endpoint, reader, writer, answer, endpoint.connections):
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()
            handlers.discard(task)

    server = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=context, limit=2**22)
    port = server.sockets[0].getsockname()[1]
    endpoint.url = f"{'https' if context else 'http'}://127.0.0.1:{port}"
    try:
        yield endpoint
    finally:
        server.close()
        for task in tuple(handlers):
            task.cancel()
        await asyncio.gather(*handlers, return_exceptions=True)


async def _handle_request(
    endpoint: EndpointServer,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    answer: Responder,
    connection: int,
) -> bool:
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head[:-4].decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ")
    headers = [
        (name, value.lstrip(" ")) for name, _, value in (line.partition(":") for line in lines)
    ]
    length = next((int(value) for name, value in headers if name.lower() == "content-length"), 0)
    request = EndpointRequest(
        method=method,
        target=target,
        headers=headers,
        body=await reader.readexactly(length),
        at=time.monotonic(),
        connection=connection,
        client_certificate=_client_certificate(writer),
    )
    endpoint.arrived.append(request)
    endpoint.changed.set()
    await answer(request, writer)
    return not writer.is_closing()


def _client_certificate(writer: asyncio.StreamWriter) -> bytes | None:
    tls = writer.get_extra_info("ssl_object")
    certificate: bytes | None = tls.getpeercert(binary_form=True) if tls else None
    return certificate
