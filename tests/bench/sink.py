"""The sink of the delivery benchmark: an HTTPS server that answers 200 without looking, so that it
is not the limit.

`python tests/bench/sink.py FOLDER` writes its CA to FOLDER/ca.pem, prints its address as one JSON
line and serves until its standard input closes. An empty line on standard input is answered with a
JSON line: all requests since the last one, each as the monotonic second of its arrival and the
number that its body ends with. The line `hold` makes it hang over every request, the line `go`
answers those and all that follow.
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

HOLD, GO = "hold", "go"

Arrivals = list[tuple[float, bytes]]


def numbered(number: int, size: int = 400) -> bytes:
    """A body of about `size` bytes that ends with its number."""
    return b'{"order":"paid","lines":"%b",%b%0*d}' % (
        b"x" * (size - 50),
        NUMBER,
        DIGITS,
        10**8 + number,
    )


class Tap:
    """Whether requests are answered. `held` are those who wait for an answer, None while nobody has
    to.
    """

    def __init__(self) -> None:
        self.held: list[asyncio.Transport] | None = None

    def turn(self, line: str) -> None:
        """Hold answers back, or let them go."""
        if line == HOLD:
            self.held = []
            return
        waiting, self.held = self.held or [], None
        for transport in waiting:
            if not transport.is_closing():
                transport.write(OK)


class Sink(asyncio.Protocol):
    """One connection. Clients wait for each answer, so what ends like a numbered body is the end of
    a request.
    """

    def __init__(self, arrivals: Arrivals, tap: Tap) -> None:
        self._arrived = arrivals.append
        self._clock = time.monotonic
        self._tap = tap

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._write = self._transport.write

    def data_received(self, data: bytes) -> None:
        if not data.endswith(b"}"):
            return
        if self._tap.held is not None:
            self._tap.held.append(self._transport)
        else:
            self._arrived((self._clock(), data[-TAIL:-1]))
            self._write(OK)


async def main(folder: Path) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(folder / "ca.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(HOST).configure_cert(context)
    arrivals: Arrivals = []
    tap = Tap()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: Sink(arrivals, tap), HOST, 0, ssl=context, backlog=4096
    )
    ended = asyncio.Event()

    def told() -> None:
        order = os.read(sys.stdin.fileno(), 4096).decode()
        if not order:
            loop.remove_reader(sys.stdin.fileno())
            ended.set()
        elif order.strip():
            tap.turn(order.strip())
        else:
            say([(at, int(number) - 10**8) for at, number in arrivals])
            arrivals.clear()

    loop.add_reader(sys.stdin.fileno(), told)
    say(
        {
            "url": f"https://{HOST}:{server.sockets[0].getsockname()[1]}",
            "ca": str(folder / "ca.pem"),
        }
    )
    await ended.wait()
    server.close()


def say(value: object) -> None:
    """One JSON line."""
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    uvloop.run(main(Path(sys.argv[1])))
