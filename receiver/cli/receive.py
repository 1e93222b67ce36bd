"""The commands `hookproof receive` and `hookproof ca`."""

import asyncio
import contextlib
import functools
import json
import logging
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from hookproof.process.exit_codes import CommandError
from hookproof.process.standard_input import OPTION, call_at_end_of_input
from hookproof.receiver.app import CannotStart, Running, Settings, running
from hookproof.receiver.cli.delivery_watch import Watch, Wishes
from hookproof.receiver.cli.verify import DIALECT, FORMAT, SECRET, TOLERANCE, judge_of
from hookproof.receiver.dashboard.replay_target import Allowance
from hookproof.receiver.http.address import Address, parse_base_url
from hookproof.receiver.http.authority import Authority, AuthorityProblem
from hookproof.receiver.replies.script_file import TokenPlan, read_script_file
from hookproof.spec.strict_yaml.file_problem import FileProblems

T = TypeVar("T")


Callback = Callable[[click.Context, click.Parameter, str | None], T | None]


def _read_by(parse: Callable[[str], T]) -> Callback[T]:
    """Read an option's text by a function whose ValueError says what is wrong with it."""

    def read(_context: click.Context, _parameter: click.Parameter, text: str | None) -> T | None:
        try:
            return None if text is None else parse(text)
        except ValueError as error:
            raise click.BadParameter(str(error)) from None

    return read


def _allowance(
    _context: click.Context, _parameter: click.Parameter, texts: Sequence[str]
) -> Allowance:
    try:
        return Allowance.parse(texts)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


ADDRESS: Final[dict[str, Any]] = {
    "callback": _read_by(Address.parse),
    "metavar": "H:P",
    "default": "127.0.0.1:0",
    "show_default": True,
}


@click.command()
@click.option("--bind", **ADDRESS, help="Address for deliveries; port 0 takes any free one.")
@click.option("--control", **ADDRESS, help="Address of the control API.")
@click.option(
    "--ca-dir",
    type=click.Path(path_type=Path),
    help="Folder of the CA; without it, a CA for this run.",
)
@click.option("--http", is_flag=True, help="Listen without TLS.")
@click.option(
    "--public-url",
    callback=_read_by(parse_base_url),
    metavar="URL",
    help="URL that leads to --bind.",
)
@click.option(
    "--script",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="YAML that says what tokens answer.",
)
@click.option("--tls-faults", is_flag=True, help="Listen on further ports too, where TLS is wrong.")
@click.option(
    "--allow-replay",
    callback=_allowance,
    multiple=True,
    metavar="CIDR|HOST",
    help="Open a network or a host to replays from the live page, beside this machine.",
)
@click.option(
    "--control-name",
    multiple=True,
    metavar="HOST",
    help="Another host name by which browsers may reach --control.",
)
@click.option("--json", "as_json", is_flag=True, help="Say where it listens as one line of JSON.")
@click.option(OPTION, is_flag=True, help="Stop when standard input ends.")
@click.option("--once", is_flag=True, help="Stop after the first delivery: --expect 1.")
@click.option(
    "--expect",
    type=click.IntRange(min=1),
    metavar="N",
    help="Stop when N deliveries came; exit 1 if not.",
)
@click.option(
    "--timeout", type=click.FloatRange(min=0), metavar="SECONDS", help="How long to wait for those."
)
@click.option(
    "--jsonl",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Add each delivery to FILE as JSON.",
)
@click.option(
    "--verify", is_flag=True, help="Judge each signature and say what is wrong; see --secret."
)
@click.option("--secret", "secrets", **SECRET)
@click.option("--dialect", **DIALECT)
@click.option("--format", "chosen", **FORMAT)
@click.option("--tolerance", "tolerance_s", **TOLERANCE)
@click.pass_context
def receive(
    context: click.Context,
    /,
    *,
    bind: Address,
    control: Address,
    ca_dir: Path | None,
    http: bool,
    public_url: str | None,
    script: Path | None,
    tls_faults: bool,
    allow_replay: Allowance,
    control_name: tuple[str, ...],
    as_json: bool,
    until_stdin_closes: bool,
    **wished: Any,
) -> None:
    """Start the webhook receiver; the first segment of a path is the token of its deliveries.

    With --expect or --once it exits 0 when the deliveries came, all verified if that was asked, and
    1 otherwise.
    """
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="hookproof receive: %(message)s"
    )
    if http and tls_faults:
        raise CommandError("--tls-faults needs TLS; leave out --http")
    settings = Settings(
        bind=bind,
        control=control,
        tls=not http,
        authority_folder=ca_dir,
        public_url=public_url,
        tokens=_script_file(script) if script else {},
        tls_faults=tls_faults,
        replays=allow_replay,
        control_names=control_name,
    )
    say = _as_json if as_json else _as_text
    with contextlib.ExitStack() as stack, asyncio.Runner(loop_factory=_loop_factory()) as runner:
        wishes = _wishes(stack, **wished)
        serving = _serve(
            settings, wishes, say=say, silent=as_json, until_stdin_closes=until_stdin_closes
        )
        code = runner.run(serving)
    context.exit(code)


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
def ca(folder: Path) -> None:
    """Make the certificate authority that a target must trust; one that DIR already has is kept."""
    try:
        click.echo(Authority(folder).certificate_path)
    except AuthorityProblem as problem:
        raise CommandError(str(problem)) from None


