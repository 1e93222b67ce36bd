"""Requests to an API that is reached by further headers, certificates or a proxy."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.target.circuit_breaker import Breaker
from hookproof.conformance.target.client import ApiClient
from hookproof.conformance.target.definition import Project
from hookproof.conformance.target.raw_request import unfinished_request
from hookproof.receiver.http.authority import Authority
from hookproof.target.connection import ApiConnection
from tests.conformance.canned_evidence import context
from tests.conformance.scripted_target import response, stand_in
from tests.relays import OpenRelay, connections_collected, http_proxy, tls_front

PROJECT = Project(id="p1", api_key="key-one")
HEADERS = (("X-Version", "7"), ("Accept", "application/json"))


async def call(url: str, connection: ApiConnection) -> Exchange:
    check_context = context()
    async with ApiClient(
        url,
        check_context.contract,
        check_context.dialect,
        timeout_s=10,
        breaker=Breaker(),
        connection=connection,
    ) as api:
        return await api.call("listSources", role="r", project=PROJECT, headers=[("accept", "x")])


async def unfinished(url: str, connection: ApiConnection) -> Exchange:
    async def nothing() -> AsyncIterator[bytes]:
        return
        yield b""

    exchange, _ = await unfinished_request(
        url,
        role="r",
        operation_id="createEndpoint",
        project=PROJECT,
        method="POST",
        target="/endpoints",
        headers=[("accept", "x")],
        promised=9,
        pieces=nothing(),
        timeout_s=10,
        connection=connection,
    )
    return exchange


def sent(sending: Coroutine[Any, Any, Exchange]) -> Exchange:
    with connections_collected():
        return asyncio.run(sending)


# Both ways to send a request, which must not differ in how they reach the API.
Send = Callable[[str, ApiConnection], Coroutine[Any, Any, Exchange]]
both_ways = pytest.mark.parametrize("send", [call, unfinished])


@dataclass(frozen=True, kw_only=True)
class SecureApi:
    """An API behind TLS, the CA of its certificate, and the heads of the requests to it."""

    front: OpenRelay
    ca: Authority
    heads: list[bytes]

    @property
    def client_files(self) -> tuple[Path, Path]:
        folder = self.ca.certificate_path.parent
        paths = folder / "client.pem", folder / "client.key"
        for path, text in zip(paths, self.ca.client_certificate("the client"), strict=True):
            path.write_text(text)
        return paths


@contextmanager
def secure_api(folder: Path, *, needs_client: bool = False) -> Iterator[SecureApi]:
    authority, heads = Authority(folder / "api-ca"), list[bytes]()
    tls = authority.server_context("127.0.0.1")
    if needs_client:
        tls.verify_mode = ssl.CERT_REQUIRED

    def answer(head: bytes) -> bytes:
        heads.append(head)
        return response(200)

    with stand_in(answer) as upstream, tls_front(upstream, tls) as front:
        yield SecureApi(front=front, ca=authority, heads=heads)


@both_ways
def test_the_headers_of_the_file_are_in_every_request_and_replace_their_equals(send: Send) -> None:
    heads: list[bytes] = []

    def answer(head: bytes) -> bytes:
        heads.append(head)
        return response(200)

    with stand_in(answer) as url:
        exchange = sent(send(url, ApiConnection(headers=HEADERS)))
    lines = heads[0].lower().split(b"\r\n")
    assert lines.count(b"x-version: 7") == 1
    assert [line for line in lines if line.startswith(b"accept:")] == [b"accept: application/json"]
    assert set(HEADERS) <= set(exchange.request_headers)


@both_ways
def test_an_api_with_a_certificate_of_its_own_needs_its_ca(send: Send, tmp_path: Path) -> None:
    with secure_api(tmp_path) as api:
        refused = sent(send(api.front.url, ApiConnection()))
        trusted = sent(send(api.front.url, ApiConnection(ca=api.ca.certificate_path)))
    assert refused.status is None
    assert "CERTIFICATE_VERIFY_FAILED" in (refused.problem or "")
    assert trusted.status == 200


@both_ways
def test_without_verification_any_certificate_is_accepted(send: Send, tmp_path: Path) -> None:
    with secure_api(tmp_path) as api:
        assert sent(send(api.front.url, ApiConnection(verify=False))).status == 200


@both_ways
def test_a_client_certificate_is_shown(send: Send, tmp_path: Path) -> None:
    with secure_api(tmp_path, needs_client=True) as api:
        certificate, key = api.client_files
        without = ApiConnection(ca=api.ca.certificate_path)
        assert sent(send(api.front.url, without)).status is None
        connection = ApiConnection(
            ca=api.ca.certificate_path, client_cert=certificate, client_key=key
        )
        assert sent(send(api.front.url, connection)).status == 200
    assert api.front.clients == ["the client"]


@both_ways
def test_a_proxy_passes_requests_on(send: Send) -> None:
    with stand_in(lambda _: response(200)) as url, http_proxy() as proxy:
        assert sent(send(url, ApiConnection(proxy=proxy.url))).status == 200
    [line] = proxy.heads
    assert line.split()[1].startswith(f"{url}/")


@both_ways
def test_a_proxy_opens_a_tunnel_to_an_https_api(send: Send, tmp_path: Path) -> None:
    with secure_api(tmp_path) as api, http_proxy() as proxy:
        connection = ApiConnection(proxy=proxy.url, ca=api.ca.certificate_path)
        assert sent(send(api.front.url, connection)).status == 200
    authority = api.front.url.removeprefix("https://")
    assert proxy.heads == [f"CONNECT {authority} HTTP/1.1"]
    assert len(api.heads) == 1


@both_ways
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_the_password_of_a_proxy_is_sent_to_it_alone(
    send: Send, scheme: str, tmp_path: Path
) -> None:
    heads: list[bytes] = []

    def refuse(head: bytes) -> bytes:
        heads.append(head)
        return response(407)

    with stand_in(refuse) as proxy:
        connection = ApiConnection(proxy=proxy.replace("//", "//user:p%40ss@"))
        exchange = sent(send(f"{scheme}://127.0.0.1:9", connection))
    assert exchange.status == (407 if scheme == "http" else None)
    assert b"proxy-authorization: basic dxnlcjpwqhnz" in heads[0].lower()
    assert "dXNlcj" not in str(exchange)
