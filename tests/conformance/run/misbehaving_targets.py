"""Targets that misbehave on the wire. Each is a function of an accepted connection, and of the
number, which counts from 0, and the head of a request.
"""

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count

from tests.conformance.scripted_target import empty_page, response

# Answers one request, whose head was read; StopIteration closes the connection.
Behaviour = Callable[[socket.socket, int, bytes], None]

# The first byte from a client that expects TLS; there is no request to read then.
TLS_RECORD = b"\x16"

BYTES_AT_ONCE = 65536


@contextmanager
def misbehaving(behave: Behaviour, *, scheme: str = "http") -> Iterator[str]:
    """A target at the yielded base URL, which ends with the block however its connections hang."""
    open_connections: list[socket.socket] = []
    numbers = count()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(
            target=_accept, args=(listener, behave, numbers, open_connections)
        )
        thread.start()
        try:
            yield f"{scheme}://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            for open_socket in (listener, *open_connections):
                with suppress(OSError):
                    open_socket.shutdown(socket.SHUT_RDWR)
            thread.join()


def _accept(
    listener: socket.socket,
    behave: Behaviour,
    numbers: Iterator[int],
    open_connections: list[socket.socket],
) -> None:
    threads = []
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            break
        open_connections.append(connection)
        threads.append(threading.Thread(target=_serve, args=(connection, behave, numbers)))
        threads[-1].start()
    for connection in open_connections:
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
    for thread in threads:
        thread.join()


def _serve(connection: socket.socket, behave: Behaviour, numbers: Iterator[int]) -> None:
    with connection, suppress(OSError, ssl.SSLError, StopIteration):
        received = b""
        while True:
            while b"\r\n\r\n" not in received and not received.startswith(TLS_RECORD):
                more = connection.recv(BYTES_AT_ONCE)
                if not more:
                    return
                received += more
            head = received.partition(b"\r\n\r\n")[0]
            received = _rest(connection, received)
            behave(connection, next(numbers), head)


def _rest(connection: socket.socket, received: bytes) -> bytes:
    """Read the body of the request and discard it; returns the bytes after it."""
    head, _, rest = received.partition(b"\r\n\r\n")
    lengths = [
        line.partition(b":")[2]
        for line in head.lower().split(b"\r\n")
        if line.startswith(b"content-length:")
    ]
    length = int(lengths[0]) if lengths else 0
    while len(rest) < length:
        more = connection.recv(BYTES_AT_ONCE)
        if not more:
            raise StopIteration
        rest += more
    return rest[length:]


def says(answer: bytes) -> Behaviour:
    """The same bytes to every request."""
    return lambda connection, _number, _head: connection.sendall(answer)


def says_and_closes(answer: bytes) -> Behaviour:
    """The same bytes to every request, and then the end of the connection."""

    def behave(connection: socket.socket, _number: int, _head: bytes) -> None:
        connection.sendall(answer)
        raise StopIteration

    return behave


def empty_pages(connection: socket.socket, _number: int, head: bytes) -> None:
    """An empty page to whatever is asked, but a refusal where there is no such thing."""
    connection.sendall(empty_page(head + b"\r\n\r\n"))


def says_nothing(connection: socket.socket, _number: int, _head: bytes) -> None:
    """Wait for the other side to give up."""
    while connection.recv(BYTES_AT_ONCE):
        pass
    raise StopIteration


def repeats(head: bytes, piece: bytes, pause_s: float = 0.0) -> Behaviour:
    """A beginning, and then one piece after the other indefinitely, with a pause after each."""

    def behave(connection: socket.socket, _number: int, _head: bytes) -> None:
        connection.sendall(head)
        while True:
            connection.sendall(piece)
            time.sleep(pause_s)  # plays a slow target

    return behave


def in_turn(*behaviours: Behaviour) -> Behaviour:
    """One behaviour after the other, beginning again at the end."""

    def behave(connection: socket.socket, number: int, head: bytes) -> None:
        behaviours[number % len(behaviours)](connection, number, head)

    return behave


def closing(behave: Behaviour) -> Behaviour:
    """A behaviour, and then the end of the connection."""

    def behave_and_close(connection: socket.socket, number: int, head: bytes) -> None:
        behave(connection, number, head)
        raise StopIteration

    return behave_and_close


def good_until(last: int, then: Behaviour) -> Behaviour:
    """Empty pages to so many requests, and another behaviour from then on."""

    def behave(connection: socket.socket, number: int, head: bytes) -> None:
        current = empty_pages if number < last else then
        current(connection, number, head)

    return behave


OPEN_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
)
CHUNK = b"10000\r\n" + b" " * 65536 + b"\r\n"
MOVED = b"HTTP/1.1 302 Found\r\nLocation: /api/v1/elsewhere\r\nContent-Length: 0\r\n\r\n"
PAGE = response(200, b"<html><body>Welcome</body></html>").replace(
    b"application/json", b"text/html"
)
HUGE_HEADER = b"HTTP/1.1 200 OK\r\nX-Huge: " + b"x" * 1_000_000 + b"\r\nContent-Length: 2\r\n\r\n{}"
HALF = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
DEEP = response(200, b'{"data":' + b"[" * 100_000 + b"]" * 100_000 + b"}")
