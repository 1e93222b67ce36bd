"""Hostile input gets an error response and changes nothing; the server neither fails nor hangs."""

import asyncio
import gzip
import json

import pytest

from tests.mockserver.api.request_flood import flood
from tests.mockserver.running_server import Server, every_dialect, run_server

DEADLINE_S = 60.0
NESTED = 10_000

MALFORMED = {
    "nothing": b"",
    "text": b"hello",
    "truncated": b'{"name": "x", "url": "https://receiver.invalid/',
    "two values": b'{"name": "x"} {}',
    "nested lists": b'{"name": ' + b"[" * NESTED + b"]" * NESTED + b"}",
    "nested objects": b'{"a":' * NESTED + b"1" + b"}" * NESTED,
    "a member twice": b'{"name": "x", "url": "https://a.invalid/", "owner_id": "o", "name": "y"}',
    "a nested member twice": (
        b'{"name":"x","url":"https://a.invalid/","owner_id":"o","mtls_client_cert":{"a":1,"a":2}}'
    ),
    "a member twice, once escaped": (
        b'{"name": "x", "url": "https://a.invalid/", "owner_id": "o", "n\\u0061me": "y"}'
    ),
    "NUL in a text": b'{"name": "x\\u0000", "url": "https://receiver.invalid/", "owner_id": "o"}',
    "NUL between": b'{"name": "x",\x00 "url": "https://receiver.invalid/"}',
    "lone surrogate": b'{"name": "\\ud800", "url": "https://receiver.invalid/", "owner_id": "o"}',
    "no UTF-8": b'{"name": "\xff", "url": "https://receiver.invalid/", "owner_id": "o"}',
    "UTF-16": '{"name": "x"}'.encode("utf-16"),
    "a byte order mark": b'\xef\xbb\xbf{"name": "x"}',
    "a number beyond floats": (
        b'{"name": "x", "url": "https://a.invalid/", "owner_id": "o", "rate_limit": 1e999}'
    ),
    "a number of many digits": b'{"name": "x", "rate_limit": ' + b"9" * 6000 + b"}",
    "not a number": b'{"name": "x", "rate_limit": NaN}',
    "a comment": b'{"name": "x" /* y */}',
    "single quotes": b"{'name': 'x'}",
}
INVALID = {
    "a list": b"[]",
    "null": b"null",
    "beyond 64 bits": (
        b'{"name":"x","url":"https://a.invalid/","owner_id":"o",'
        b'"rate_limit":123456789012345678901234}'
    ),
    "far below zero": b'{"name":"x","url":"https://a.invalid/","owner_id":"o","http_timeout":-1e30}',
    "a wrong type": b'{"name":["x"],"url":"https://a.invalid/","owner_id":"o"}',
    "null for a text": b'{"name":"x","url":"https://a.invalid/","owner_id":null}',
}


async def stored_content(server: Server) -> list[object]:
    """Return all that the server has stored, as far as the API and the journal show it."""
    links = await server.call("listPortalLinks")
    deliveries = await server.journal(kind="deliveries")
    return [links.data["content"], deliveries["deliveries"]]


@pytest.mark.parametrize("kind", [*MALFORMED, *INVALID])
@every_dialect
async def test_a_hostile_body_is_refused_and_changes_nothing(dialect_name: str, kind: str) -> None:
    async with run_server(dialect_name) as server:
        link = await server.create_portal_link(name="link", owner_id="o")
        before = await stored_content(server)
        errors = server.dialect.errors
        expected = errors.malformed_body.value if kind in MALFORMED else errors.invalid_value.value
        raw = MALFORMED.get(kind, INVALID.get(kind))
        async with asyncio.timeout(DEADLINE_S):
            response = await server.call("createEndpoint", raw=raw)
        assert server.is_refusal(response, expected), response
        for operation_id in (
            ("updatePortalLink", "createBroadcastEvent") if kind in MALFORMED else ()
        ):
            async with asyncio.timeout(DEADLINE_S):
                response = await server.call(operation_id, target=link["uid"], raw=raw)
            assert server.is_refusal(response, expected), operation_id
        assert await stored_content(server) == before


