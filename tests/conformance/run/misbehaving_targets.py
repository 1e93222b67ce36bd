"""Targets that misbehave on the wire: each a function that is given an accepted connection and the
request's number.
"""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count

from tests.conformance.scripted_target import empty_page, response

# Answers one request, whose head was read, on a connection; the connection stays open unless it
# closes it.
Behaviour = Callable[[socket.socket, int], None]

# What a client begins with that expects TLS; there is no request to read then.
TLS_RECORD = b"\x16"

BYTES_AT_ONCE = 65536


@contextmanager
def misbehaving(behave: Behaviour, *, scheme: str = "http") -> Iterator[str]:
    """A target at the yielded base URL, which ends with the block however its connections hang."""
    open_connections: list[socket.socket] = []
    numbers = count()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threads = [
            threading.Thread(target=_accept, args=(listener, behave, numbers, open_connections))
        ]
        threads[0].start()
        try:
            yield f"{scheme}://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            for one in (listener, *open_connections):
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
            threads[0].join()


def _accept(
    listener: socket.socket, behave: Behaviour, numbers: Iterator[int], opened: list[socket.socket]
) -> None:
    threads = []
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            break
        opened.append(connection)
        threads.append(threading.Thread(target=_serve, args=(connection, behave, numbers)))
        threads[-1].start()
    for connection in opened:
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
            received = _rest(connection, received)
            behave(connection, next(numbers))


def _rest(connection: socket.socket, received: bytes) -> bytes:
    """What follows the request that was received: its body is read and thrown away."""
    head, _, rest = received.partition(b"\r\n\r\n")
    lengths = [
        line.partition(b":")[2]
        for line in head.lower().split(b"\r\n")
        if line.startswith(b"content-length:")
    ]
    missing = (int(lengths[0]) if lengths else 0) - len(rest)
    while missing > 0:
        more = connection.recv(BYTES_AT_ONCE)
        if not more:
            raise StopIteration
        missing -= len(more)
        rest += more
    return b"" if missing <= 0 else rest


def says(answer: bytes) -> Behaviour:
    """The same bytes to every request."""
    return lambda connection, _: connection.sendall(answer)


def says_and_closes(answer: bytes) -> Behaviour:
    """The same bytes to every request, and then the end of the connection."""

    def behave(connection: socket.socket, _: int) -> None:
        connection.sendall(answer)
        raise StopIteration

    return behave


def says_nothing(connection: socket.socket, _: int) -> None:
    """Wait for the other side to give up."""
    while connection.recv(BYTES_AT_ONCE):
        pass
    raise StopIteration


def repeats(head: bytes, piece: bytes, pause_s: float = 0.0) -> Behaviour:
    """A beginning, and then one piece after the other indefinitely."""
    pause = threading.Event()

    def behave(connection: socket.socket, _: int) -> None:
        connection.sendall(head)
        while True:
            connection.sendall(piece)
            pause.wait(pause_s)

    return behave


def in_turn(*behaviours: Behaviour) -> Behaviour:
    """One behaviour after the other, beginning anew at the end."""
    return lambda connection, number: behaviours[number % len(behaviours)](connection, number)


def good_until(last: int, then: Behaviour) -> Behaviour:
    """Empty pages to so many requests, and another behaviour from then on."""
    good = says(empty_page(b""))
    return lambda connection, number: (good if number < last else then)(connection, number)


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
