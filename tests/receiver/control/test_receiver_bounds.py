"""The control listener bounds what one client can make it hold: bytes, and connections."""

import asyncio
import contextlib
import json
from pathlib import Path

import pytest
from aiohttp import web

from hookproof.control.runner import ControlRunner
from hookproof.receiver.control.json_exchange import errors_as_json, json_response, read_body
from tests.receiver.receiver_process import ReceiverProcess, receiver

MIB = 2**20
BODY = b"x" * (16 * MIB)
COUNT = 5
# What a receiver holds of 80 MiB of bodies, in memory, with an answer under way.
MOST_MEMORY = 400 * MIB
# In seconds; the tests wait for what happens after this time, however late.
IDLE_S = 0.3
DEADLINE_S = 60.0


def peak_memory(process: ReceiverProcess) -> int:
    """The most memory that a process has had, in bytes."""
    status = Path(f"/proc/{process.process.pid}/status").read_text("ascii")
    (peak,) = (line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(peak) * 1024


def test_a_page_of_large_deliveries_is_bounded_and_the_pages_hold_all() -> None:
    with receiver("--http", forked=False) as running:
        for number in range(COUNT):
            assert running.post("/t", BODY[number:]).startswith(b"HTTP/1.1 200 ")
        status, text = running.call_over_http("GET", f"/tokens/t/deliveries?limit={COUNT}")
        page = json.loads(text)
        assert (status, len(page["deliveries"]), page["more"]) == (200, 1, True)
        kept = running.call(lambda client: client.deliveries("t", COUNT))
        assert [len(delivery.body) for delivery in kept] == [len(BODY) - n for n in range(COUNT)]
        assert peak_memory(running) < MOST_MEMORY


def test_small_deliveries_are_one_page() -> None:
    with receiver("--http") as running:
        for _ in range(COUNT):
            running.post("/t", b"small")
        _, text = running.call_over_http("GET", "/tokens/t/deliveries")
        page = json.loads(text)
        assert (len(page["deliveries"]), page["more"]) == (COUNT, False)


def test_tokens_are_paged() -> None:
    with receiver("--http") as running:
        for number in range(COUNT):
            running.post(f"/t{number}", b"small")
        pages = []
        for after in (0, 2, 4):
            _, text = running.call_over_http("GET", f"/tokens?limit=2&after={after}")
            pages.append(json.loads(text))
        assert [[each["token"] for each in page["tokens"]] for page in pages] == [
            ["t0", "t1"],
            ["t2", "t3"],
            ["t4"],
        ]
        assert [page["more"] for page in pages] == [True, True, False]
        assert running.call_over_http("GET", "/tokens?limit=1001")[0] == 400


async def _slow(request: web.Request) -> web.Response:
    await asyncio.sleep(4 * IDLE_S)  # what the test is about: a request that takes its time
    return json_response("done")


async def _upload(request: web.Request) -> web.Response:
    return json_response(await read_body(request, str))


async def _raw(request: web.Request) -> web.Response:
    return web.Response(body=await request.read())


async def _answer_to(*pieces: bytes) -> bytes:
    """What a listener answers to these pieces, sent one by one, until it closes."""
    application = web.Application(middlewares=[errors_as_json])
    application.add_routes(
        [web.get("/slow", _slow), web.post("/upload", _upload), web.post("/raw", _raw)]
    )
    runner = ControlRunner(application, idle_s=IDLE_S, body_within_s=IDLE_S)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", runner.addresses[0][1])
        try:
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
            async with asyncio.timeout(DEADLINE_S):
                return await reader.read()
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()
    finally:
        await runner.cleanup()


@pytest.mark.parametrize(
    "pieces",
    [(), (b"GET /slow HT",), (b"GET /slow HTTP/1.1\r\n", b"Host: x\r\n")],
    ids=["nothing", "half a line", "half a head"],
)
def test_a_connection_without_a_whole_head_is_closed(pieces: tuple[bytes, ...]) -> None:
    assert asyncio.run(_answer_to(*pieces)) == b""


def test_a_request_that_takes_its_time_is_answered_and_the_connection_closed_later() -> None:
    answer = asyncio.run(_answer_to(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n"))
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.endswith(b'"done"')


@pytest.mark.parametrize("path", [b"upload", b"raw", b"nowhere"])
def test_a_body_that_does_not_come_is_refused(path: bytes) -> None:
    head = b"POST /%b HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 10\r\n\r\n"
    answer = asyncio.run(_answer_to(head % path, b'"ha'))
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"the body did not arrive within" in answer


def test_a_body_that_comes_in_pieces_is_read() -> None:
    head = b"POST /raw HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 4\r\n\r\n"
    assert asyncio.run(_answer_to(head, b"ha", b"lf")).endswith(b"half")


def test_another_version_of_http_is_refused_and_the_connection_closed() -> None:
    async def pong(_: web.Request) -> web.Response:
        return web.Response(text="pong")

    async def answer() -> bytes:
        app = web.Application()
        app.router.add_get("/", pong)
        runner = ControlRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        _, port = runner.addresses[0][:2]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            writer.write(b"GET / HTTP/2.0\r\nHost: x\r\n\r\n")
            async with asyncio.timeout(DEADLINE_S):
                return await reader.read()
        finally:
            writer.close()
            await runner.cleanup()

    assert asyncio.run(answer()).split()[1] == b"505"
