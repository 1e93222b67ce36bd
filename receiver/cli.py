"""The commands `hookproof receive` and `hookproof ca`."""

import asyncio
import contextlib
import json
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from receiver.address import Address, parse_base_url
from receiver.app import CannotStart, Running, Settings, running
from receiver.authority import Authority, AuthorityProblem

T = TypeVar("T")

EXIT_USAGE: Final = 64


class Unusable(click.ClickException):
    """A setting that cannot be used; told in one line, exit 64."""

    exit_code = EXIT_USAGE


Callback = Callable[[click.Context, click.Parameter, str | None], T | None]


def _read_by(parse: Callable[[str], T]) -> Callback[T]:
    """Read an option's text by a function whose ValueError says what is wrong with it."""

    def read(_context: click.Context, _parameter: click.Parameter, text: str | None) -> T | None:
        try:
            return None if text is None else parse(text)
        except ValueError as error:
            raise click.BadParameter(str(error)) from None

    return read


ADDRESS: Final[dict[str, Any]] = {
    "callback": _read_by(Address.parse),
    "metavar": "H:P",
    "default": "127.0.0.1:0",
    "show_default": True,
}


@click.command()
@click.option("--bind", **ADDRESS, help="Address for deliveries; port 0 takes any free one.")
@click.option("--control", **ADDRESS, help="Address of the control API.")
@click.option("--ca-dir", type=click.Path(path_type=Path), help="Folder of the CA; without it, a CA for this run.")
@click.option("--http", is_flag=True, help="Listen without TLS.")
@click.option("--public-url", callback=_read_by(parse_base_url), metavar="URL", help="URL that leads to --bind.")
@click.option("--json", "as_json", is_flag=True, help="Say where it listens as one line of JSON.")
@click.option("--until-stdin-closes", is_flag=True, help="Stop when standard input ends.")
def receive(
    *,
    bind: Address,
    control: Address,
    ca_dir: Path | None,
    http: bool,
    public_url: str | None,
    as_json: bool,
    until_stdin_closes: bool,
) -> None:
    """Start the webhook receiver; the first segment of a path is the token of its deliveries."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="hookproof receive: %(message)s")
    settings = Settings(bind=bind, control=control, tls=not http, authority_folder=ca_dir, public_url=public_url)
    say = _as_json if as_json else _as_text
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(_serve(settings, say=say, until_stdin_closes=until_stdin_closes))


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
def ca(folder: Path) -> None:
    """Make the certificate authority that a target must trust; one that DIR already has is kept."""
    try:
        click.echo(Authority(folder).certificate_path)
    except AuthorityProblem as problem:
        raise Unusable(str(problem)) from None


async def _serve(settings: Settings, *, say: Callable[[Running], str], until_stdin_closes: bool) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    try:
        async with running(settings) as receiver:
            click.echo(say(receiver))
            if until_stdin_closes:
                threading.Thread(target=_await_end_of_stdin, args=(loop, stop), daemon=True).start()
            await stop.wait()
    except (CannotStart, AuthorityProblem) as problem:
        raise Unusable(str(problem)) from None


def _await_end_of_stdin(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    # A thread, since an event loop can watch a pipe, but neither a file nor a closed descriptor.
    with contextlib.suppress(OSError):
        while os.read(0, 2**16):
            pass
    with contextlib.suppress(RuntimeError):  # the loop may have closed meanwhile
        loop.call_soon_threadsafe(stop.set)


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory


def _as_json(receiver: Running) -> str:
    return json.dumps(
        {
            "url": receiver.url,
            "listening": receiver.listening,
            "control": receiver.control,
            "ca": str(receiver.ca) if receiver.ca else None,
        }
    )


def _as_text(receiver: Running) -> str:
    own = f" (listening at {receiver.listening})" if receiver.listening != receiver.url else ""
    trust = f"; let senders trust {receiver.ca}" if receiver.ca else ""
    return f"Receiving at {receiver.url}/TOKEN{own}, control API at {receiver.control}{trust}. Ctrl-C stops."
