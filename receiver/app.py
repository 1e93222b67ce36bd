"""The composition root: all listeners, put together and running."""

import tempfile
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from ssl import SSLContext
from typing import Final
from urllib.parse import urlsplit

from aiohttp import web

from hookproof.receiver.clock import Clock
from hookproof.receiver.control.api import ControlApi
from hookproof.receiver.control.same_origin import guard, own_names
from hookproof.receiver.dashboard.change_feed import Feed
from hookproof.receiver.dashboard.replay import Replayer
from hookproof.receiver.dashboard.replay_target import THIS_MACHINE, Allowance
from hookproof.receiver.dashboard.routes import Dashboard
from hookproof.receiver.dashboard.session_deliveries import OfSessions
from hookproof.receiver.http.address import Address
from hookproof.receiver.http.authority import Authority
from hookproof.receiver.http.request_handler import Listener
from hookproof.receiver.http.server import STOP_WITHIN_S, listening
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.receiver.inbox.observer import Audience
from hookproof.receiver.inbox.store import Room
from hookproof.receiver.replies.script import Script
from hookproof.receiver.replies.script_file import TokenPlan
from hookproof.receiver.replies.token_server import TokenServer
from hookproof.receiver.session import Sessions

ROOM: Final = Room(deliveries=4096, memory_bytes=64 * 2**20, disk_bytes=4 * 2**30)
MOST_SESSIONS: Final = 32
IDLE_SESSION_S: Final = 3600.0
# That a live page may be behind before it skips deliveries.
MOST_CHANGES: Final = 8192
BODY_WITHIN_S: Final = 60.0
LOCAL_HOSTS: Final = ("localhost", "127.0.0.1", "::1")


class CannotStart(Exception):
    """The receiver cannot run with these settings; the message says why and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How to run.

    Without `authority_folder` the authority lasts as long as the receiver. `tokens` are what some
    tokens are from the start. With `tls_faults` there are listeners beside the usual one whose TLS
    is wrong. `room` bounds each session; `on_done` is as in `Audience`. `replays` says where the
    live page may replay to, and `control_names` are further host names by which browsers may reach
    the control listener.
    """

    bind: Address
    control: Address
    tls: bool
    authority_folder: Path | None
    public_url: str | None
    tokens: Mapping[str, TokenPlan] = field(default_factory=dict)
    tls_faults: bool = False
    room: Room = ROOM
    on_done: Callable[[ReceivedDelivery], None] | None = None
    replays: Allowance = THIS_MACHINE
    control_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """Where a receiver is.

    Its public URL, its own address, its control API, the certificate to trust, if any, and the URLs
    of the listeners whose TLS is wrong, by what is wrong.
    """

    url: str
    listening: str
    control: str
    ca: Path | None
    tls_faults: Mapping[str, str]


@asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[Running]:
    """Run a receiver within the block; raises CannotStart and AuthorityProblem."""
    async with AsyncExitStack() as stack:
        authority = _authority(settings, stack) if settings.tls else None
        context = _tls(settings, authority) if authority else None
        feed = Feed(most_changes=MOST_CHANGES, new_epoch=lambda: token_hex(4))
        sessions = Sessions(
            room=settings.room,
            most=MOST_SESSIONS,
            idle_s=IDLE_SESSION_S,
            clock=time.monotonic,
            new_name=lambda: token_hex(8),
            audience=Audience(watchers=(feed,), on_done=settings.on_done),
        )
        stack.callback(sessions.end_all)
        listener = Listener(sessions=sessions, clock=Clock())
        bound = await _receive(stack, listener, settings.bind, context)
        faults = await _tls_faults(stack, settings, listener, authority) if authority else {}
        stack.callback(sessions.abort_all)
        own_url = bound.url("https" if settings.tls else "http")
        url = settings.public_url or own_url
        _arrange(settings.tokens, sessions, url)
        api = ControlApi(
            sessions=sessions,
            authority=authority,
            url=url,
            tls_faults=faults,
            new_token=lambda: token_hex(8),
        )
        certificate = authority.certificate_path if authority else None
        application = api.application()
        application.middlewares.insert(
            0, guard(own_names(settings.control.host, settings.control_names))
        )
        deliveries = OfSessions(sessions)
        Dashboard(
            kept=deliveries,
            standings=deliveries,
            feed=feed,
            replayer=Replayer(allowance=settings.replays, clock=Clock()),
            clock=Clock(),
            public_url=url,
            ca=certificate,
        ).join(application)
        control = await _control(stack, application, settings.control)
        yield Running(
            url=url,
            listening=own_url,
            control=control.url("http"),
            ca=certificate,
            tls_faults=faults,
        )


def _arrange(plans: Mapping[str, TokenPlan], sessions: Sessions, url: str) -> None:
    """Make the tokens of a script file what they are, in the default session."""
    session = sessions.default
    for token, plan in plans.items():
        sessions.issue(session, token)
        if plan.replies:
            session.play(token, Script(replies=plan.replies))
        if plan.token_server:
            served = TokenServer(
                plan.token_server, url=f"{url}/{token}", new_token=lambda: token_hex(16)
            )
            session.serve_tokens(token, served)
        if plan.secrets:
            session.keyrings.put(token, plan.secrets)


def _authority(settings: Settings, stack: AsyncExitStack) -> Authority:
    folder = settings.authority_folder
    return Authority(
        folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hookproof-ca-")))
    )


def _tls(settings: Settings, authority: Authority) -> SSLContext:
    hosts = _hosts(settings)
    try:
        return authority.server_context(*hosts)
    except ValueError as error:
        raise CannotStart(f"cannot make a certificate for {', '.join(hosts)}: {error}") from None


def _hosts(settings: Settings) -> tuple[str, ...]:
    public = urlsplit(settings.public_url or "").hostname
    return tuple(dict.fromkeys([settings.bind.host, *LOCAL_HOSTS, *([public] if public else [])]))


async def _tls_faults(
    stack: AsyncExitStack, settings: Settings, listener: Listener, authority: Authority
) -> dict[str, str]:
    """Listen with each kind of wrong TLS on a port of its own; the URLs, as if all were well."""
    if not settings.tls_faults:
        return {}
    contexts = authority.faulty_contexts(datetime.now(UTC), *_hosts(settings))
    anywhere = Address(host=settings.bind.host, port=0)
    return {
        name: (await _receive(stack, listener, anywhere, context)).url("https")
        for name, context in contexts.items()
    }


async def _receive(
    stack: AsyncExitStack, listener: Listener, wanted: Address, context: SSLContext | None
) -> Address:
    """Take deliveries until the stack unwinds; the address with the port that was taken."""
    taken = listening(listener, wanted, context, clock=Clock(), body_within_s=BODY_WITHIN_S)
    try:
        return await stack.enter_async_context(taken)
    except (OSError, ValueError) as error:
        raise _cannot_listen(wanted, error) from None


async def _control(stack: AsyncExitStack, application: web.Application, wanted: Address) -> Address:
    """Serve the control API until the stack unwinds; the address with the port that was taken."""
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=STOP_WITHIN_S)
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    try:
        await web.TCPSite(runner, wanted.host, wanted.port).start()
    except (OSError, ValueError) as error:
        raise _cannot_listen(wanted, error) from None
    return Address(host=wanted.host, port=runner.addresses[0][1])


def _cannot_listen(wanted: Address, error: Exception) -> CannotStart:
    told = getattr(error, "strerror", None) or str(error)
    return CannotStart(
        f"cannot listen on {wanted.host}:{wanted.port}: {told}; choose an address of this machine and a free port"
    )
