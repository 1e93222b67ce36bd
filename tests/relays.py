"""What stands between a client and a server, over real sockets: TLS that ends before the server,
and an HTTP proxy.
"""

import asyncio
import gc
import ssl
import threading
import warnings
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from queue import SimpleQueue
from urllib.parse import urlsplit

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
OPENED = b"HTTP/1.1 200 Connection established\r\n\r\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRelay:
    """What has passed, each by connection: `clients` are the names in the certificates of clients,
    `heads` the first lines of what they sent, and `requests` the whole heads of their first
    requests.
    """

    url: str
    clients: list[str] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    requests: list[bytes] = field(default_factory=list)


@contextmanager
def tls_front(
    upstream: str, context: ssl.SSLContext, *, adding: tuple[str, ...] = ()
) -> Iterator[OpenRelay]:
    """A proxy at an https URL that ends TLS in front of the server at `upstream`.

    It puts the lines `adding` into the head of the first request of each connection.
    """
    clients, heads, requests = list[str](), list[str](), list[bytes]()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        certificate = writer.get_extra_info("peercert") or {}
        clients.extend(value for ((name, value),) in _subject(certificate) if name == "commonName")
        head = await reader.readuntil(b"\r\n")
        heads.append(head.decode().strip())
        fields = await reader.readuntil(b"\r\n\r\n")
        requests.append(head + fields)
        added = "".join(f"{line}\r\n" for line in adding).encode()
        await _pass_on(reader, writer, upstream, head + added + fields)

    with _listening(serve, context) as port:
        yield OpenRelay(
            url=f"https://127.0.0.1:{port}", clients=clients, heads=heads, requests=requests
        )


@contextmanager
def long_way(upstream: str, *, one_way_s: float) -> Iterator[OpenRelay]:
    """The server at `upstream` as if it were far away: what either side sends takes so long."""
    with _late_way(upstream, (lambda: one_way_s, lambda: one_way_s)) as relay:
        yield relay


@contextmanager
def uneven_way(upstream: str, late_s: Callable[[], float]) -> Iterator[OpenRelay]:
    """The server at `upstream` behind a way on which each piece of a request may be late."""
    with _late_way(upstream, (late_s, lambda: 0.0)) as relay:
        yield relay


@contextmanager
def _late_way(
    upstream: str, late_s: tuple[Callable[[], float], Callable[[], float]]
) -> Iterator[OpenRelay]:
    """`late_s` is how late each piece is that is sent to the server, and that comes from it."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        parts = urlsplit(upstream)
        upward, downward = await asyncio.open_connection(parts.hostname, parts.port)
        try:
            copies = [
                asyncio.ensure_future(_copy_late(*ends))
                for ends in ((reader, downward, late_s[0]), (upward, writer, late_s[1]))
            ]
            await asyncio.wait(copies, return_when=asyncio.FIRST_COMPLETED)
            writer.close()
            downward.close()
            await asyncio.gather(*copies)
        finally:
            await _abort(downward)

    with _listening(serve) as port:
        yield OpenRelay(url=f"{urlsplit(upstream).scheme}://127.0.0.1:{port}")


@contextmanager
def http_proxy() -> Iterator[OpenRelay]:
    """A proxy for http URLs, and for tunnels to any port of this machine; of `requests` it shows
    those for tunnels.
    """
    heads, requests = list[str](), list[bytes]()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = (await reader.readuntil(b"\r\n")).decode().strip()
        heads.append(line)
        method, target, version = line.split()
        if method == "CONNECT":
            requests.append(await reader.readuntil(b"\r\n\r\n"))
            writer.write(OPENED)
            await _pass_on(reader, writer, f"http://{target}", b"")
            return
        parts = urlsplit(target)
        path = target.removeprefix(f"{parts.scheme}://{parts.netloc}")
        # One request for each connection, so that each shows its first line.
        first = f"{method} {path} {version}\r\nConnection: close\r\n"
        await _pass_on(reader, writer, target, first.encode())

    with _listening(serve) as port:
        yield OpenRelay(url=f"http://127.0.0.1:{port}", heads=heads, requests=requests)


def _subject(certificate: object) -> tuple[tuple[tuple[str, str]], ...]:
    return certificate.get("subject", ()) if isinstance(certificate, dict) else ()


async def _pass_on(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, upstream: str, first: bytes
) -> None:
    parts = urlsplit(upstream)
    upward, downward = await asyncio.open_connection(parts.hostname, parts.port)
    try:
        downward.write(first)
        copies = [
            asyncio.ensure_future(_copy(*ends)) for ends in ((reader, downward), (upward, writer))
        ]
        await asyncio.wait(copies, return_when=asyncio.FIRST_COMPLETED)
        writer.close()
        downward.close()
        await asyncio.gather(*copies)
    finally:
        await _abort(downward)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        # A transport of TLS that was closed cannot be written to any more.
        while (data := await reader.read(65536)) and not writer.is_closing():
            writer.write(data)
            await writer.drain()


async def _copy_late(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, late_s: Callable[[], float]
) -> None:
    """Copy each piece so much later, without delaying the next one by that."""
    under_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
    clock = asyncio.get_running_loop().time

    async def read() -> None:
        with suppress(OSError):
            while data := await reader.read(65536):
                under_way.put_nowait((clock() + late_s(), data))
        under_way.put_nowait((clock() + late_s(), b""))

    reading = asyncio.ensure_future(read())
    with suppress(OSError):
        while True:
            due, data = await under_way.get()
            await asyncio.sleep(due - clock())  # plays a long way
            if not data or writer.is_closing():
                break
            writer.write(data)
            await writer.drain()
    reading.cancel()
    await asyncio.wait([reading])


async def _abort(writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()
    with suppress(OSError):
        await writer.wait_closed()


@contextmanager
def connections_collected() -> Iterator[None]:
    """Collect at the end what asyncio leaves of connections whose TLS handshake failed, so that no
    later test is blamed for it.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        yield
        gc.collect()


@contextmanager
def _listening(serve: Serve, context: ssl.SSLContext | None = None) -> Iterator[int]:
    """Serve each connection in a thread of its own loop until the block ends; yields the port."""
    ports: SimpleQueue[int] = SimpleQueue()
    loop, over = asyncio.new_event_loop(), asyncio.Event()
    under_way: dict[asyncio.StreamWriter, asyncio.Future[None]] = {}

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        under_way[writer] = loop.create_future()
        try:
            with suppress(OSError, asyncio.IncompleteReadError):
                await serve(reader, writer)
        finally:  # whatever becomes of it, the end of the block waits for it
            await _abort(writer)
            under_way[writer].set_result(None)

    async def listen() -> None:
        server = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=context)
        ports.put(server.sockets[0].getsockname()[1])
        async with server:
            await over.wait()
        for writer in under_way:
            writer.transport.abort()
        await asyncio.gather(*under_way.values())

    thread = threading.Thread(target=loop.run_until_complete, args=(listen(),))
    thread.start()
    try:
        yield ports.get()
    finally:
        with connections_collected():
            loop.call_soon_threadsafe(over.set)
            thread.join()
            loop.close()
