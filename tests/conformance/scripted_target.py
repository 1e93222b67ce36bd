"""Targets whose answers a test scripts, over real sockets, byte for byte."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

# Returns the bytes that answer the head of a request; None closes the connection without an answer.
Answer = Callable[[bytes], bytes | None]


def response(status: int, body: bytes = b"{}", *headers: bytes) -> bytes:
    lines = [
        b"HTTP/1.1 %d Scripted" % status,
        b"Content-Type: application/json",
        b"Content-Length: %d" % len(body),
    ]
    return b"\r\n".join([*lines, *headers, b"", body])


def empty_page(head: bytes) -> bytes:
    """A page without content, whatever the request is; but there is no single endpoint."""
    if head.startswith(b"GET ") and b"/endpoints/" in head:
        return response(404, b'{"status":false,"message":"no such endpoint"}')
    return response(200, b'{"status":true,"message":"","data":{"content":[],"pagination":{}}}')


@contextmanager
def stand_in(answer: Answer) -> Iterator[str]:
    """A target at the yielded base URL; one request per connection."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=_accept, args=(listener, answer))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            thread.join()


@contextmanager
def closed_port() -> Iterator[str]:
    """A base URL at which nothing listens; the port stays bound, so that nothing else can."""
    with socket.socket() as bound_socket:
        bound_socket.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound_socket.getsockname()[1]}"


def _accept(listener: socket.socket, answer: Answer) -> None:
    threads = []
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            break
        threads.append(threading.Thread(target=_serve, args=(connection, answer)))
        threads[-1].start()
    for thread in threads:
        thread.join()


def _serve(connection: socket.socket, answer: Answer) -> None:
    with connection, suppress(OSError):
        connection.settimeout(20)
        received = b""
        while b"\r\n\r\n" not in received:
            more = connection.recv(65536)
            if not more:
                return
            received += more
        reply = answer(received)
        if reply is not None:
            connection.sendall(reply.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65536):
                pass
