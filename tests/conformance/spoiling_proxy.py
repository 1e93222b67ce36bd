"""A proxy in front of a target that spoils what passes through it."""

import http.client
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any
from urllib.parse import urlsplit

# Headers that belong to one connection (RFC 9110, 7.6.1), and the length, which may change.
OF_A_CONNECTION = frozenset({"connection", "content-length", "host", "keep-alive"})


@dataclass(frozen=True, kw_only=True)
class ProxyAnswer:
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


# What becomes of the answer to the request with this number, which counts from 0; None closes the
# connection. `fetch` passes the request on.
Spoil = Callable[[int, Callable[[], ProxyAnswer]], ProxyAnswer | None]


# What answers a request with this path and body in the place of the server, if anything does.
Refuse = Callable[[str, bytes], ProxyAnswer | None]


@contextmanager
def refusing_proxy(upstream: str, refuse: Refuse) -> Iterator[str]:
    """The base URL of a proxy that answers some requests itself and spoils nothing else."""
    with spoiling_proxy(upstream, lambda _, fetch: fetch(), refuse=refuse) as url:
        yield url


@contextmanager
def spoiling_proxy(
    upstream: str, spoil: Spoil, *, refuse: Refuse = lambda _path, _body: None
) -> Iterator[str]:
    """The proxy's base URL, in front of the server at the base URL `upstream`."""
    numbers = count()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_one_request(self) -> None:
            with suppress(ConnectionError):
                super().handle_one_request()

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            answer = refuse(self.path, body) or spoil(
                next(numbers), lambda: fetch(upstream, self, body)
            )
            if answer is None:
                self.close_connection = True
                return
            self.send_response_only(answer.status)
            for name, value in (*answer.headers, ("Content-Length", str(len(answer.body)))):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, *_: Any) -> None:
            pass

    for method in ("DELETE", "OPTIONS", "PATCH", "POST", "PUT"):
        setattr(Handler, f"do_{method}", Handler.do_GET)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def fetch(upstream: str, request: BaseHTTPRequestHandler, body: bytes) -> ProxyAnswer:
    """Pass a request on; closes the connection of a sender whose request has no answer."""
    connection = http.client.HTTPConnection(urlsplit(upstream).netloc, timeout=30)
    try:
        connection.putrequest(request.command, request.path, skip_accept_encoding=True)
        for name, value in request.headers.items():
            if name.lower() not in OF_A_CONNECTION - {"content-length"}:
                connection.putheader(name, value)
        connection.endheaders(body)
        response = connection.getresponse()
        kept = [
            (name, value)
            for name, value in response.getheaders()
            if name.lower() not in OF_A_CONNECTION
        ]
        return ProxyAnswer(status=response.status, headers=tuple(kept), body=response.read())
    except (OSError, http.client.HTTPException) as error:
        raise ConnectionAbortedError from error
    finally:
        connection.close()
