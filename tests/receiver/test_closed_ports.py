"""Ports at which senders are refused a connection until they are opened."""

import asyncio
import socket
import ssl
from urllib.parse import urlsplit

import pytest

from hookproof.receiver.client.control_api import ReceiverFailed
from hookproof.receiver.closed_ports import MOST_PORTS, ClosedPorts, TooManyPorts, UnknownPort
from tests.receiver.receiver_process import DEADLINE_S, empty_post, receiver


def test_a_reserved_port_refuses_senders_until_it_is_opened() -> None:
    with receiver("--tls-faults") as process:
        token = process.new_token()
        reserved = process.call(lambda client: client.reserve_port())
        where = urlsplit(reserved.url)
        address = (str(where.hostname), reserved.port)
        assert (where.scheme, where.port) == ("https", reserved.port)
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address, timeout=DEADLINE_S).close()
        process.call(lambda client: client.open_port(reserved.port))
        context = ssl.create_default_context(cafile=process.ca)
        with (
            socket.create_connection(address, timeout=DEADLINE_S) as plain,
            context.wrap_socket(plain, server_hostname=where.hostname) as secured,
        ):
            secured.sendall(empty_post(token))
            assert secured.recv(100).startswith(b"HTTP/1.1 200 ")
        assert len(process.call(lambda client: client.deliveries(token))) == 1
        with pytest.raises(ReceiverFailed, match="is not reserved, or is open"):
            process.call(lambda client: client.open_port(reserved.port))


def test_a_reserved_port_is_at_the_host_of_the_public_url() -> None:
    with receiver("--tls-faults", "--public-url", "https://hooks.example.org:8443") as process:
        reserved = process.call(lambda client: client.reserve_port())
        assert reserved.url == f"https://hooks.example.org:{reserved.port}"


def test_a_receiver_with_one_port_says_how_to_start_it() -> None:
    with receiver() as process:
        with pytest.raises(ReceiverFailed, match="start it with --tls-faults"):
            process.call(lambda client: client.reserve_port())
        with pytest.raises(ReceiverFailed, match="the port 99999 is not reserved"):
            process.call(lambda client: client.open_port(99999))


def test_no_more_ports_are_reserved_than_a_machine_can_spare() -> None:
    async def ignore(_reserved: socket.socket) -> None:
        raise AssertionError

    ports = ClosedPorts("127.0.0.1", ignore)
    try:
        assert len({ports.reserve() for _ in range(MOST_PORTS)}) == MOST_PORTS
        with pytest.raises(TooManyPorts):
            ports.reserve()
    finally:
        ports.close()
    with pytest.raises(UnknownPort):
        asyncio.run(ports.open(1))
