"""A request written to a socket directly, for what an HTTP client refuses to send.

The request is never completed: it declares a Content-Length and sends less, or stops as soon as the
target answers. The answer is recorded as an exchange like any other.
"""

import asyncio
import base64
import http.client
import io
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import SplitResult, unquote, urlsplit

from hookproof.conformance.model.evidence import Exchange, kept_url
from hookproof.conformance.target.definition import Project
from hookproof.target.connection import DIRECT, ApiConnection
from hookproof.target.settings import DEFAULT_PORTS

PROXY_PORT: Final = 80
LARGEST_ANSWER = 1024 * 1024
# What was sent of a body is kept if it has at most so many bytes.
LONGEST_KEPT = 1024
# How long the end of a body is kept back, if there is twice the time for all of the request.
LAST_PIECE_AFTER_S: Final = 3.0


@dataclass(slots=True)
class _Sent:
    """What was sent of a body: how many bytes, and the first of them.

    It counts on while the target is talked to, so that it is known however that ends.
    """

    count: int = 0
    beginning: bytearray = field(default_factory=bytearray)

    def add(self, piece: bytes) -> None:
        self.count += len(piece)
        if len(self.beginning) <= LONGEST_KEPT:
            self.beginning += piece[: LONGEST_KEPT + 1]


async def unfinished_request(
    base_url: str,
    *,
    role: str,
    operation_id: str,
    project: Project,
    method: str,
    target: str,
    headers: Sequence[tuple[str, str]],
    promised: int,
    pieces: AsyncIterator[bytes],
    timeout_s: float,
    connection: ApiConnection = DIRECT,
) -> tuple[Exchange, int]:
    """Send the head and then pieces of the body until an answer begins; the exchange, and how many
    bytes were sent.

    `promised` is the Content-Length. Without an answer within `timeout_s` seconds the exchange has
    a problem. Its body is what was sent, or None if that is too long to be kept.
    """
    split = urlsplit(base_url)
    all_headers = (*connection.with_headers(headers), ("Content-Length", str(promised)))
    lines = [
        f"{method} {_request_target(split, connection)}{target} HTTP/1.1",
        f"Host: {split.netloc}",
        *(f"{name}: {value}" for name, value in all_headers),
        *(_proxy_lines(connection) if split.scheme == "http" else ()),
    ]
    sent = _Sent()
    sent_at, started = time.time(), time.monotonic()
    answer: dict[str, Any] = {"status": None}
    try:
        async with asyncio.timeout(timeout_s):
            raw = await _talk(
                split,
                connection,
                "\r\n".join([*lines, "", ""]).encode("latin-1"),
                pieces,
                sent,
                promised,
                min(LAST_PIECE_AFTER_S, timeout_s / 2),
            )
        answer = _parsed(raw)
    except (
        OSError,
        EOFError,
        TimeoutError,
        asyncio.LimitOverrunError,
        http.client.HTTPException,
    ) as error:
        answer["problem"] = (
            f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        )
    exchange = Exchange(
        role=role,
        operation_id=operation_id,
        project=project.id,
        key="own",
        method=method,
        url=kept_url(base_url.rstrip("/") + target),
        request_headers=all_headers,
        request_body=bytes(sent.beginning) if len(sent.beginning) <= LONGEST_KEPT else None,
        sent_at=sent_at,
        duration_s=round(time.monotonic() - started, 6),
        **answer,
    )
    return exchange, sent.count


def is_waiting(exchange: Exchange) -> bool:
    """Whether the time for an unfinished request was over before the target did anything."""
    return exchange.status is None and exchange.problem == TimeoutError.__name__


def _request_target(split: SplitResult, connection: ApiConnection) -> str:
    """The beginning of the request target: RFC 9112, section 3.2; a proxy needs all of the URL."""
    path = split.path.rstrip("/")
    is_absolute = connection.proxy is not None and split.scheme == "http"
    return f"{split.scheme}://{split.netloc}{path}" if is_absolute else path


def _proxy_lines(connection: ApiConnection) -> list[str]:
    """The header by which a proxy with a password accepts a request: RFC 9110, section 11.7.2."""
    proxy = urlsplit(connection.proxy or "")
    if proxy.username is None:
        return []
    pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return [f"Proxy-Authorization: Basic {base64.b64encode(pair.encode()).decode()}"]