def _script_file(path: Path) -> Mapping[str, TokenPlan]:
    try:
        return read_script_file(path)
    except FileProblems as problems:
        raise CommandError(str(problems)) from None


def _wishes(
    stack: contextlib.ExitStack,
    *,
    once: bool,
    expect: int | None,
    timeout: float | None,
    jsonl: Path | None,
    verify: bool,
    secrets: tuple[str, ...],
    dialect: str,
    chosen: str | None,
    tolerance_s: float | None,
) -> Wishes:
    """What to do with the deliveries; the file, if any, stays open until the stack unwinds."""
    expected = expect or (1 if once else None)
    if timeout is not None and expected is None:
        raise click.UsageError("--timeout needs --expect or --once")
    judge = judge_of(dialect, secrets, chosen, tolerance_s) if verify else None
    try:
        lines = stack.enter_context(jsonl.open("a", encoding="utf-8")) if jsonl else None
    except OSError as error:
        raise CommandError(f"cannot write {jsonl}: {error.strerror or error}") from None
    return Wishes(judge=judge, lines=lines, expect=expected, timeout_s=timeout)


async def _serve(
    settings: Settings,
    wishes: Wishes,
    *,
    say: Callable[[Running], str],
    silent: bool,
    until_stdin_closes: bool,
) -> int:
    """Run until a signal, the end of standard input, or all that was expected; the exit code."""
    from hookproof.receiver.cli.display import display

    loop = asyncio.get_running_loop()
    try:
        with display(silent=silent) as shown:
            watch = Watch(wishes, shown, functools.partial(click.echo, err=True))
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(number, watch.stop)
            # A parent that reads the control API has no use for the telling, which costs time for
            # each delivery.
            told = None if silent and wishes == Wishes() else watch.see
            async with running(replace(settings, on_done=told)) as receiver:
                click.echo(say(receiver))
                if until_stdin_closes:
                    call_at_end_of_input(loop, watch.stop)
                return await watch.tell()
    except (CannotStart, AuthorityProblem) as problem:
        raise CommandError(str(problem)) from None


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
            "tls_faults": dict(receiver.tls_faults),
        }
    )


def _as_text(receiver: Running) -> str:
    own = f" (listening at {receiver.listening})" if receiver.listening != receiver.url else ""
    trust = f"; let senders trust {receiver.ca}" if receiver.ca else ""
    faults = "".join(f"\n  {name}: {url}" for name, url in receiver.tls_faults.items())
    wrong = f"\nWith wrong TLS:{faults}" if faults else ""
    control = f"live page and control API at {receiver.control}"
    return f"Receiving at {receiver.url}/TOKEN{own}, {control}{trust}. Ctrl-C stops.{wrong}"
