"""The receiver of a load run: `python -P -m load.sidecar --ca-dir DIR --dialect NAME`, a process of its own.

It is put together from the project's receiver, but keeps no deliveries: each is entered in `Arrivals` and forgotten.
The control API is for the run that started it and listens on loopback alone.
"""

import asyncio
import json
import os
import ssl
import sys
import threading
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import click
import uvloop
from aiohttp import web
from aiohttp.web_runner import BaseRunner

from load.arrivals import Arrivals
from load.sidecar_api import Answering, SidecarApi
from receiver.address import Address
from receiver.authority import Authority
from receiver.clock import Clock
from receiver.connection import Request, Server
from receiver.listener import VISITS
from receiver.player import ENDS, Player
from receiver.script import DEFAULT_REPLY
from spec.dialect_file import load_dialect

STOP_WITHIN_S: Final = 1.0
HOSTS: Final = ("localhost", "127.0.0.1", "::1")


class Sidecar:
    """Enters what arrives, and answers it as the run says."""

    def __init__(self, arrivals: Arrivals, answering: Answering, clock: Clock) -> None:
        self._arrivals = arrivals
        self._answering = answering
        self._clock = clock
        self._player = Player(clock)

    def server(self) -> web.Server:
        """The protocol factory to listen with; call it within the event loop."""
        return Server(self._handle, self._clock)

    async def _handle(self, request: Request) -> web.StreamResponse:
        body = request.body_at_hand()
        if body is None:
            body = await request.whole_body()
        visit = request.method in VISITS
        reply, succeeds = (DEFAULT_REPLY, True) if visit else self._answering.of(request.token)
        if not visit:
            self._arrivals.arrived(request.token, request.raw_headers, body, request.arrived, succeeded=succeeds)
        return await self._player.play(reply, request) or ENDS


async def serve(*, bind: Address, public_url: str | None, ca_dir: Path, dialect: str) -> None:
    """Listen until standard input ends; one line of JSON says where."""
    spoken, answering = load_dialect(dialect), Answering()
    attempts = spoken.retry.attempts.value if spoken.retry.attempts.decided else 0
    arrivals = Arrivals(attempts=attempts)
    names = {bind.host, urlsplit(public_url or "").hostname or bind.host, *HOSTS}
    authority, stop = Authority(ca_dir), asyncio.Event()
    threading.Thread(target=await_end_of_stdin, args=(asyncio.get_running_loop(), stop), daemon=True).start()
    async with AsyncExitStack() as stack:
        listener = web.ServerRunner(Sidecar(arrivals, answering, Clock()).server(), shutdown_timeout=STOP_WITHIN_S)
        bound = await listening(stack, listener, bind, authority.server_context(*sorted(names)))
        api = SidecarApi(arrivals=arrivals, answering=answering, dialect=spoken)
        runner = web.AppRunner(api.application(), access_log=None, shutdown_timeout=STOP_WITHIN_S)
        control = await listening(stack, runner, Address(host=HOSTS[1], port=0), None)
        ready = {"url": public_url or bound.url("https"), "control": control.url("http")}
        click.echo(json.dumps({**ready, "ca": str(authority.certificate_path)}))
        await stop.wait()


async def listening(
    stack: AsyncExitStack, runner: BaseRunner, wanted: Address, context: ssl.SSLContext | None
) -> Address:
    """Listen until the stack unwinds; the address with the port that was taken."""
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    await web.TCPSite(runner, wanted.host, wanted.port, ssl_context=context).start()
    return Address(host=wanted.host, port=runner.addresses[0][1])


def await_end_of_stdin(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    """Set the event when whoever started this process has gone."""
    while os.read(0, 2**16):
        pass
    loop.call_soon_threadsafe(stop.set)


@click.command()
@click.option("--bind", default="127.0.0.1:0")
@click.option("--public-url")
@click.option("--ca-dir", required=True, type=click.Path(path_type=Path))
@click.option("--dialect", required=True)
@click.option("--json", is_flag=True, expose_value=False)
@click.option("--until-stdin-closes", is_flag=True, expose_value=False)
def main(bind: str, public_url: str | None, ca_dir: Path, dialect: str) -> None:
    """Run the sidecar; what keeps it from starting is the last line on standard error."""
    address = Address.parse(bind)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        try:
            runner.run(serve(bind=address, public_url=public_url, ca_dir=ca_dir, dialect=dialect))
        except OSError as error:
            click.echo(f"cannot listen on {bind}: {error.strerror or error}", err=True)
            sys.exit(1)


if __name__ == "__main__":
    main()
