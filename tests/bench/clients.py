"""Compares HTTP clients: deliveries per second to the same sink, 64 at once over kept connections.

`python -m tests.bench.clients` runs each client in a separate process pinned to one core, with the
sink on the other; the clients take turns over several rounds. A client that is not installed is
listed as such: `pip install pyreqwest primp` adds the two that are written in Rust.
"""

import argparse
import asyncio
import importlib.util
import ssl
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from itertools import repeat
from pathlib import Path
from typing import Any, Final

import aiohttp
import uvloop

from hookproof.mockserver.delivery.http_client.egress import EgressGuard
from hookproof.mockserver.delivery.http_client.tls import TlsContexts
from hookproof.mockserver.delivery.http_client.transport import Transport, parse_url
from tests.bench.deliveries import running_sink
from tests.bench.machine import SERVER_CORE
from tests.bench.rounds import RoundFigures, keep_rounds
from tests.bench.sender import IN_FLIGHT
from tests.bench.sink import numbered_body

BODY: Final = numbered_body(1)
HEADERS: Final = {
    "Content-Type": "application/json",
    "X-Webhook-Event-Id": "event-000000001",
    "X-Webhook-Signature": f"t=1800000000,v1={'0' * 64}",
}
WARM_UP: Final = 0.2
Post = Callable[[], Awaitable[object]]


async def aiohttp_client(stack: AsyncExitStack, url: str, ca: str) -> Post:
    connector = aiohttp.TCPConnector(limit=IN_FLIGHT, ssl=ssl.create_default_context(cafile=ca))
    session = await stack.enter_async_context(aiohttp.ClientSession(connector=connector))

    async def post() -> None:
        async with session.post(url, data=BODY, headers=HEADERS) as response:
            await response.read()

    return post


async def engine_protocol(stack: AsyncExitStack, url: str, ca: str) -> Post:
    transport = Transport(EgressGuard(), TlsContexts(ca))
    parsed, headers = parse_url(url), tuple(HEADERS.items())
    stack.push_async_callback(transport.close)
    return lambda: transport.exchange("POST", parsed, headers, BODY, timeout_s=10.0)


async def httpx_client(stack: AsyncExitStack, url: str, ca: str) -> Post:
    import httpx

    context = ssl.create_default_context(cafile=ca)
    limits = httpx.Limits(max_connections=IN_FLIGHT, max_keepalive_connections=IN_FLIGHT)
    client = await stack.enter_async_context(httpx.AsyncClient(verify=context, limits=limits))
    return lambda: client.post(url, content=BODY, headers=HEADERS)


async def pyreqwest_client(stack: AsyncExitStack, url: str, ca: str) -> Post:
    from pyreqwest.client import ClientBuilder  # type: ignore[import-not-found,unused-ignore]

    authority = await asyncio.to_thread(Path(ca).read_bytes)
    builder = ClientBuilder().add_root_certificate_pem(authority).max_connections(IN_FLIGHT)
    client: Any = await stack.enter_async_context(builder.build())

    async def post() -> None:
        response = await client.post(url).headers(HEADERS).body_bytes(BODY).build().send()
        await response.bytes()

    return post


async def primp_client(stack: AsyncExitStack, url: str, ca: str) -> Post:
    import primp  # type: ignore[import-not-found,unused-ignore]

    client: Any = primp.AsyncClient(ca_cert_file=ca)

    async def post() -> None:
        response = await client.post(url, content=BODY, headers=HEADERS)
        _ = response.status_code

    return post


CLIENTS: Final[dict[str, tuple[str, Callable[[AsyncExitStack, str, str], Awaitable[Post]]]]] = {
    "aiohttp": ("aiohttp", aiohttp_client),
    "the engine's protocol": ("hookproof.mockserver", engine_protocol),
    "httpx": ("httpx", httpx_client),
    "pyreqwest (Rust)": ("pyreqwest", pyreqwest_client),
    "primp (Rust)": ("primp", primp_client),
}


async def post_repeatedly(name: str, url: str, ca: str, count: int) -> None:
    async with AsyncExitStack() as stack:
        post = await CLIENTS[name][1](stack, f"{url}/0", ca)
        jobs = iter(repeat(None, count))

        async def work() -> None:
            for _ in jobs:
                await post()

        await asyncio.gather(*(work() for _ in range(IN_FLIGHT)))


def compare(rounds: int, count: int) -> dict[str, list[float]]:
    """Return the deliveries per second of each installed client, round by round."""
    installed = [
        name
        for name, (module, _) in CLIENTS.items()
        if importlib.util.find_spec(module) is not None
    ]
    rates: dict[str, list[float]] = {name: [] for name in installed}
    with tempfile.TemporaryDirectory() as folder, running_sink(folder) as sink:
        for _ in range(rounds):
            for name in installed:
                command = [
                    "taskset",
                    "-c",
                    SERVER_CORE,
                    sys.executable,
                    "-m",
                    "tests.bench.clients",
                    "--client",
                    name,
                ]
                subprocess.run([*command, "--count", str(count), *sink.options], check=True)
                arrivals = sink.arrivals()
                times = [at for at, _ in arrivals[int(len(arrivals) * WARM_UP) :]]
                rates[name].append((len(times) - 1) / (times[-1] - times[0]))
    return rates


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--client", choices=CLIENTS)
    parser.add_argument("--url")
    parser.add_argument("--ca")
    options = parser.parse_args()
    if options.client:
        uvloop.run(post_repeatedly(options.client, options.url, options.ca, options.count))
        return
    rounds = compare(options.rounds, options.count)
    rates = {name: statistics.median(each) for name, each in rounds.items()}
    for name in CLIENTS:
        result = (
            f"{rates[name]:>8,.0f}/s {rates[name] / rates['aiohttp']:>6.2f}"
            if name in rates
            else "not installed"
        )
        print(f"{name:24} {result}")
    keep_rounds(
        "clients",
        {
            name: RoundFigures(
                rounds=[one / bare for one, bare in zip(each, rounds["aiohttp"], strict=True)]
            )
            for name, each in rounds.items()
            if name != "aiohttp"
        },
    )


if __name__ == "__main__":
    main()
