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
from typing import Final

import click
from click.shell_completion import CompletionItem

from hookproof.commands.former_names import FORMER_NAMES, former_name
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
    "check-consumer": (
        "hookproof.receiver.cli.check_consumer:check_consumer",
        "Judge a consumer: what it takes, and what it refuses.",
    ),
    "compare": (
        "hookproof.commands.compare.command:compare",
        "Compare runs: two, many over time, or side by side.",
    ),
    "completion": (
        "hookproof.commands.completion:completion",
        "Print the script by which a shell completes commands.",
    ),
    "dialect": (
        "hookproof.commands.dialect.command:dialect",
        "Show what a dialect can say, and how two differ.",
    ),
    "doctor": (
        "hookproof.conformance.doctor.command:doctor",
        "Check whether a target can be judged, and what to fix.",
    ),
    "explain": (
        "hookproof.conformance.cli.explain:explain",
        "Show the requirements: what each says, how it is tested.",
    ),
    "init": (
        "hookproof.conformance.setup.command:init",
        "Set up the test of a server: ask, examine, learn, write.",
    ),
    "learn": (
        "hookproof.conformance.cli.learn:learn",
        "Find out the dialect of a target, from its URL and a key.",
    ),
    "load": (
        "hookproof.load.cli.load:load",
        "Load a server and measure its deliveries at the receiver.",
    ),
    "mcp": (
        "hookproof.commands.mcp_server:mcp",
        "Offer hookproof to agents and editors as tools (MCP).",
    ),
    "mutants": (
        "hookproof.conformance.mutants.cli:mutants",
        "Prove that the checks detect every faulty server, and no other.",
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
        "Render a run as JUnit, SARIF, Markdown, ..., or pack it.",
    ),
    "scheme": (
        "hookproof.receiver.cli.scheme:scheme",
        "Show how known senders sign, such as Stripe or GitHub.",
    ),
    "schema": (
        "hookproof.commands.schema:schema",
        "Print the JSON Schema of a kind of file, for editors.",
    ),
    "send": (
        "hookproof.receiver.cli.send:send",
        "Send a signed event to a consumer: late, twice, old, ...",
    ),
    "serve": (
        "hookproof.mockserver.cli:serve",
        "Start the reference server, which delivers webhooks.",
    ),
    "sign": (
        "hookproof.receiver.cli.sign:sign",
        "Print the headers of a signed delivery.",
    ),
    "validate": (
        "hookproof.commands.validate:validate",
        "Check files that people write, and report their mistakes.",
    ),
    "vectors": (
        "hookproof.receiver.cli.vectors:vectors",
        "Print signed deliveries, right and wrong; grade a verifier.",
    ),
    "verify": (
        "hookproof.receiver.cli.verify:verify",
        "Check the signature of one saved delivery.",
    ),
}

# The groups of `hookproof --help`; what is in none of them is named at its end.
GROUPS: Final = {
    "Test a server": ("check", "init", "learn", "doctor", "explain", "dialect", "validate"),
    "Mock and receive": (
        "serve",
        "receive",
        "check-consumer",
        "verify",
        "send, sign",
        "scheme, vectors",
    ),
    "Load": ("load",),
    "Results": ("report", "compare"),
}
# The lines of commands that have one together there.
SHARED_LINES: Final = {
    "send, sign": "Send a signed event, right or wrong; print its headers.",
    "scheme, vectors": "Show how known senders sign; test a verifier by vectors.",
}

# The extra that a subcommand needs; all others run with what `hookproof` alone installs.
NEEDED_EXTRAS: Final = {
    **dict.fromkeys(("check", "doctor", "init", "learn", "mutants"), "check"),
    "load": "load",
    "mcp": "mcp",
}

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
        if extra := NEEDED_EXTRAS.get(cmd_name):
            from hookproof.process.extras import is_installed, require_extra

            is_completing = ctx is not None and ctx.resilient_parsing
            if is_completing and not is_installed(extra):
                return None
            require_extra(extra, f"hookproof {cmd_name}")
        module, attribute = SUBCOMMANDS[cmd_name][0].split(":")
        with _collection_paused():
            command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if name := former_name(args):
            args = [*FORMER_NAMES[name], *args[len(name) :]]
            if not ctx.resilient_parsing:
                print_line(
                    f"hookproof: `{' '.join(['hookproof', *name])}` is now"
                    f" `{' '.join(['hookproof', *FORMER_NAMES[name]])}`; this release still takes"
                    " the former name",
                    err=True,
                )
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
        rows = [row for rows in GROUPS.values() for row in rows]
        width = max(map(len, rows))
        for title, named in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [
                        (f"{row:{width}}", SHARED_LINES.get(row) or SUBCOMMANDS[row][1])
                        for row in named
                    ]
                )
        shown = {name for row in rows for name in row.split(", ")}
        others = ", ".join(sorted(SUBCOMMANDS.keys() - shown))
        formatter.write_paragraph()
        formatter.write_text(f"Also: {others}. `hookproof COMMAND --help` says more.")


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
