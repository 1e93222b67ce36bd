"""The receiver of a load run, a process of its own.

    python -P -m hookproof.load.sidecar.process --ca-dir DIR --dialect NAME

It is composed of parts of the project's receiver but keeps no deliveries: each is recorded in
`Arrivals` and dropped. The control API is for the run that started it and listens on loopback only.
"""

import asyncio
import json
import ssl
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

import click
import uvloop
from aiohttp import web

from hookproof.control.runner import ControlRunner
from hookproof.control.same_origin import guard, own_names
from hookproof.load.metrics import MetricsProblem, serve_metrics
from hookproof.load.sidecar.api import EndpointReplies, OwnLoad, SidecarApi, attempts_in
from hookproof.load.sidecar.arrivals import Arrivals
from hookproof.load.sidecar.receiver_metrics import receiver_figures
from hookproof.process.exit_codes import ExitCode
from hookproof.process.lateness import LatenessMeter
from hookproof.process.messages import print_document, print_line, print_text
from hookproof.process.standard_streams import UNTIL_STDIN_CLOSES, call_at_end_of_input
from hookproof.process.system_resources import raise_descriptor_limit
from hookproof.receiver.clock import Clock
from hookproof.receiver.control.json_exchange import refusal
from hookproof.receiver.http.address import Address, listener_names
from hookproof.receiver.http.authority import Authority, AuthorityProblem
from hookproof.receiver.http.connection import PendingReply, SenderConnection
from hookproof.receiver.http.reply_bytes import default_answer
from hookproof.receiver.http.reply_sender import ReplySender
from hookproof.receiver.http.request import ReceivedRequest
from hookproof.receiver.http.request_handler import VISITS
from hookproof.receiver.http.server import STOP_WITHIN_S, listen
from hookproof.receiver.replies.script import DEFAULT_REPLY, Reply
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.reader import load_dialect

BODY_WITHIN_S: Final = 60.0
LOOPBACK: Final = "127.0.0.1"


class Sidecar:
    """Records what arrives, and answers it as the run says."""

    def __init__(self, arrivals: Arrivals, replies: EndpointReplies, clock: Clock) -> None:
        self._arrivals = arrivals
        self._replies = replies
        self._reply_sender = ReplySender(clock)

    def begins(self, connection: SenderConnection, request: ReceivedRequest) -> bool:
        """Wait for every body."""
        return True

    def received(
        self, connection: SenderConnection, request: ReceivedRequest
    ) -> PendingReply | None:
        """Record a delivery; the default answer is sent at once."""
        visit = request.method in VISITS
        reply, succeeds = (DEFAULT_REPLY, True) if visit else self._replies.of(request.token)
        if not visit:
            self._arrivals.arrived(
                request.token, request.headers, request.body, request.arrived, succeeded=succeeds
            )
        if reply is DEFAULT_REPLY and request.is_plain:
            connection.send(default_answer(int(request.arrived.wall)))
            return None
        return self._send_reply(reply, request, connection)

    def refused(self, connection: SenderConnection, request: ReceivedRequest) -> None:
        """Ignore what is not a delivery."""

    def left(self, connection: SenderConnection, request: ReceivedRequest) -> None:
        """Ignore what is not a delivery."""

    async def _send_reply(
        self, reply: Reply, request: ReceivedRequest, connection: SenderConnection
    ) -> bool:
        return bool(await self._reply_sender.send(reply, request, connection))


