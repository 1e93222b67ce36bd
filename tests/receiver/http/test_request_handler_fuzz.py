"""No bytes crash the receiver: whatever a sender writes, the next delivery is received."""

import asyncio
import contextlib
import random
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookproof.receiver.app import ReceiverConfiguration, run_receiver
from hookproof.receiver.client.control_api import ReceiverClient
from hookproof.receiver.http.address import Address
from tests.receiver.receiver_process import DEADLINE_S

ANY_PORT = Address(host="127.0.0.1", port=0)
HTTP = ReceiverConfiguration(
    bind=ANY_PORT, control=ANY_PORT, tls=False, authority_folder=None, public_url=None
)
GOOD = b"POST /good HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}"

pieces = st.sampled_from(
    [
        b"POST /t HTTP/1.1\r\n",
        b"GET http://x/t HTTP/1.1\r\n",
        b"OPTIONS * HTTP/1.1\r\n",
        b"CONNECT t:1 HTTP/1.1\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"Host: x\r\n",
        b"Content-Length: 5\r\n",
        b"Content-Length: -1\r\n",
        b"Content-Length: 99999999999999999999\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"Expect: 100-continue\r\n",
        b"Upgrade: websocket\r\nConnection: upgrade\r\n",
        b"Connection: close\r\n",
        b"X: \xff\x00\r\n",
        b" folded\r\n",
        b"\r\n",
        b"5\r\nhello\r\n",
        b"0\r\n\r\n",
        b"ffffffffffffffff\r\n",
        b"\x16\x03\x01\x02\x00\x01",
    ]
)
part_lists = st.lists(pieces | st.binary(max_size=30), max_size=12)


async def write_parts(port: int, parts: list[bytes], *, end: bool = False) -> None:
    """Write the parts and read to the end; `end` closes the sending half first.

    The receiver may cut the connection at any time.
    """
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    with contextlib.suppress(ConnectionError):
        for part in parts:
            writer.write(part)
            await writer.drain()
        if end:
            writer.write_eof()
        await asyncio.wait_for(reader.read(), DEADLINE_S)
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(part_lists, min_size=20, max_size=40))
def test_arbitrary_bytes_never_take_the_receiver_down(senders: list[list[bytes]]) -> None:
    async def run() -> None:
        async with run_receiver(HTTP) as receiver, ReceiverClient(receiver.control) as client:
            port = int(receiver.url.rsplit(":", 1)[1])
            await asyncio.gather(*(write_parts(port, parts, end=True) for parts in senders))
            await write_parts(port, [GOOD])
            deliveries = await client.deliveries("good", 1)
            assert deliveries[-1].body == b"{}"

    asyncio.run(run())


async def test_requests_that_came_in_one_read_have_one_time_of_arrival_and_later_ones_a_later() -> (
    None
):
    async with run_receiver(HTTP) as receiver, ReceiverClient(receiver.control) as client:
        port = int(receiver.url.rsplit(":", 1)[1])
        request = b"POST /t HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        last = request.replace(b"Host: x", b"Host: x\r\nConnection: close")
        writer.write(request * 3)
        await client.deliveries("t", 3)
        between = time.monotonic()
        writer.write(last)
        deliveries = await client.deliveries("t", 4)
        assert len({delivery.arrived_monotonic for delivery in deliveries[:3]}) == 1
        assert deliveries[2].arrived_monotonic < between < deliveries[3].arrived_monotonic
        answers = await asyncio.wait_for(reader.read(), DEADLINE_S)
        assert answers.count(b"HTTP/1.1 200 OK\r\n") == 4
        writer.close()
        await writer.wait_closed()


@pytest.mark.parametrize("seed", range(3))
async def test_a_busy_receiver_counts_every_request(seed: int) -> None:
    rng = random.Random(seed)

    async with run_receiver(HTTP) as receiver, ReceiverClient(receiver.control) as client:
        port = int(receiver.url.rsplit(":", 1)[1])
        counts = [rng.randint(1, 60) for _ in range(20)]
        request = b"POST /t HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"
        last = request.replace(b"Host: x", b"Host: x\r\nConnection: close")
        await asyncio.gather(*(write_parts(port, [request] * count + [last]) for count in counts))
        deliveries = await client.deliveries("t", sum(counts) + 20)
        assert [delivery.sequence for delivery in deliveries] == list(range(1, sum(counts) + 21))
        rate = await client.rate("t", 3600.0)
        assert (rate.highest, rate.total) == (len(deliveries), len(deliveries))