@every_dialect
async def test_deep_or_broken_data_of_an_event_is_refused(dialect_name: str) -> None:
    async with run_server(dialect_name) as server:
        malformed = server.dialect.errors.malformed_body.value
        for data in (
            b'{"a":' + b"[" * NESTED + b"]" * NESTED + b"}",
            b'{"a":"\xff"}',
            b'{"a":01}',
            b'{"a"',
            b"{]",
        ):
            raw = b'{"event_type":"t","idempotency_key":"k","data":' + data + b"}"
            assert server.is_refusal(
                await server.call("createBroadcastEvent", raw=raw), malformed
            ), data[:40]
        twice = b'{"event_type":"t","idempotency_key":"k","data":{},"data":{"a":1}}'
        assert server.is_refusal(await server.call("createBroadcastEvent", raw=twice), malformed)


@every_dialect
async def test_a_body_that_is_not_declared_as_json_is_refused(dialect_name: str) -> None:
    async with run_server(dialect_name) as server:
        status = server.dialect.errors.unsupported_media_type.value
        body = json.dumps(server.endpoint_body()).encode()
        for declared in (
            "text/plain",
            "application/x-www-form-urlencoded",
            "application/json; charset=utf-16",
            "application/json; charset=latin-1",
            "application/jsonx",
            "application/json/x",
            ";",
            "",
        ):
            response = await server.call(
                "createEndpoint", raw=body, headers={"Content-Type": declared}
            )
            assert server.is_refusal(response, status), declared
        packed = gzip.compress(body)
        response = await server.call(
            "createEndpoint", raw=packed, headers={"Content-Encoding": "gzip"}
        )
        assert server.is_refusal(response, status)
        for declared in (
            "application/json; charset=UTF-8",
            'Application/JSON;charset="utf-8"',
            "application/json;x=y",
        ):
            response = await server.call(
                "createEndpoint", raw=body, headers={"Content-Type": declared}
            )
            assert server.is_success("createEndpoint", response), declared


async def exchange(server: Server, *parts: bytes, close: bool = False) -> bytes:
    """Send bytes on a connection; return all that arrives until the server closes it."""
    host, _, port = server.base.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        for part in parts:
            writer.write(part)
            await writer.drain()
        if close:
            writer.write_eof()
        async with asyncio.timeout(DEADLINE_S):
            return await reader.read()
    finally:
        writer.close()


def request_head(
    server: Server,
    *headers: str,
    method: str = "POST",
    path: str = "/api/v1/projects/one/endpoints",
) -> bytes:
    key = server.dialect.authentication.key_format.format(key="key-one")
    lines = (
        f"{method} {path} HTTP/1.1",
        "Host: x",
        f"Authorization: {key}",
        "Content-Type: application/json",
        *headers,
    )
    return "\r\n".join((*lines, "", "")).encode("latin-1")


def is_refusal(server: Server, answer: bytes, status: int) -> bool:
    """Return whether these bytes are the dialect's error response with this status."""
    head, _, body = answer.partition(b"\r\n\r\n")
    assert f"Content-Type: {server.dialect.errors.content_type}".encode() in head
    return head.startswith(f"HTTP/1.1 {status} ".encode()) and not server.contract.error_problems(
        json.loads(body)
    )


@every_dialect
async def test_a_large_body_is_refused_before_it_is_read(dialect_name: str) -> None:
    async with run_server(dialect_name) as server:
        status = server.dialect.errors.body_too_large.value
        declared = await exchange(
            server, request_head(server, "Content-Length: 10485760", "Expect: 100-continue")
        )
        assert is_refusal(server, declared, status)
        part = b"8000\r\n" + b"x" * 0x8000 + b"\r\n"
        chunked = await exchange(
            server, request_head(server, "Transfer-Encoding: chunked"), part * 40
        )
        assert is_refusal(server, chunked, status)


@every_dialect
async def test_slow_senders_get_an_error_and_are_disconnected(dialect_name: str) -> None:
    async with run_server(dialect_name, request_s=0.3) as server:
        status = server.dialect.errors.slow_request.value
        assert is_refusal(server, await exchange(server, b"POST /api/v1/proj"), status)
        assert is_refusal(
            server,
            await exchange(server, request_head(server, "Content-Length: 100"), b'{"name"'),
            status,
        )
        good = request_head(
            server, "Connection: close", method="GET", path="/api/v1/projects/one/sources"
        )
        assert (await exchange(server, good)).startswith(b"HTTP/1.1 2")


