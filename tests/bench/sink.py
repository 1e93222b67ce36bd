"""The sink of the delivery benchmark: an HTTPS server that answers 200 without parsing the request.

It does as little as possible, so that it is not the limit. `python tests/bench/sink.py FOLDER`
writes its CA to FOLDER/ca.pem, prints its address as one JSON line and serves until its standard
input closes. It answers an empty line on standard input with a JSON line: all requests since the
last one, each as the monotonic second of its arrival and the number at the end of its body. After
the line `hold` it leaves every request unanswered, after `go` it answers those and all that follow.
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


def numbered_body(number: int, size: int = 400) -> bytes:
    """Return a body of about `size` bytes that ends with its number."""
    return b'{"order":"paid","lines":"%b",%b%0*d}' % (
        b"x" * (size - 50),
        NUMBER,
        DIGITS,
        10**8 + number,
    )


class HeldResponses:
    """The connections without a response while responses are held, otherwise None."""

    def __init__(self) -> None:
        self.waiting: list[asyncio.Transport] | None = None

    def handle_command(self, command: str) -> None:
        if command == HOLD:
            self.waiting = []
            return
        waiting, self.waiting = self.waiting or [], None
        for transport in waiting:
            if not transport.is_closing():
                transport.write(OK)


class SinkConnection(asyncio.Protocol):
    """One connection.

    Clients send one request at a time, so data that ends like a numbered body ends a request.
    """

    def __init__(self, arrivals: Arrivals, held: HeldResponses) -> None:
        self._add_arrival = arrivals.append
        self._clock = time.monotonic
        self._held = held

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._write = self._transport.write

    def data_received(self, data: bytes) -> None:
        if not data.endswith(b"}"):
            return
        if self._held.waiting is not None:
            self._held.waiting.append(self._transport)
        else:
            self._add_arrival((self._clock(), data[-TAIL:-1]))
            self._write(OK)


async def main(folder: Path) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(folder / "ca.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(HOST).configure_cert(context)
    arrivals: Arrivals = []
    held = HeldResponses()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: SinkConnection(arrivals, held), HOST, 0, ssl=context, backlog=4096
    )
    ended = asyncio.Event()

    def read_command() -> None:
        line = os.read(sys.stdin.fileno(), 4096).decode()
        if not line:
            loop.remove_reader(sys.stdin.fileno())
            ended.set()
        elif line.strip():
            held.handle_command(line.strip())
        else:
            print_json([(at, int(number) - 10**8) for at, number in arrivals])
            arrivals.clear()

    loop.add_reader(sys.stdin.fileno(), read_command)
    print_json(
        {
            "url": f"https://{HOST}:{server.sockets[0].getsockname()[1]}",
            "ca": str(folder / "ca.pem"),
        }
    )
    await ended.wait()
    server.close()


def print_json(value: object) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    uvloop.run(main(Path(sys.argv[1])))
