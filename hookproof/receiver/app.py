"""The composition root: assembles all listeners and runs them."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from secrets import token_hex
from ssl import SSLContext
from typing import Final
from urllib.parse import urlsplit

from aiohttp import web

from hookproof.control.runner import ControlRunner
from hookproof.control.same_origin import guard, own_names
from hookproof.process.lateness import LatenessMeter
from hookproof.process.private_folder import private_folder
from hookproof.process.system_resources import give_back_large_blocks
from hookproof.receiver.clock import Clock
from hookproof.receiver.closed_ports import ClosedPorts
from hookproof.receiver.control.api import ControlApi
from hookproof.receiver.control.json_exchange import refusal
from hookproof.receiver.dashboard.change_feed import ChangeFeed
from hookproof.receiver.dashboard.delivery_rows import SessionDeliveries
from hookproof.receiver.dashboard.replay import Replayer
from hookproof.receiver.dashboard.replay_target import THIS_MACHINE, ReplayAllowance
from hookproof.receiver.dashboard.routes import Dashboard
from hookproof.receiver.http.address import Address, listener_names
from hookproof.receiver.http.authority import Authority
from hookproof.receiver.http.connection import MOST_BYTES, BodyBudget, FaultyListener, Handshakes
from hookproof.receiver.http.request import MOST_BODY_BYTES
from hookproof.receiver.http.request_handler import Forward, RequestHandler
from hookproof.receiver.http.server import STOP_WITHIN_S, listen
from hookproof.receiver.inbox.arrival import Arrival
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.receiver.inbox.store import InboxLimits, Observers
from hookproof.receiver.mail import MailSink, listen_for_mail
from hookproof.receiver.replies.script import Reply
from hookproof.receiver.replies.script_file import TokenPlan
from hookproof.receiver.replies.token_server import TokenServer
from hookproof.receiver.session import Sessions

INBOX_LIMITS: Final = InboxLimits(deliveries=4096, memory_bytes=64 * 2**20, disk_bytes=4 * 2**30)
MOST_SESSIONS: Final = 32
IDLE_SESSION_S: Final = 3600.0
# How many changes a live page may be behind before it skips deliveries.
MOST_CHANGES: Final = 8192
BODY_WITHIN_S: Final = 60.0
BODIES_AT_ONCE: Final = 4
# What the name of the second listener with the same wrong TLS ends with.
SECOND: Final = "_2"


class CannotStart(Exception):
    """The receiver cannot run with these settings; the message says why and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiverConfiguration:
    """How to run.

    Without `authority_folder` the certificate authority is temporary. `certificate` and its key are
    shown in place of one that it issues; without `tls` it issues client certificates alone, and
    only if it has a folder. `tokens` configures tokens from the start. With `tls_faults` there are
    additional listeners whose TLS is wrong. `limits` applies to each session; `on_done` is as in
    `Observers`. `replays` is where the live page may replay to; `control_names` are additional host
    names by which browsers may reach the control listener. With `forwarded` a proxy is known to set
    X-Forwarded-For, -Proto, -Host and -Prefix. `mail` is where mail is accepted, if anywhere; with
    `mail_reserved` another process holds its port until then. `forward` answers what no script
    answers; if `only` is given, what it is true for. `challenges` gives the reply to requests by
    which a sender tries a URL, None for any other. A body may have `max_body` bytes.
    """

    bind: Address
    control: Address
    tls: bool
    authority_folder: Path | None
    public_url: str | None
    certificate: tuple[Path, Path] | None = None
    tokens: Mapping[str, TokenPlan] = field(default_factory=dict)
    tls_faults: bool = False
    limits: InboxLimits = INBOX_LIMITS
    on_done: Callable[[ReceivedDelivery], None] | None = None
    replays: ReplayAllowance = THIS_MACHINE
    control_names: tuple[str, ...] = ()
    forwarded: bool = False
    mail: Address | None = None
    mail_reserved: bool = False
    forward: Forward | None = None
    only: Callable[[ReceivedDelivery], bool] | None = None
    challenges: Callable[[Arrival], Reply | None] | None = None
    max_body: int = MOST_BODY_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningReceiver:
    """Where a receiver is reached.

    `url` is the public URL, `listening` its own address, `ca` the certificate to trust, if any.
    `tls_faults` are the listeners with wrong TLS, by what is wrong. `mail` is the mail server.
    """

    url: str
    listening: str
    control: str
    ca: Path | None
    tls_faults: Mapping[str, FaultyListener]
    mail: str | None


