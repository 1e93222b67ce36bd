"""The command `hookproof receive`."""

import asyncio
import contextlib
import functools
import json
import logging
import signal
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from hookproof.control.same_origin import NAME_OPTION
from hookproof.help_examples import examples
from hookproof.process.exit_codes import CommandError
from hookproof.process.extras import require_extra
from hookproof.process.messages import MessageHandler, print_line, print_text
from hookproof.process.standard_streams import UNTIL_STDIN_CLOSES, call_at_end_of_input
from hookproof.process.stop_signals import STOPPING
from hookproof.process.system_resources import raise_descriptor_limit
from hookproof.receiver.app import CannotStart, ReceiverConfiguration, RunningReceiver, run_receiver
from hookproof.receiver.cli.delivery_watch import DeliveryWatch, JsonLines, WatchOptions
from hookproof.receiver.cli.verify import (
    DIALECT,
    FORMAT,
    SECRET,
    TOLERANCE,
    build_judge,
    complete_scheme,
    named_schemes,
)
from hookproof.receiver.clock import Clock
from hookproof.receiver.dashboard.forwarding import Forwarder
from hookproof.receiver.dashboard.replay_target import ReplayAllowance, ReplayRefused
from hookproof.receiver.http.address import Address, parse_base_url
from hookproof.receiver.http.authority import AuthorityProblem
from hookproof.receiver.http.forwarded import forwarded_members
from hookproof.receiver.http.request import MOST_BODY_BYTES
from hookproof.receiver.inbox.arrival import Arrival
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.receiver.replies.challenge_replies import challenge_reply
from hookproof.receiver.replies.script import Reply
from hookproof.receiver.replies.script_file import TokenPlan, read_script_file
from hookproof.receiver.signatures.schemes.catalogue import shipped_schemes
from hookproof.receiver.signatures.schemes.request_values import Condition, Request
from hookproof.spec.strict_yaml.file_problem import FileProblems

T = TypeVar("T")

Callback = Callable[[click.Context, click.Parameter, Any], T | None]


def _option_callback(parse: Callable[[Any], T]) -> Callback[T]:
    """An option callback that parses by a function whose ValueError is the message.

    The function gets the text of the option, or a tuple of texts if it may be repeated.
    """

    def read(_context: click.Context, _parameter: click.Parameter, value: Any) -> T | None:
        try:
            return None if value is None else parse(value)
        except ValueError as error:
            raise click.BadParameter(str(error)) from None

    return read


def _forwarder(url: str) -> Forwarder:
    try:
        return Forwarder.to(url, Clock())
    except ReplayRefused as refused:
        raise ValueError(str(refused)) from None


def _conditions(texts: tuple[str, ...]) -> tuple[Condition, ...]:
    return tuple(map(Condition.parse, texts))


def _meets(conditions: tuple[Condition, ...], delivery: ReceivedDelivery) -> bool:
    request = Request(delivery.method, delivery.path, delivery.headers, delivery.body)
    return all(condition.matches(request) for condition in conditions)


# In bytes, for a machine of usual size.
LARGEST_BODY: Final = 2**28

ADDRESS: Final[dict[str, Any]] = {
    "callback": _option_callback(Address.parse),
    "metavar": "H:P",
    "default": "127.0.0.1:0",
    "show_default": True,
}


@click.command(
    epilog=examples(
        (
            "hookproof receive --ca-dir ca --bind 127.0.0.1:8443 --control 127.0.0.1:8444",
            "Receive until it is stopped; the control address has a live page.",
        ),
        (
            "hookproof receive --expect 2 --timeout 60 --verify --secret 'a secret'",
            "Fail unless two deliveries come that this secret signed.",
        ),
        (
            "hookproof receive --forward-to http://127.0.0.1:3000/hooks --verify --scheme auto",
            "Pass deliveries on to your own server, and verify them beside it.",
        ),
    )
)
@click.option("--bind", **ADDRESS, help="Address for deliveries; port 0 takes any free one.")
@click.option("--control", **ADDRESS, help="Address of the control API.")
@click.option(
    "--ca-dir",
    type=click.Path(path_type=Path),
    help="Folder of the CA; by default a CA is made for this run.",
)
@click.option(
    "--tls-cert",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    metavar="FILE",
    help="Certificate to show in place of one of the CA, with its chain (PEM).",
)
@click.option(
    "--tls-key",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    metavar="FILE",
    help="Key of --tls-cert, without a password (PEM).",
)
@click.option("--http", is_flag=True, help="Listen without TLS, as behind a proxy that ends it.")
@click.option(
    "--public-url",
    callback=_option_callback(parse_base_url),
    metavar="URL",
    help="URL by which senders reach --bind.",
)
@click.option(
    "--forwarded",
    is_flag=True,
    help="Believe X-Forwarded-For, -Proto, -Host and -Prefix, as behind a proxy that sets them.",
)
@click.option(
    "--script",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="YAML file with the replies of tokens.",
)
@click.option("--tls-faults", is_flag=True, help="Also listen on ports with faulty TLS.")
@click.option(
    "--mail",
    callback=_option_callback(Address.parse),
    metavar="H:P",
    help="Also accept mail: one to TOKEN@DOMAIN is a delivery to the token.",
)
@click.option("--mail-reserved", is_flag=True, hidden=True)
@click.option(
    "--allow-replay",
    callback=_option_callback(ReplayAllowance.parse),
    multiple=True,
    metavar="CIDR|HOST",
    help="Allow replays from the live page to a network or a host besides this machine.",
)
@click.option(
    NAME_OPTION,
    "control_name",
    multiple=True,
    metavar="HOST",
    help="An additional host name by which browsers may reach --control.",
)
@click.option(
    "--forward-to",
    "forward",
    callback=_option_callback(_forwarder),
    metavar="URL",
    help="Send each delivery to a server of yours, and its answer back to the sender.",
)
@click.option(
    "--only",
    "conditions",
    callback=_option_callback(_conditions),
    multiple=True,
    metavar="NAME=TEXT",
    help=(
        "Report, count, write and forward only what has header:NAME=TEXT, body:PATH=TEXT, "
        "query:NAME=TEXT or method=TEXT, in which * stands for anything; != for the opposite."
    ),
)
@click.option(
    "--max-body",
    type=click.IntRange(1, LARGEST_BODY),
    default=MOST_BODY_BYTES,
    show_default=True,
    metavar="BYTES",
    help="The largest body of a request; a larger one is refused with 413.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the addresses as one line of JSON.")
