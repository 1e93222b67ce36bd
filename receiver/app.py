"""The composition root: both listeners, put together and running."""

import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from ssl import SSLContext
from typing import Final
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.web_runner import BaseRunner

from receiver.address import Address
from receiver.api import ControlApi
from receiver.authority import Authority
from receiver.clock import Clock
from receiver.dashboard.feed import Feed
from receiver.dashboard.judgement import NoSecrets
from receiver.dashboard.replay import Replayer
from receiver.dashboard.replay_target import THIS_MACHINE, Allowance
from receiver.dashboard.routes import Dashboard
from receiver.dashboard.same_origin import guard, own_names
from receiver.inbox import Inbox
from receiver.listener import Listener
from receiver.script import Scripts

MOST_DELIVERIES: Final = 200_000
MOST_BYTES: Final = 256 * 2**20
MOST_CHANGES: Final = 8192
"""That a live page may be behind before it skips deliveries."""
BODY_WITHIN_S: Final = 60.0
STOP_WITHIN_S: Final = 1.0
LOCAL_HOSTS: Final = ("localhost", "127.0.0.1", "::1")


class CannotStart(Exception):
    """The receiver cannot run with these settings; the message says why and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How to run. Without `authority_folder` the authority lasts as long as the receiver.

    `control_names` are host names, beside those that are plain, by which browsers may reach the control listener.
    """

    bind: Address
    control: Address
    tls: bool
    authority_folder: Path | None
    public_url: str | None
    replays: Allowance = THIS_MACHINE
    control_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """Where a receiver is: its public URL, its own address, its control API, and the certificate to trust, if any."""

    url: str
    listening: str
    control: str
    ca: Path | None


@asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[Running]:
    """Run a receiver within the block; raises CannotStart and AuthorityProblem."""
    async with AsyncExitStack() as stack:
        authority = _authority(settings, stack) if settings.tls else None
        context = _tls(settings, authority) if authority else None
        feed = Feed(most_changes=MOST_CHANGES, new_epoch=lambda: token_hex(4))
        inbox = Inbox(most_deliveries=MOST_DELIVERIES, most_bytes=MOST_BYTES, watcher=feed)
        scripts = Scripts()
        listener = Listener(inbox=inbox, scripts=scripts, clock=Clock(), body_within_s=BODY_WITHIN_S)
        bound = await _listen(
            stack, web.ServerRunner(listener.server(), shutdown_timeout=STOP_WITHIN_S), settings.bind, context
        )
        stack.callback(listener.abort)
        listening = bound.url("https" if settings.tls else "http")
        api = ControlApi(
            inbox=inbox,
            scripts=scripts,
            listener=listener,
            authority=authority,
            url=settings.public_url or listening,
            new_token=lambda: token_hex(8),
        )
        certificate = authority.certificate_path if authority else None
        dashboard = Dashboard(
            kept=inbox,
            feed=feed,
            judge=NoSecrets(),
            replayer=Replayer(allowance=settings.replays, clock=Clock()),
            clock=Clock(),
            public_url=api.url,
            ca=certificate,
        )
        application = api.application()
        application.middlewares.insert(0, guard(own_names(settings.control.host, settings.control_names)))
        dashboard.join(application)
        control_runner = web.AppRunner(application, access_log=None, shutdown_timeout=STOP_WITHIN_S)
        control = await _listen(stack, control_runner, settings.control, None)
        yield Running(url=api.url, listening=listening, control=control.url("http"), ca=certificate)


def _authority(settings: Settings, stack: AsyncExitStack) -> Authority:
    folder = settings.authority_folder
    return Authority(folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hookproof-ca-"))))


def _tls(settings: Settings, authority: Authority) -> SSLContext:
    public = urlsplit(settings.public_url or "").hostname
    hosts = dict.fromkeys([settings.bind.host, *LOCAL_HOSTS, *([public] if public else [])])
    try:
        return authority.server_context(*hosts)
    except ValueError as error:
        raise CannotStart(f"cannot make a certificate for {', '.join(hosts)}: {error}") from None


async def _listen(stack: AsyncExitStack, runner: BaseRunner, wanted: Address, context: SSLContext | None) -> Address:
    """Listen until the stack unwinds; the address with the port that was taken."""
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    try:
        await web.TCPSite(runner, wanted.host, wanted.port, ssl_context=context).start()
    except (OSError, ValueError) as error:
        told = getattr(error, "strerror", None) or str(error)
        raise CannotStart(
            f"cannot listen on {wanted.host}:{wanted.port}: {told}; choose an address of this machine and a free port"
        ) from None
    return Address(host=wanted.host, port=runner.addresses[0][1])