async def serve(
    *,
    bind: Address,
    public_url: str | None,
    ca_dir: Path,
    certificate: tuple[Path, Path] | None,
    http: bool,
    dialect: Dialect,
    metrics: Address | None = None,
) -> None:
    """Listen until standard input ends; one line of JSON on standard output has the addresses.

    Raises AuthorityProblem, UnusableCertificate and MetricsProblem.
    """
    arrivals, replies = Arrivals(attempts=attempts_in(dialect)), EndpointReplies()
    own_load = OwnLoad(lambda: arrivals.counts["arrived"])
    lateness = LatenessMeter(asyncio.get_running_loop(), on_delay=own_load.note_delay)
    arrivals.own_lateness_since = lateness.worst_since
    names = listener_names(bind, public_url)
    authority, stop = Authority(ca_dir, names), asyncio.Event()
    call_at_end_of_input(asyncio.get_running_loop(), stop.set)
    async with AsyncExitStack() as stack:
        stack.callback(lateness.stop)
        clock = Clock()
        sidecar = Sidecar(arrivals, replies, clock)
        context = None if http else _tls(authority, certificate, names)
        bound = await stack.enter_async_context(
            listen(sidecar, bind, context, clock=clock, body_within_s=BODY_WITHIN_S)
        )
        api = SidecarApi(arrivals=arrivals, replies=replies, dialect=dialect, own_load=own_load)
        control = await serve_control_api(stack, api.application())
        own_url = bound.url("http" if http else "https")
        ready = {"url": public_url or own_url, "control": control.url("http")}
        if metrics is not None:
            ready["metrics"] = serve_metrics(
                metrics, lambda: receiver_figures(arrivals, own_load.lateness_buckets)
            )
        print_document(json.dumps({**ready, "ca": str(authority.certificate_path)}))
        await stop.wait()


class UnusableCertificate(Exception):
    """A certificate and its key cannot be used for TLS; the message says why."""


def _tls(
    authority: Authority, certificate: tuple[Path, Path] | None, names: Sequence[str]
) -> ssl.SSLContext:
    if certificate is None:
        return authority.server_context(*names)
    try:
        return authority.context_with(*certificate)
    except OSError as error:
        raise UnusableCertificate(
            f"{' and '.join(map(str, certificate))} cannot be used for TLS:"
            f" {error.strerror or error}; a certificate and its key are needed, both in PEM,"
            " without a password"
        ) from None


async def serve_control_api(stack: AsyncExitStack, application: web.Application) -> Address:
    """Serve the control API until the stack unwinds, and return its address."""
    application.middlewares.insert(0, guard(own_names(LOOPBACK, ()), refusal))
    runner = ControlRunner(application, shutdown_timeout=STOP_WITHIN_S)
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    await web.TCPSite(runner, LOOPBACK, 0).start()
    return Address(host=LOOPBACK, port=runner.addresses[0][1])


@click.command()
@click.option("--bind", default="127.0.0.1:0")
@click.option("--public-url")
@click.option("--ca-dir", required=True, type=click.Path(path_type=Path))
@click.option("--tls-cert", type=click.Path(path_type=Path))
@click.option("--tls-key", type=click.Path(path_type=Path))
@click.option("--http", is_flag=True)
@click.option("--dialect", required=True)
@click.option("--metrics")
@click.option("--json", is_flag=True, expose_value=False)
@click.option(UNTIL_STDIN_CLOSES, is_flag=True, expose_value=False)
def main(
    bind: str,
    public_url: str | None,
    ca_dir: Path,
    tls_cert: Path | None,
    tls_key: Path | None,
    http: bool,
    dialect: str,
    metrics: str | None,
) -> None:
    """Run the sidecar; if it cannot start, the last line on standard error says why."""
    receiver = serve(
        bind=Address.parse(bind),
        public_url=public_url,
        ca_dir=ca_dir,
        certificate=None if tls_cert is None or tls_key is None else (tls_cert, tls_key),
        http=http,
        dialect=load_dialect(dialect),
        metrics=None if metrics is None else Address.parse(metrics),
    )
    raise_descriptor_limit()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        try:
            runner.run(receiver)
        except (AuthorityProblem, UnusableCertificate, MetricsProblem) as problem:
            print_text(str(problem), err=True)
            sys.exit(ExitCode.USAGE)
        except OSError as error:
            print_line(f"cannot listen on {bind}: {error.strerror or error}", err=True)
            sys.exit(ExitCode.FAILED)


if __name__ == "__main__":
    main()
