"""The command `hookproof`: a group whose subcommands are imported only when they are called.

That keeps `hookproof --help` fast and keeps locust, which monkey-patches the whole process, out of
every other command.
"""

import errno
import gc
import importlib
import logging
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from importlib.util import find_spec
from typing import Final

import click
from click.shell_completion import CompletionItem

from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.process.installed_version import installed_version
from hookproof.process.messages import MessageHandler, print_line, print_text
from hookproof.process.standard_streams import output_problem, use_lasting_streams
from hookproof.process.stop_signals import end_as_by_interrupt, end_at_once_with
from hookproof.process.written_file import lack_of_space

# Each subcommand: its module and attribute, and its line in `hookproof --help`.
SUBCOMMANDS: Final = {
    "ca": (
        "hookproof.receiver.cli.certificate_authority:ca",
        "Make the certificate authority that a target must trust.",
    ),
    "check": (
        "hookproof.conformance.cli.check:check",
        "Judge a server against the document and its dialect.",
    ),
    "compare": (
        "hookproof.conformance.cli.compare:compare",
        "Compare two runs: what got better, what got worse.",
    ),
    "completion": (
        "hookproof.commands.completion:completion",
        "Print the script by which a shell completes commands.",
    ),
    "dialect": (
        "hookproof.commands.dialect.command:dialect",
        "Show, compare and check dialects.",
    ),
    "doctor": (
        "hookproof.conformance.doctor.command:doctor",
        "Check whether a target can be judged, and what to fix if not.",
    ),
    "explain": (
        "hookproof.conformance.cli.explain:explain",
        "Explain a requirement: what it says, how it is tested.",
    ),
    "init": (
        "hookproof.conformance.setup.command:init",
        "Set up the test of a server: ask, examine, learn, write the files.",
    ),
    "learn": (
        "hookproof.conformance.cli.learn:learn",
        "Find out the dialect of a target, from its URL and a key.",
    ),
    "list": (
        "hookproof.conformance.cli.list:list_",
        "List the requirements and the checks.",
    ),
    "load": (
        "hookproof.load.cli.load:load",
        "Load a server and measure its deliveries at the receiver.",
    ),
    "matrix": (
        "hookproof.conformance.cli.matrix:matrix",
        "Show the verdicts of many runs side by side, on one page.",
    ),
    "mutants": (
        "hookproof.conformance.mutants.cli:mutants",
        "Prove that the checks detect every faulty server, and no other.",
    ),
    "pack": (
        "hookproof.conformance.cli.pack:pack",
        "Pack a run into one file, with checksums and a signature.",
    ),
    "receive": ("hookproof.receiver.cli.receive:receive", "Start the webhook receiver."),
    "regrade": (
        "hookproof.conformance.cli.regrade:regrade",
        "Judge the stored evidence of a run again.",
    ),
    "replay": (
        "hookproof.conformance.replay.command:replay_command",
        "Send the requests of a run again, and show what differs.",
    ),
    "report": (
        "hookproof.conformance.cli.report:report",
        "Render a run in another format, such as JUnit, SARIF or CTRF.",
    ),
    "schema": (
        "hookproof.commands.schema:schema",
        "Print the JSON Schema of a kind of file, for editors.",
    ),
    "serve": (
        "hookproof.mockserver.cli:serve",
        "Start the reference server, which delivers webhooks.",
    ),
    "target": (
        "hookproof.commands.target:target",
        "Check target files.",
    ),
    "trend": (
        "hookproof.commands.trend.command:trend",
        "Show what got better or worse over the runs in a folder.",
    ),
    "unpack": (
        "hookproof.conformance.cli.pack:unpack",
        "Check a packed run, and write its files into a folder.",
    ),
    "vectors": (
        "hookproof.receiver.cli.vectors:vectors",
        "Print signed deliveries, valid and invalid; grade a verifier.",
    ),
    "verify": (
        "hookproof.receiver.cli.verify:verify",
        "Check the signature of one saved delivery.",
    ),
}

# The modules that a subcommand needs from an extra of the same name.
EXTRAS: Final = {"load": ("locust", "hdrh")}

# How click begins its message about a word that is none of an option's choices.
REFUSED_CHOICE: Final = re.compile("'(?P<word>.*)' is not one of")

# What the system says of a path that can be none.
NO_NAMES: Final = frozenset({errno.ENAMETOOLONG, errno.ELOOP})

# The descriptor of standard error, the last of the three standard streams.
STDERR: Final = 2


