"""Hostile requests: kinds listed here, and invalid ones that schemathesis generates."""

import random
from collections.abc import Sequence
from typing import Final

from hookproof.conformance.generation.generators import GeneratedRequest, RequestGenerators
from hookproof.spec.contract.service_contract import Operation, contract_for
from hookproof.spec.dialect.reader import load_dialect

KEY: Final = "hostile-key"
# Broadcasts go to a project without endpoints: one that is accepted by mistake reaches none.
PROJECT: Final = "demo"
BROADCAST_PROJECT: Final = "events"

ENDPOINTS: Final = b"/api/v1/projects/demo/endpoints"
PATHS: Final = (
    ENDPOINTS,
    ENDPOINTS + b"/x/expire_secret",
    b"/api/v1/projects/demo/portal-links/x",
    b"/api/v1/projects/demo/portal-links?perPage=9&sort=ASC&next_page_cursor=abc",
    b"/api/v1/projects/demo/sources?type=%ff&provider=%00",
    b"/api/v1/projects/demo/events/broadcast",
    b"/api/v1/projects/%2e%2e/demo/..%2Fsources",
    b"/../../etc/passwd",
    b"//",
    b"*",
)
# The headers of a request that the server would accept.
VALID_HEADERS: Final = (b"Host: x", b"Connection: close", b"Authorization: Bearer " + KEY.encode())
METHODS: Final = (
    b"GET",
    b"POST",
    b"PUT",
    b"DELETE",
    b"HEAD",
    b"OPTIONS",
    b"TRACE",
    b"PATCH",
    b"CONNECT",
    b"BREW",
)
BODIES: Final = (
    b"",
    b"{",
    b"[" * 10_000 + b"]" * 10_000,
    b'{"a":' * 10_000,
    b'{"name": "x", "url": "https://a.invalid/", "rate_limit": 1e999}',
    b'{"name": "x", "url": "https://a.invalid/", "rate_limit": 123456789012345678901234567890}',
    b'{"name": "x", "url": "https://a.invalid/", "name": "y"}',
    b'{"name": "\\ud800", "url": "https://a.invalid/"}',
    b'{"name": "\\u0000", "url": "https://a.invalid/"}',
    b'{"name": "x", "url": "http://a.invalid/"}',
    b'{"event_type": 1, "data": {}, "custom_headers": {"a\\r\\nb": "c"}}',
    b"\xff\xfe{\x00}\x00",
    b'{"name": "' + b"x" * 100_000 + b'", "url": 1}',
    b"9" * 10_000,
)
HEADERS: Final = (
    b"Content-Type: application/json",
    b"Content-Type: text/plain",
    b"Content-Type: application/json; charset=utf-16",
    b"Content-Encoding: gzip",
    b"Transfer-Encoding: chunked",
    b"Expect: 100-continue",
    b"X-HTTP-Method-Override: DELETE",
    b"Upgrade: websocket\r\nConnection: Upgrade",
    b"Cookie: " + b"c=d; " * 500,
    b"X: " + b"y" * 20_000,
    b"Bad Header: x",
    b"Content-Length: 99999999999",
    b"Content-Length: -1",
)

LISTED_SHARE: Final = 0.5
DAMAGED_SHARE: Final = 0.5


class HostileRequests:
    """Chooses requests, each as bytes for a connection of its own."""

    def __init__(self, generated: Sequence[bytes]) -> None:
        self._generated = generated

    @classmethod
    async def generate(cls, *, dialect: str, examples: int) -> "HostileRequests":
        """Keep the invalid ones of so many examples per operation; valid ones would be stored."""
        contract = contract_for(load_dialect(dialect))
        async with RequestGenerators() as generators:
            requests = generators.requests(contract.document, seed=0, examples=examples)
            return cls(
                [
                    encode_request(contract.operations[request.operation_id], request)
                    async for request in requests
                    if not request.valid
                ]
            )

    def choose(self, rng: random.Random) -> bytes:
        """Return a listed or a generated request, possibly damaged."""
        request = choose_listed(rng) if rng.random() < LISTED_SHARE else rng.choice(self._generated)
        return damage(request, rng) if rng.random() < DAMAGED_SHARE else request


def choose_listed(rng: random.Random) -> bytes:
    """Return a request of the parts listed above.

    Most have a valid key and a valid length, so that they pass the first checks of the server.
    """
    body = rng.choice(BODIES)
    headers = list(VALID_HEADERS) + rng.sample(HEADERS, rng.choice((0, 0, 1, 2)))
    if rng.random() < 0.7:
        headers += [b"Content-Type: application/json", b"Content-Length: %d" % len(body)]
    return b"%b %b HTTP/1.1\r\n%b\r\n\r\n%b" % (
        rng.choice(METHODS),
        rng.choice(PATHS),
        b"\r\n".join(headers),
        body,
    )


def encode_request(operation: Operation, request: GeneratedRequest) -> bytes:
    target = operation.path.replace(
        "{projectID}", BROADCAST_PROJECT if "broadcast" in operation.path else PROJECT
    )
    for name, text in request.path_parameters.items():
        target = target.replace(f"{{{name}}}", text)
    target += f"?{request.query}" if request.query else ""
    own_headers = [f"{name}: {text}".encode("latin-1", "replace") for name, text in request.headers]
    content = request.content or b""
    headers = [*VALID_HEADERS, *own_headers, b"Content-Length: %d" % len(content)]
    line = f"{operation.method.upper()} {target} HTTP/1.1".encode("latin-1", "replace")
    return b"%b\r\n%b\r\n\r\n%b" % (line, b"\r\n".join(headers), content)


def damage(request: bytes, rng: random.Random) -> bytes:
    """Return the request with a few bytes removed or changed somewhere."""
    place = rng.randrange(len(request))
    end = min(len(request), place + rng.choice((0, 1, 4)))
    return request[:place] + rng.choice((b"", b"\x00", b"\xff", rng.randbytes(3))) + request[end:]