async def _opened(
    split: SplitResult, connection: ApiConnection
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection to the target, or to the proxy that passes on what is written to it."""
    tls = connection.tls_context() if split.scheme == "https" else None
    port = split.port or DEFAULT_PORTS[split.scheme]
    if connection.proxy is None:
        return await asyncio.open_connection(split.hostname, port, ssl=tls)
    proxy = urlsplit(connection.proxy)
    reader, writer = await asyncio.open_connection(proxy.hostname, proxy.port or PROXY_PORT)
    if tls is not None:
        try:
            await _open_tunnel(
                reader, writer, f"{split.netloc.removesuffix(f':{port}')}:{port}", connection
            )
            await writer.start_tls(tls, server_hostname=split.hostname)
        except BaseException:
            writer.close()
            raise
    return reader, writer


async def _open_tunnel(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    authority: str,
    connection: ApiConnection,
) -> None:
    """Have a proxy connect to this host and port: RFC 9110, section 9.3.6."""
    lines = [f"CONNECT {authority} HTTP/1.1", f"Host: {authority}", *_proxy_lines(connection)]
    writer.write("\r\n".join([*lines, "", ""]).encode("latin-1"))
    status_line, _, _ = (await reader.readuntil(b"\r\n\r\n")).partition(b"\r\n")
    if status_line.split()[1:2] != [b"200"]:
        raise http.client.BadStatusLine(f"the proxy: {status_line.decode('latin-1')}")


async def _talk(
    split: SplitResult,
    connection: ApiConnection,
    head: bytes,
    pieces: AsyncIterator[bytes],
    sent: _Sent,
    promised: int,
    kept_back_s: float,
) -> bytes:
    """The answer; `sent` gets what was sent of the body.

    The piece that would complete the body is kept back for some seconds: an answer that comes
    meanwhile does not wait for the end of the request, however fast or slow the two machines are.
    """
    reader, writer = await _opened(split, connection)
    answer = asyncio.ensure_future(_answer(reader))
    try:
        writer.write(head)
        async for piece in pieces:
            if sent.count + len(piece) >= promised:
                await asyncio.wait([answer], timeout=kept_back_s)
            if answer.done() or not await _written(writer, piece):
                break
            sent.add(piece)
        return await answer
    finally:
        answer.cancel()
        await asyncio.gather(answer, return_exceptions=True)
        # close() would wait, without an end, for a target that reads no more to read the rest.
        writer.transport.abort()
        with suppress(OSError):
            await writer.wait_closed()


async def _written(writer: asyncio.StreamWriter, piece: bytes) -> bool:
    """Whether the target still accepts data; one that has closed may have sent an answer before."""
    try:
        writer.write(piece)
        await writer.drain()
    except ConnectionError:
        return False
    return True


async def _answer(reader: asyncio.StreamReader) -> bytes:
    """The head of the answer, and the body of its Content-Length or until the connection ends."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = http.client.parse_headers(io.BytesIO(head.partition(b"\r\n")[2])).get(
        "Content-Length", ""
    )
    body = await (
        reader.readexactly(min(int(length), LARGEST_ANSWER))
        if length.isdigit()
        else _until_the_end(reader)
    )
    return head + body


async def _until_the_end(reader: asyncio.StreamReader) -> bytes:
    body = bytearray()
    while len(body) < LARGEST_ANSWER and (piece := await reader.read(LARGEST_ANSWER - len(body))):
        body += piece
    return bytes(body)


def _parsed(raw: bytes) -> dict[str, Any]:
    head, _, body = raw.partition(b"\r\n\r\n")
    status_line, _, fields = head.partition(b"\r\n")
    headers = http.client.parse_headers(io.BytesIO(fields + b"\r\n\r\n"))
    parts = status_line.split()
    if len(parts) < 2 or not parts[1].isdigit():  # noqa: PLR2004
        raise http.client.BadStatusLine(status_line.decode("latin-1"))
    return {
        "status": int(parts[1]),
        "response_headers": tuple(headers.items()),
        "response_body": body,
    }