@click.option(UNTIL_STDIN_CLOSES, is_flag=True, help="Stop when standard input ends.")
@click.option("--once", is_flag=True, help="Stop after the first delivery: --expect 1.")
@click.option(
    "--expect",
    type=click.IntRange(min=1),
    metavar="N",
    help="Stop after N deliveries; exit 1 if fewer came.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="How long to wait for the deliveries of --expect.",
)
@click.option(
    "--jsonl",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Append each delivery to FILE as JSON.",
)
@click.option(
    "--verify", is_flag=True, help="Verify each signature and say what is wrong; see --secret."
)
@click.option("--secret", "secrets", **SECRET)
@click.option(
    "--scheme",
    metavar="NAME|FILE|auto",
    shell_complete=complete_scheme,
    help="Who signs, in place of a dialect: `hookproof scheme list` shows all; auto: headers tell.",
)
@click.option("--dialect", **DIALECT)
@click.option("--format", "format_name", **FORMAT)
@click.option("--tolerance", "tolerance_s", **TOLERANCE)
@click.pass_context
def receive(
    context: click.Context,
    /,
    *,
    bind: Address,
    control: Address,
    ca_dir: Path | None,
    tls_cert: Path | None,
    tls_key: Path | None,
    http: bool,
    public_url: str | None,
    forwarded: bool,
    script: Path | None,
    tls_faults: bool,
    mail: Address | None,
    mail_reserved: bool,
    allow_replay: ReplayAllowance,
    control_name: tuple[str, ...],
    forward: Forwarder | None,
    conditions: tuple[Condition, ...],
    max_body: int,
    as_json: bool,
    until_stdin_closes: bool,
    **watch_options: Any,
) -> None:
    """Start the webhook receiver; the first segment of a path is the token of its deliveries.

    With --forward-to your own server gets each delivery byte for byte, and its answer goes back to
    the sender, unless the token has a script. If it does not answer in 30 seconds, the sender gets
    a 502.

    With --scheme the requests by which this sender tries a URL are answered as it wants, unless a
    server of yours does.

    All requests that are under way may have 64 MiB together, or four times --max-body: beyond that
    the largest is refused. Deliveries have 64 MiB in memory, and 4 GiB in a temporary file.

    With --expect or --once it exits with 0 when the deliveries came, all of them verified with
    --verify, and with 1 otherwise.
    """
    logging.basicConfig(
        handlers=[MessageHandler()],
        level=logging.WARNING,
        format="hookproof receive: %(message)s",
    )
    if mail is not None:
        require_extra("check", "hookproof receive --mail")
    if http and tls_faults:
        raise CommandError("--tls-faults needs TLS; leave out --http")
    if (tls_cert is None) != (tls_key is None):
        raise CommandError("--tls-cert and --tls-key are needed together")
    if http and tls_cert is not None:
        raise CommandError("--tls-cert needs TLS; leave out --http")
    only = functools.partial(_meets, conditions) if conditions else None
    settings = ReceiverConfiguration(
        bind=bind,
        control=control,
        tls=not http,
        authority_folder=ca_dir,
        certificate=None if tls_cert is None or tls_key is None else (tls_cert, tls_key),
        public_url=public_url,
        forwarded=forwarded,
        tokens=_read_script(script) if script else {},
        tls_faults=tls_faults,
        mail=mail,
        mail_reserved=mail_reserved,
        replays=allow_replay,
        control_names=control_name,
        forward=forward,
        only=only,
        challenges=_challenges(watch_options["scheme"], watch_options["secrets"]),
        max_body=max_body,
    )
    raise_descriptor_limit()
    describe = _as_json if as_json else _as_text
    with contextlib.ExitStack() as stack, asyncio.Runner(loop_factory=_loop_factory()) as runner:
        options = _watch_options(stack, **watch_options)
        if forwarded:
            show_sender = functools.partial(forwarded_members, public_url=public_url)
            options = replace(options, further_members=show_sender)
        options = replace(options, only=only, public_url=public_url, forwarded=forwarded)
        serving = _serve(
            settings,
            options,
            describe=describe,
            silent=as_json,
            until_stdin_closes=until_stdin_closes,
        )
        code = runner.run(serving)
    context.exit(code)