@asynccontextmanager
async def run_receiver(settings: ReceiverConfiguration) -> AsyncIterator[RunningReceiver]:
    """Run a receiver within the block; raises CannotStart and AuthorityProblem."""
    give_back_large_blocks()
    async with AsyncExitStack() as stack:
        needs_authority = settings.tls or settings.authority_folder is not None
        authority = _authority(settings, stack) if needs_authority else None
        context = _tls(settings, authority) if settings.tls and authority else None
        trusts_ca = authority and context and settings.certificate is None
        ca = authority.certificate_path if authority and trusts_ca else None
        feed = ChangeFeed(most_changes=MOST_CHANGES, new_epoch=lambda: token_hex(4))
        sessions = Sessions(
            limits=settings.limits,
            max_sessions=MOST_SESSIONS,
            idle_s=IDLE_SESSION_S,
            clock=time.monotonic,
            new_name=lambda: token_hex(8),
            observers=Observers(observers=(feed,), on_done=settings.on_done),
        )
        stack.callback(sessions.end_all)
        handler = RequestHandler(
            sessions=sessions,
            clock=Clock(),
            forward=settings.forward,
            only=settings.only,
            challenges=settings.challenges,
        )
        # Several of the largest bodies may be under way, each by a sender of its own.
        most_bytes = max(MOST_BYTES, BODIES_AT_ONCE * settings.max_body)
        budget = BodyBudget(most_bytes, settings.max_body)
        handshakes = Handshakes()
        lateness = LatenessMeter(asyncio.get_running_loop())
        stack.callback(lateness.stop)
        bound = await _listen(
            stack, handler, settings.bind, context, budget, handshakes if settings.tls else None
        )
        faults = await _tls_faults(stack, settings, handler, authority, budget) if authority else {}
        closed = (
            _closed_ports(stack, settings, handler, context, budget)
            if settings.tls_faults
            else None
        )
        mail = await _listen_for_mail(stack, settings, sessions)
        stack.callback(sessions.abort_all)
        own_url = bound.url("https" if settings.tls else "http")
        url = settings.public_url or own_url
        _configure_tokens(settings.tokens, sessions, url)
        application = _control_application(
            settings, sessions, authority, ca, feed, url, faults, closed, handshakes, mail, lateness
        )
        control = await _serve_control(stack, application, settings.control)
        yield RunningReceiver(
            url=url,
            listening=own_url,
            control=control.url("http"),
            ca=ca,
            tls_faults=faults,
            mail=mail.address if mail else None,
        )


def _control_application(
    settings: ReceiverConfiguration,
    sessions: Sessions,
    authority: Authority | None,
    ca: Path | None,
    feed: ChangeFeed,
    url: str,
    tls_faults: Mapping[str, FaultyListener],
    closed_ports: ClosedPorts | None,
    handshakes: Handshakes,
    mail: MailSink | None,
    lateness: LatenessMeter,
) -> web.Application:
    """The control API and the live page, protected from other pages in the user's browser."""
    application = ControlApi(
        sessions=sessions,
        authority=authority,
        url=url,
        tls_faults=tls_faults,
        closed_ports=closed_ports,
        port_url=partial(_url_of_port, settings),
        handshakes=handshakes,
        mail=mail,
        new_token=lambda: token_hex(8),
        lateness=lateness,
    ).application()
    names = own_names(settings.control.host, settings.control_names)
    application.middlewares.insert(0, guard(names, refusal))
    deliveries = SessionDeliveries(sessions)
    Dashboard(
        store=deliveries,
        statuses=deliveries,
        feed=feed,
        replayer=Replayer(allowance=settings.replays, clock=Clock()),
        clock=Clock(),
        public_url=url,
        ca=ca,
        forwarded=settings.forwarded,
    ).join(application)
    return application


def _configure_tokens(plans: Mapping[str, TokenPlan], sessions: Sessions, url: str) -> None:
    """Configure the tokens of a script file, in the default session."""
    session = sessions.default
    for token, plan in plans.items():
        sessions.issue(session, token)
        if plan.script:
            session.set_script(token, plan.script)
        if plan.token_server:
            server = TokenServer(
                plan.token_server, url=f"{url}/{token}", new_token=lambda: token_hex(16)
            )
            session.serve_tokens(token, server)
        if plan.secrets:
            session.secrets.put(token, plan.secrets)


def _authority(settings: ReceiverConfiguration, stack: AsyncExitStack) -> Authority:
    folder = settings.authority_folder or stack.enter_context(private_folder())
    return Authority(folder, _hosts(settings))


