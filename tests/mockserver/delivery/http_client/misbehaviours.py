"""Misbehaviours of endpoints: what they write in answer to a delivery, or fail to write."""

import asyncio
import gzip
from collections.abc import Awaitable, Callable

from tests.mockserver.delivery.endpoints import OK, EndpointRequest

BOMB = gzip.compress(bytes(20_000_000))

# The pause of a slow peer after each byte.
SLOW_BYTE_S = 0.05

Misbehaviour = Callable[[EndpointRequest, asyncio.StreamWriter], Awaitable[None]]


async def one_byte_at_a_time(request: EndpointRequest, writer: asyncio.StreamWriter) -> None:
    for byte in OK * 100:
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(SLOW_BYTE_S)


async def one_body_byte_at_a_time(request: EndpointRequest, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(SLOW_BYTE_S)


async def resets_mid_response(request: EndpointRequest, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
    await writer.drain()
    writer.transport.abort()


async def closes_without_an_answer(request: EndpointRequest, writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


async def endless_interim_answers(request: EndpointRequest, writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n" * 100)
        await writer.drain()


async def endless_header(request: EndpointRequest, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
    while True:
        writer.write(b"x" * 10_000)
        await writer.drain()


async def not_http(request: EndpointRequest, writer: asyncio.StreamWriter) -> None:
    writer.write(b"SSH-2.0-OpenSSH_9.7\r\n")


async def a_header_name_beyond_ascii(
    request: EndpointRequest, writer: asyncio.StreamWriter
) -> None:
    writer.write("HTTP/1.1 200 OK\r\nGröße: 1\r\nContent-Length: 0\r\n\r\n".encode())


async def endless_body(request: EndpointRequest, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n")
    while True:
        writer.write(b"x" * 65536)
        await writer.drain()


async def endless_chunks(request: EndpointRequest, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        writer.write(b"1000\r\n" + b"x" * 4096 + b"\r\n")
        await writer.drain()


async def gzip_bomb(request: EndpointRequest, writer: asyncio.StreamWriter) -> None:
    writer.write(
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(BOMB)
        + BOMB
    )


async def header_values_beyond_ascii(
    request: EndpointRequest, writer: asyncio.StreamWriter
) -> None:
    writer.write(
        b"HTTP/1.1 200 \xc3\xbc\r\nX-A: \xff\xfe\xe9\r\nRetry-After: \xb2\r\n"
        b"Content-Length: 0\r\n\r\n"
    )


async def a_body_until_it_closes(request: EndpointRequest, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.0 200 OK\r\n\r\nfine")
    writer.close()


async def a_second_answer_behind_the_first(
    request: EndpointRequest, writer: asyncio.StreamWriter
) -> None:
    writer.write(OK + b"HTTP/1.1 500 Forged\r\nContent-Length: 0\r\n\r\n")


async def an_upgrade(request: EndpointRequest, writer: asyncio.StreamWriter) -> None:
    writer.write(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nabc"
    )


async def status_410(request: EndpointRequest, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n")


async def asks_for_a_pause_of_a_million_years(
    request: EndpointRequest, writer: asyncio.StreamWriter
) -> None:
    writer.write(b"HTTP/1.1 429 Slow\r\nRetry-After: 99999999999999\r\nContent-Length: 0\r\n\r\n")


async def leads_to_a_private_address(
    request: EndpointRequest, writer: asyncio.StreamWriter
) -> None:
    writer.write(
        b"HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/latest/\r\n"
        b"Content-Length: 0\r\n\r\n"
    )