def _challenges(
    scheme: str | None, secrets: tuple[str, ...]
) -> Callable[[Arrival], Reply | None] | None:
    """The replies to those who try a URL: to this sender, or to any of them if headers tell."""
    if scheme is None:
        return None
    schemes = named_schemes(scheme) or tuple(shipped_schemes().values())
    challenges = [each.entry.challenge for each in schemes if each.entry.challenge]
    secret = next(iter(secrets), None)
    return functools.partial(challenge_reply, challenges, secret) if challenges else None


def _read_script(path: Path) -> Mapping[str, TokenPlan]:
    try:
        return read_script_file(path)
    except FileProblems as problems:
        raise CommandError(str(problems)) from None


def _watch_options(
    stack: contextlib.ExitStack,
    *,
    once: bool,
    expect: int | None,
    timeout: float | None,
    jsonl: Path | None,
    verify: bool,
    secrets: tuple[str, ...],
    scheme: str | None,
    dialect: str,
    format_name: str | None,
    tolerance_s: float | None,
) -> WatchOptions:
    """What to do with the deliveries; the `--jsonl` file stays open until the stack unwinds."""
    expected = 1 if expect is None and once else expect
    if timeout is not None and expected is None:
        raise click.UsageError("--timeout needs --expect or --once")
    if not verify and (secrets or scheme):
        print_text("hookproof receive: signatures are not verified; --verify does that", err=True)
    schemes = named_schemes(scheme)
    automatic = scheme is not None and not schemes
    judge = (
        build_judge(dialect, secrets, format_name, tolerance_s, schemes, automatic=automatic)
        if verify
        else None
    )
    try:
        lines = _json_lines(stack, jsonl) if jsonl else None
    except OSError as error:
        raise CommandError(f"cannot write {jsonl}: {error.strerror or error}") from None
    return WatchOptions(judge=judge, lines=lines, expect=expected, timeout_s=timeout)


def _json_lines(stack: contextlib.ExitStack, path: Path) -> JsonLines:
    return JsonLines(path=path, stream=stack.enter_context(path.open("ab", buffering=0)))


async def _serve(
    settings: ReceiverConfiguration,
    options: WatchOptions,
    *,
    describe: Callable[[RunningReceiver], str],
    silent: bool,
    until_stdin_closes: bool,
) -> int:
    """Run until a signal, the end of standard input, or all expected deliveries.

    Returns the exit code.
    """
    from hookproof.receiver.cli.display import display

    loop = asyncio.get_running_loop()
    try:
        with display(silent=silent) as delivery_display:
            watch = DeliveryWatch(
                options, delivery_display, functools.partial(print_line, err=True)
            )
            for number in (signal.SIGINT, *STOPPING):
                loop.add_signal_handler(number, watch.stop)
            # A parent that uses the control API needs no reports, which take time.
            reports = options != WatchOptions(
                only=options.only,
                further_members=options.further_members,
                public_url=options.public_url,
                forwarded=options.forwarded,
            )
            on_done = watch.add if reports or not silent else None
            async with run_receiver(replace(settings, on_done=on_done)) as receiver:
                print_text(describe(receiver))
                if until_stdin_closes:
                    call_at_end_of_input(loop, watch.stop)
                return await watch.report()
    except (CannotStart, AuthorityProblem) as problem:
        raise CommandError(str(problem)) from None


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory


def _as_json(receiver: RunningReceiver) -> str:
    return json.dumps(
        {
            "url": receiver.url,
            "listening": receiver.listening,
            "control": receiver.control,
            "mail": receiver.mail,
            "ca": str(receiver.ca) if receiver.ca else None,
            "tls_faults": {fault: listener.url for fault, listener in receiver.tls_faults.items()},
        }
    )


def _as_text(receiver: RunningReceiver) -> str:
    own = f" (listening at {receiver.listening})" if receiver.listening != receiver.url else ""
    trust = f"; let senders trust {receiver.ca}" if receiver.ca else ""
    faults = "".join(
        f"\n  {fault}: {listener.url}" for fault, listener in receiver.tls_faults.items()
    )
    wrong = f"\nWith faulty TLS:{faults}" if faults else ""
    control = f"live page and control API at {receiver.control}"
    mail = f", mail server at {receiver.mail}" if receiver.mail else ""
    return f"Receiving at {receiver.url}/TOKEN{own}, {control}{mail}{trust}. Ctrl-C stops.{wrong}"