def _tls(settings: ReceiverConfiguration, authority: Authority) -> SSLContext:
    hosts = _hosts(settings)
    if settings.certificate is not None:
        try:
            return authority.context_with(*settings.certificate)
        except OSError as error:
            names = " and ".join(map(str, settings.certificate))
            raise CannotStart(
                f"{names} cannot be used for TLS: {error.strerror or error}; a certificate and its"
                " key are needed, both in PEM, without a password"
            ) from None
    try:
        return authority.server_context(*hosts)
    except ValueError as error:
        raise CannotStart(f"cannot make a certificate for {', '.join(hosts)}: {error}") from None


def _hosts(settings: ReceiverConfiguration) -> tuple[str, ...]:
    return listener_names(settings.bind, settings.public_url)


def _public_host(settings: ReceiverConfiguration) -> str | None:
    return urlsplit(settings.public_url or "").hostname


async def _tls_faults(
    stack: AsyncExitStack,
    settings: ReceiverConfiguration,
    handler: RequestHandler,
    authority: Authority,
    budget: BodyBudget,
) -> dict[str, FaultyListener]:
    """Listen with each kind of wrong TLS on two ports of its own, at the host of the public URL.

    A handshake that fails does not show what was to be requested: who wants to know that gives two
    kinds of requests a port each.
    """
    if not settings.tls_faults:
        return {}
    any_port = Address(host=settings.bind.host, port=0)
    listeners = {}
    for suffix in ("", SECOND):
        contexts = authority.faulty_contexts(datetime.now(UTC), *_hosts(settings))
        for name, context in contexts.items():
            handshakes = Handshakes()
            bound = await _listen(stack, handler, any_port, context, budget, handshakes)
            url = _url_of_port(settings, bound.port)
            listener = FaultyListener(url=url, handshakes=handshakes)
            listeners[f"{name}{suffix}"] = listener
    return listeners


def _closed_ports(
    stack: AsyncExitStack,
    settings: ReceiverConfiguration,
    handler: RequestHandler,
    context: SSLContext | None,
    budget: BodyBudget,
) -> ClosedPorts:
    async def start_listening(reserved: socket.socket) -> None:
        listening = listen(
            handler, reserved, context, clock=Clock(), body_within_s=BODY_WITHIN_S, budget=budget
        )
        await stack.enter_async_context(listening)

    ports = ClosedPorts(settings.bind.host, start_listening)
    stack.callback(ports.close)
    return ports


def _url_of_port(settings: ReceiverConfiguration, port: int) -> str:
    """The base URL of a port other than the receiver's own, at the host of the public URL."""
    host = _public_host(settings) or settings.bind.host
    return Address(host=host, port=port).url("https" if settings.tls else "http")


async def _listen(
    stack: AsyncExitStack,
    handler: RequestHandler,
    wanted: Address,
    context: SSLContext | None,
    budget: BodyBudget,
    handshakes: Handshakes | None = None,
) -> Address:
    """Accept deliveries until the stack unwinds; return the address with the actual port."""
    listening = listen(
        handler,
        wanted,
        context,
        clock=Clock(),
        body_within_s=BODY_WITHIN_S,
        handshakes=handshakes,
        budget=budget,
    )
    try:
        return await stack.enter_async_context(listening)
    except (OSError, ValueError) as error:
        raise _cannot_listen(wanted, error) from None


async def _listen_for_mail(
    stack: AsyncExitStack, settings: ReceiverConfiguration, sessions: Sessions
) -> MailSink | None:
    """Accept mail until the stack unwinds, if that is wanted."""
    if settings.mail is None:
        return None
    listening = listen_for_mail(sessions, settings.mail, Clock(), reserved=settings.mail_reserved)
    try:
        return await stack.enter_async_context(listening)
    except OSError as error:
        raise _cannot_listen(settings.mail, error) from None


async def _serve_control(
    stack: AsyncExitStack, application: web.Application, wanted: Address
) -> Address:
    """Serve the control API until the stack unwinds; return the address with the actual port."""
    runner = ControlRunner(application, shutdown_timeout=STOP_WITHIN_S)
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    try:
        await web.TCPSite(runner, wanted.host, wanted.port).start()
    except (OSError, ValueError) as error:
        raise _cannot_listen(wanted, error) from None
    return Address(host=wanted.host, port=runner.addresses[0][1])


def _cannot_listen(wanted: Address, error: Exception) -> CannotStart:
    reason = getattr(error, "strerror", None) or str(error)
    return CannotStart(
        f"cannot listen on {wanted.host}:{wanted.port}: {reason}; "
        "choose an address of this machine and a free port"
    )
