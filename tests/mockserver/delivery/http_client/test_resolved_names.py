"""Names are resolved once for each connection, and every address is checked: proved against a name
server of the test's own, which answers what it is told to, over UDP on loopback.
"""

import asyncio
import itertools
import socket
import struct
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from hookproof.mockserver.delivery.http_client.egress import (
    EgressGuard,
    EgressRefused,
    NameResolver,
)
from hookproof.mockserver.delivery.http_client.http1 import ConnectionFailed
from hookproof.mockserver.delivery.http_client.tls import TlsContexts
from hookproof.mockserver.delivery.http_client.transport import Transport, parse_url
from tests.mockserver.delivery.endpoints import EndpointServer, always_ok, serving

NAME = "hooks.example.org"
HERE, CLOSED, METADATA = "127.0.0.1", "10.0.0.1", "169.254.169.254"
# Loopback, where nothing listens.
SILENT = "127.0.0.99"
TIMEOUT_S = 30.0
ANSWERED, RECURSION, ONE_QUESTION, INTERNET, ADDRESS = 0x8180, 0x0100, 1, 1, 1


def query(number: int, name: str) -> bytes:
    """A question for the IPv4 addresses of a name (RFC 1035, section 4)."""
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    header = struct.pack(">6H", number, RECURSION, ONE_QUESTION, 0, 0, 0)
    return header + labels + b"\0" + struct.pack(">2H", ADDRESS, INTERNET)


def answer(question: bytes, addresses: Sequence[str]) -> bytes:
    header = question[:2] + struct.pack(">5H", ANSWERED, ONE_QUESTION, len(addresses), 0, 0)
    records = b"".join(
        b"\xc0\x0c" + struct.pack(">2HIH", ADDRESS, INTERNET, 0, 4) + socket.inet_aton(address)
        for address in addresses
    )
    return header + question[12:] + records


@dataclass(kw_only=True)
class NameServer:
    """Answers each question with the next of these lists of addresses, the last one again."""

    port: int
    answers: Sequence[Sequence[str]]
    asked: int = 0
    numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    def lookup(self, name: str) -> tuple[str, ...]:
        """Ask the server as a resolver does; blocks."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.settimeout(TIMEOUT_S)
            client.sendto(query(next(self.numbers), name), (HERE, self.port))
            reply = client.recv(512)
        (count,) = struct.unpack(">H", reply[6:8])
        return tuple(
            socket.inet_ntoa(reply[len(reply) - 16 * left + 12 :][:4])
            for left in range(count, 0, -1)
        )

    def transport(self) -> Transport:
        return Transport(EgressGuard((), NameResolver(self.lookup).addresses), TlsContexts(None))


@contextmanager
def name_server(*answers: Sequence[str]) -> Iterator[NameServer]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind((HERE, 0))
        server = NameServer(port=listener.getsockname()[1], answers=answers)

        def serve() -> None:
            while True:
                question, sender = listener.recvfrom(512)
                if not question:
                    return
                addresses = answers[min(server.asked, len(answers) - 1)]
                server.asked += 1
                listener.sendto(answer(question, addresses), sender)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield server
        finally:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
                client.sendto(b"", (HERE, server.port))
            thread.join()


async def deliver(names: NameServer, endpoint: EndpointServer, times: int = 1) -> None:
    """Send requests to the endpoint by its name, each over a connection of its own."""
    port = endpoint.url.rpartition(":")[2]
    for _ in range(times):
        transport = names.transport()
        try:
            url = parse_url(f"http://{NAME}:{port}/")
            await transport.exchange("POST", url, (), b"{}", timeout_s=TIMEOUT_S)
        finally:
            await transport.close()


def attempt(*answers: Sequence[str], times: int = 1) -> tuple[int, int, BaseException | None]:
    """How many requests arrived, how many questions were asked, and how the last one failed."""

    async def run() -> tuple[int, int, BaseException | None]:
        failure: BaseException | None = None
        with name_server(*answers) as names:
            async with serving(always_ok, None) as endpoint:
                try:
                    await deliver(names, endpoint, times)
                except (EgressRefused, ConnectionFailed) as error:
                    failure = error
                return len(endpoint.arrived), names.asked, failure

    return asyncio.run(run())


def test_a_name_that_leads_here_is_delivered_to_with_one_question() -> None:
    assert attempt([HERE]) == (1, 1, None)


@pytest.mark.parametrize("closed", [CLOSED, METADATA, "0.0.0.0", "192.168.1.1", "224.0.0.1"])
@pytest.mark.parametrize("order", [1, -1])
def test_one_closed_address_among_several_closes_the_name(closed: str, order: int) -> None:
    arrived, asked, failure = attempt([HERE, closed][::order])
    assert (arrived, asked) == (0, 1)
    assert isinstance(failure, EgressRefused)


def test_the_next_address_is_tried_where_nobody_listens_without_a_second_question() -> None:
    assert attempt([SILENT, HERE]) == (1, 1, None)


def test_a_name_that_changes_between_check_and_connection_gains_nothing() -> None:
    # A second question, for the connection itself, would be answered with a closed address.
    assert attempt([HERE], [CLOSED]) == (1, 1, None)


def test_a_name_that_leads_elsewhere_later_is_refused_then() -> None:
    arrived, asked, failure = attempt([HERE], [METADATA], times=2)
    assert (arrived, asked) == (1, 2)
    assert isinstance(failure, EgressRefused)


def test_a_name_without_an_address_is_a_failed_connection() -> None:
    arrived, asked, failure = attempt([])
    assert (arrived, asked) == (0, 1)
    assert isinstance(failure, ConnectionFailed)
