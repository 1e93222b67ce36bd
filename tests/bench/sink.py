"""The sink of the delivery benchmark: an HTTPS server that answers 200 without looking, so that it is not the limit.

`python tests/bench/sink.py FOLDER` writes its CA to FOLDER/ca.pem, prints its address as one JSON line and serves until
its standard input closes. A line on standard input is answered with a JSON line: all requests since the last one, each
as the monotonic second of its arrival and the number that its body ends with.
"""

import asyncio
import json
import os
import ssl
import sys
import time
from pathlib import Path
from typing import Final, cast

import trustme
import uvloop

OK: Final = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK"
NUMBER: Final = b'"number":'
DIGITS: Final = 9
TAIL: Final = DIGITS + 1
HOST: Final = "127.0.0.1"

Arrivals = list[tuple[float, bytes]]


def numbered(number: int, size: int = 400) -> bytes:
    """A body of about `size` bytes that ends with its number."""
    return b'{"order":"paid","lines":"%b",%b%0*d}' % (b"x" * (size - 50), NUMBER, DIGITS, 10**8 + number)


class Sink(asyncio.Protocol):
    """One connection. Clients wait for each answer, so what ends like a numbered body is the end of a request."""

    def __init__(self, arrivals: Arrivals) -> None:
        self._arrived = arrivals.append
        self._clock = time.monotonic

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._write = cast("asyncio.Transport", transport).write

    def data_received(self, data: bytes) -> None:
        if data.endswith(b"}"):
            self._arrived((self._clock(), data[-TAIL:-1]))
            self._write(OK)


async def main(folder: Path) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(folder / "ca.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(HOST).configure_cert(context)
    arrivals: Arrivals = []
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Sink(arrivals), HOST, 0, ssl=context, backlog=4096)
    ended = asyncio.Event()

    def told() -> None:
        if not os.read(sys.stdin.fileno(), 4096):
            loop.remove_reader(sys.stdin.fileno())
            ended.set()
            return
        say([(at, int(number) - 10**8) for at, number in arrivals])
        arrivals.clear()

    loop.add_reader(sys.stdin.fileno(), told)
    say({"url": f"https://{HOST}:{server.sockets[0].getsockname()[1]}", "ca": str(folder / "ca.pem")})
    await ended.wait()
    server.close()


def say(value: object) -> None:
    """One JSON line."""
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    uvloop.run(main(Path(sys.argv[1])))