class LazyGroup(click.Group):
    """A group that imports a subcommand's module when the subcommand is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(SUBCOMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in SUBCOMMANDS:
            return None
        if any(find_spec(module) is None for module in EXTRAS.get(cmd_name, ())):
            if ctx is not None and ctx.resilient_parsing:  # a shell asks for completions
                return None
            raise CommandError(
                f"`hookproof {cmd_name}` is not installed: pip install 'hookproof[{cmd_name}]'"
            )
        module, attribute = SUBCOMMANDS[cmd_name][0].split(":")
        with _collection_paused():
            command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as unknown:  # click knows only commands that are loaded
            raise click.NoSuchCommand(
                unknown.command_name, possibilities=SUBCOMMANDS, ctx=ctx
            ) from None

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        commands = [
            CompletionItem(name, help=line)
            for name, (_, line) in sorted(SUBCOMMANDS.items())
            if name.startswith(incomplete)
        ]
        return [*commands, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in sorted(SUBCOMMANDS.items())])


def show_version(context: click.Context, _option: click.Parameter, asked: bool) -> None:
    """Unlike click's option, this looks the version up only where it is asked for."""
    if asked and not context.resilient_parsing:
        print_line(f"hookproof, version {installed_version()}")
        context.exit()


@click.command(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=show_version,
    help="Show the version and exit.",
)
def cli() -> None:
    """Prove that a webhook delivery service keeps its word.

    Exit codes: 0 conforms; 1 does not; 3 incomplete; 4 target unreachable; 64 usage, configuration
    or a file that cannot be written; 70 internal error of hookproof; 130 interrupted before
    anything was gathered.
    """


def main() -> None:
    """Run the command line and exit with its code; every error is reported in one line."""
    open_closed_standard_streams()
    use_lasting_streams()
    logging.lastResort = MessageHandler(logging.WARNING)
    end_as_by_interrupt()
    code = run_command_line()
    problem = output_problem()
    if problem is not None:
        print_text(f"hookproof: {problem}", err=True)
    if code is None:  # a command whose output is its whole result
        code = ExitCode.OK if problem is None else ExitCode.USAGE
    end_at_once_with(code)
    gc.freeze()  # the interpreter looks for garbage before it ends, among all that was gathered
    sys.exit(code)


def run_command_line() -> int | None:
    """The exit code that the command chose, None if it chose none."""
    code: object
    try:
        code = cli.main(prog_name="hookproof", standalone_mode=False)
    except click.exceptions.Exit as ended:
        code = ended.exit_code
    except (click.Abort, KeyboardInterrupt):
        print_line("hookproof: interrupted", err=True)
        code = ExitCode.INTERRUPTED
    except click.exceptions.NoArgsIsHelpError as error:  # a group alone, such as `hookproof`
        print_text(error.format_message())
        code = ExitCode.OK
    except click.ClickException as error:
        code = report_usage_error(error)
    except Exception as error:
        code = report_unexpected_error(error)
    return code if isinstance(code, int) else None


@contextmanager
def _collection_paused() -> Iterator[None]:
    """Modules stay: to look for garbage among them would take a tenth of the import, in vain."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def report_unexpected_error(error: Exception) -> int:
    """Print the error in one line; a full disk or an impossible path is no error of ours."""
    if isinstance(error, OSError) and (lack := lack_of_space(error)):
        print_line(f"hookproof: {lack}", err=True)
        return ExitCode.USAGE
    if isinstance(error, OSError) and error.errno in NO_NAMES:
        print_line(f"hookproof: {error.filename} cannot be used: {error.strerror}", err=True)
        return ExitCode.USAGE
    message = " ".join(str(error).split()) or "no message"
    print_line(
        f"hookproof: internal error of hookproof: {type(error).__name__}: {message}", err=True
    )
    return ExitCode.INTERNAL_ERROR


def open_closed_standard_streams() -> None:
    """Open those of the three standard streams that the caller closed.

    Otherwise the first socket would get the number of one of them.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= STDERR:
        pass
    os.close(descriptor)


def report_usage_error(error: click.ClickException) -> int:
    """Print the error in one line; the code is 64 unless the command chose another one."""
    if not isinstance(error, click.UsageError):
        print_text(f"hookproof: {error.format_message()}", err=True)
        # 1 is what click has for every error; a command that chose it says so.
        return error.exit_code if isinstance(error, CommandError) else ExitCode.USAGE
    path = error.ctx.command_path if error.ctx else "hookproof"
    message = f"{error.format_message()}{nearest_choice(error)}"
    print_text(f"{path}: {message} (see `{path} --help`)", err=True)
    return ExitCode.USAGE


def nearest_choice(error: click.UsageError) -> str:
    """A question about the word that was meant, where a word is none of an option's choices."""
    kind = error.param.type if isinstance(error, click.BadParameter) and error.param else None
    refused = REFUSED_CHOICE.match(error.message)
    if not isinstance(kind, click.Choice) or refused is None:
        return ""
    close = get_close_matches(refused["word"], [str(choice) for choice in kind.choices], n=1)
    return f" Did you mean {close[0]!r}?" if close else ""
