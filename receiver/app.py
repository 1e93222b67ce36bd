"""The composition root: both listeners, put together and running."""

import tempfile
from collections.abc import AsyncIterator, Callable
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
from receiver.delivery import ReceivedDelivery
from receiver.inbox import Inbox
from receiver.listener import Listener
from receiver.script import Scripts

MOST_DELIVERIES: Final = 200_000
MOST_BYTES: Final = 256 * 2**20
BODY_WITHIN_S: Final = 60.0
STOP_WITHIN_S: Final = 1.0
LOCAL_HOSTS: Final = ("localhost", "127.0.0.1", "::1")


class CannotStart(Exception):
    """The receiver cannot run with these settings; the message says why and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How to run. Without `authority_folder` the authority lasts as long as the receiver; `on_done` as in `Inbox`."""

    bind: Address
    control: Address
    tls: bool
    authority_folder: Path | None
    public_url: str | None
    on_done: Callable[[ReceivedDelivery], None] | None = None


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
        inbox = Inbox(most_deliveries=MOST_DELIVERIES, most_bytes=MOST_BYTES, on_done=settings.on_done)
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
        control_runner = web.AppRunner(api.application(), access_log=None, shutdown_timeout=STOP_WITHIN_S)
        control = await _listen(stack, control_runner, settings.control, None)
        certificate = authority.certificate_path if authority else None
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