@every_dialect
async def test_what_is_not_http_is_refused_in_the_dialects_body(dialect_name: str) -> None:
    async with run_server(dialect_name) as server:
        status = server.dialect.errors.malformed_body.value
        for sent in (
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"x" * 100 + b"\r\n\r\n",
            b"GET / HTTP/9.9\r\n\r\n",
            b"G\x00T / HTTP/1.1\r\n\r\n",
            request_head(server, "Content-Length: 5", "Content-Length: 6"),
            request_head(server, "Content-Length: -5"),
            request_head(server, "Content-Length: 5", "Transfer-Encoding: chunked") + b"0\r\n\r\n",
            request_head(server, "Bad Header: x"),
            request_head(server, "X: " + "y" * 100_000),
            request_head(server, *(f"X-{number}: y" for number in range(5000))),
            request_head(server, method="GET", path="/" + "x" * 100_000),
        ):
            answer = await exchange(server, sent)
            assert is_refusal(server, answer, status), answer[:200]


@every_dialect
async def test_another_version_of_http_is_refused_and_the_connection_is_closed(
    dialect_name: str,
) -> None:
    async with run_server(dialect_name) as server:
        head = request_head(server, "Content-Length: 2", "Connection: keep-alive")
        known = request_head(server, "Connection: close", method="GET", path="/api/v1/projects/one")
        for version in (b"HTTP/2.0", b"HTTP/0.9"):
            sent = head.replace(b"HTTP/1.1", version) + b"{}" + known
            answer = await exchange(server, sent, close=False)
            assert is_refusal(server, answer, 505), answer[:200]
            assert answer.count(b"Server: ") == 1
            assert b"Connection: close" in answer


@every_dialect
async def test_every_form_of_request_target_is_read(dialect_name: str) -> None:
    async with run_server(dialect_name) as server:
        unknown = server.dialect.errors.unknown_path.value
        sources = "/api/v1/projects/one/sources"
        for target in (
            sources,
            f"{sources}?",
            f"{sources}?perPage=1",
            f"{server.base}{sources}",
            f"{sources}#",
        ):
            answer = await exchange(
                server, request_head(server, "Connection: close", method="GET", path=target)
            )
            assert answer.startswith(b"HTTP/1.1 2"), target
        for target in (f"/{sources}", server.base, f"{sources}#/", f"/{server.base}{sources}"):
            answer = await exchange(
                server, request_head(server, "Connection: close", method="GET", path=target)
            )
            assert is_refusal(server, answer, unknown), target
        assert {entry["path"] for entry in (await server.journal(status=unknown))["requests"]} >= {
            f"/{sources}"
        }


@every_dialect
async def test_broken_chunks_and_bodies_cut_short_change_nothing(dialect_name: str) -> None:
    async with run_server(dialect_name) as server:
        body = json.dumps(server.endpoint_body()).encode()
        sized = f"{len(body):x}".encode()
        for sent in (
            request_head(server, "Transfer-Encoding: chunked")
            + b"zz\r\n"
            + body
            + b"\r\n0\r\n\r\n",
            request_head(server, "Transfer-Encoding: chunked")
            + sized
            + b"\r\n"
            + body
            + b"xx0\r\n\r\n",
            request_head(server, "Transfer-Encoding: chunked") + sized + b"\r\n" + body[:10],
            request_head(server, f"Content-Length: {len(body)}") + body[:10],
        ):
            answer = await exchange(server, sent, close=True)
            assert not answer or answer.startswith(b"HTTP/1.1 4"), answer[:200]
        journal = await server.journal(operation="createEndpoint")
        assert all(entry["status"] >= 400 for entry in journal["requests"])


async def test_idle_connections_do_not_keep_others_waiting() -> None:
    async with run_server("reference") as server:
        host, _, port = server.base.removeprefix("http://").partition(":")
        idle = [await asyncio.open_connection(host, int(port)) for _ in range(500)]
        try:
            async with asyncio.timeout(DEADLINE_S):
                assert (await server.create_endpoint())["uid"]
        finally:
            for _, writer in idle:
                writer.close()


def test_a_flood_of_hostile_requests_is_answered_without_a_server_error() -> None:
    counts, _ = asyncio.run(flood(2000, warm_up=0))
    assert counts.late == 0
    assert counts.total > 1900
    assert max(counts.statuses) < 500
