"""Events resume after a reconnect, slow pages skip deliveries, and all streams end in time."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from itertools import count, islice
from typing import Any

import pytest
from aiohttp import ClientSession, web

from hookproof.receiver.dashboard.change_feed import ChangeFeed
from hookproof.receiver.dashboard.event_stream import EventStream
from tests.receiver.receiver_process import DEADLINE_S, receiver

Event = tuple[str, str, Any]


class StreamServer:
    """Serves a stream; `rows` are as long as `padding` makes them."""

    def __init__(
        self, *, most: int = 1000, most_pages: int = 4, padding: int = 0, heartbeat_s: float = 30.0
    ) -> None:
        epochs = count(1)
        self.feed = ChangeFeed(most_changes=most, new_epoch=lambda: f"{next(epochs):x}")
        self.padding = padding
        self.rendered = 0
        self.stream = EventStream(
            feed=self.feed,
            rows=self._rows,
            settings=lambda: {"receiver": "here"},
            most_pages=most_pages,
            heartbeat_s=heartbeat_s,
            pause_s=0,
        )
        self.address = ("", 0)
        self._protocol: web.RequestHandler | None = None

    @property
    def is_blocked(self) -> bool:
        """Whether the last response waits for the page to read."""
        return self._protocol is not None and self._protocol.writing_paused

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        self._protocol = request.protocol
        return await self.stream.serve(request)

    def _rows(self, wanted: Mapping[tuple[str, int], bool]) -> list[dict[str, object]]:
        self.rendered += len(wanted)
        return [
            {"sequence": sequence, "new": new, "p": "x" * self.padding}
            for (_, sequence), new in wanted.items()
        ]

    @property
    def url(self) -> str:
        return f"http://{self.address[0]}:{self.address[1]}/"

    @asynccontextmanager
    async def served(self) -> AsyncIterator["StreamServer"]:
        async def close(_: web.Application) -> None:
            self.feed.close()

        app = web.Application()
        app.router.add_get("/", self._serve)
        app.on_shutdown.append(close)
        runner = web.AppRunner(app, shutdown_timeout=1.0)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            self.address = runner.addresses[0]
            yield self
        finally:
            await runner.cleanup()


async def events(content: Any, number: int) -> list[Event]:
    """The next events of an open response: kind, id and data."""
    received: list[Event] = []
    fields: dict[str, str] = {}
    async with asyncio.timeout(DEADLINE_S):
        while len(received) < number:
            line = (await content.readline()).decode().rstrip("\n")
            name, _, value = line.partition(": ")
            if line and name:
                fields[name] = value
            elif not line and fields:
                received.append((fields["event"], fields["id"], json.loads(fields["data"])))
                fields = {}
    return received


def sequences(event: Event) -> list[int]:
    return [row["sequence"] for row in event[2]]


async def test_a_page_gets_what_there_is_and_then_what_arrives() -> None:
    async with StreamServer().served() as page, ClientSession(read_bufsize=2**20) as session:
        page.feed.arrived("t", 1)
        async with session.get(page.url) as answer:
            assert answer.content_type == "text/event-stream"
            started, rows = await events(answer.content, 2)
            assert started[0] == "started"
            assert started[2] == {"receiver": "here"}
            assert rows[0] == "deliveries"
            page.feed.arrived("t", 2)
            page.feed.verdicts_changed("t")
            page.feed.forgotten(["t"])
            received = await events(answer.content, 2)
            assert {kind for kind, _, _ in received} == {"forgotten", "judged"}


async def test_a_page_that_reconnects_continues_without_loss_or_repetition() -> None:
    async with StreamServer().served() as page, ClientSession(read_bufsize=2**20) as session:
        page.feed.arrived("t", 1)
        async with session.get(page.url) as answer:
            _, (_, last, _) = await events(answer.content, 2)
        page.feed.arrived("t", 2)
        page.feed.arrived("t", 3)
        async with session.get(page.url, headers={"Last-Event-ID": last}) as answer:
            (event,) = await events(answer.content, 1)
            assert (event[0], sequences(event)) == ("deliveries", [2, 3])


async def test_a_page_that_reconnects_late_gets_the_number_of_missed_deliveries() -> None:
    async with (
        StreamServer(most=10).served() as page,
        ClientSession(read_bufsize=2**20) as session,
    ):
        page.feed.arrived("t", 1)
        async with session.get(page.url) as answer:
            _, (_, last, _) = await events(answer.content, 2)
        for sequence in range(2, 102):
            page.feed.arrived("t", sequence)
        async with session.get(page.url, headers={"Last-Event-ID": last}) as answer:
            skipped, rows = await events(answer.content, 2)
            assert (skipped[0], skipped[2]) == ("skipped", {"deliveries": 90})
            assert sequences(rows) == list(range(92, 102))


@pytest.mark.parametrize("last", ["", "x", "ffff-1-1", "1-99-0", "1-0-99"])
async def test_a_page_with_an_unknown_cursor_starts_again(last: str) -> None:
    async with StreamServer().served() as page, ClientSession(read_bufsize=2**20) as session:
        page.feed.arrived("t", 1)
        async with session.get(page.url, headers={"Last-Event-ID": last}) as answer:
            started, rows = await events(answer.content, 2)
            assert (started[0], sequences(rows)) == ("started", [1])


async def test_a_page_that_does_not_read_skips_and_nothing_grows() -> None:
    async with StreamServer(most=200, padding=10_000).served() as page:
        with socket.socket() as slow:
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            slow.connect(page.address)
            slow.setblocking(False)
            loop = asyncio.get_running_loop()
            await loop.sock_sendall(slow, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            await loop.sock_recv(slow, 10)
            arrivals, quiet_turns = count(1), 0
            async with asyncio.timeout(DEADLINE_S):
                # Until the stream is blocked and renders nothing for many turns of the loop.
                while quiet_turns < 200:
                    rendered = page.rendered
                    for number in islice(arrivals, 100):
                        page.feed.arrived("t", number)
                    await asyncio.sleep(0)  # one turn, in which the stream may go on
                    is_quiet = page.is_blocked and page.rendered == rendered
                    quiet_turns = quiet_turns + 1 if is_quiet else 0
            assert page.rendered < next(arrivals) / 2
            assert len(page.feed._ring) == 200
            reader, writer = await asyncio.open_connection(sock=slow)
            received = b""
            async with asyncio.timeout(DEADLINE_S):
                while b"event: skipped" not in received:
                    received = received[-100:] + await reader.read(2**16)
            writer.close()
            await writer.wait_closed()


async def test_all_pages_end_when_the_receiver_stops() -> None:
    async with ClientSession() as session:
        async with StreamServer().served() as page:
            answer = await session.get(page.url)
            await events(answer.content, 1)
        async with asyncio.timeout(DEADLINE_S):
            result = await answer.content.read()
    assert result == b""


async def test_a_quiet_stream_sends_heartbeats() -> None:
    async with (
        StreamServer(heartbeat_s=0.01).served() as page,
        ClientSession() as session,
        session.get(page.url) as answer,
    ):
        await events(answer.content, 1)
        result = await asyncio.wait_for(answer.content.readline(), DEADLINE_S)
    assert result == b": alive\n"


async def test_too_many_pages_are_refused_and_a_page_that_left_makes_room() -> None:
    async with (
        StreamServer(most_pages=1, heartbeat_s=0.01).served() as page,
        ClientSession() as session,
    ):
        async with session.get(page.url) as first:
            await events(first.content, 1)
            async with session.get(page.url) as second:
                assert second.status == 503
                assert "close one" in await second.text()
        # The next heartbeat finds the connection closed.
        async with asyncio.timeout(DEADLINE_S):
            status = 0
            while status != 200:
                async with session.get(page.url) as again:
                    status = again.status


async def test_a_receiver_with_an_open_page_still_stops() -> None:
    async def read_until_the_end(control: str, is_open: asyncio.Event) -> None:
        async with ClientSession() as session, session.get(f"{control}/live/events") as answer:
            await events(answer.content, 1)
            is_open.set()
            await answer.content.read()

    with receiver("--http") as process:
        is_open = asyncio.Event()
        reading = asyncio.create_task(read_until_the_end(process.control, is_open))
        await asyncio.wait_for(is_open.wait(), DEADLINE_S)
        assert process.process.stdin is not None
        process.process.stdin.close()
        await asyncio.wait_for(reading, DEADLINE_S)
