"""The front door: one command whose subcommands are loaded only when they are called.

Loading lazily keeps `hookproof --help` fast and keeps locust, which patches the whole process, out
of every other command.
"""

import importlib
import os
import sys
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Final

import click

# Each subcommand: where it lives, and the line that `hookproof --help` shows without loading it.
SUBCOMMANDS: Final = {
    "ca": (
        "hookproof.receiver.cli.receive:ca",
        "Make the certificate authority that a target must trust.",
    ),
    "check": (
        "hookproof.conformance.cli.check:check",
        "Judge a server against the document and its dialect.",
    ),
    "compare": (
        "hookproof.conformance.cli.stored_run:compare",
        "Say what got better and worse from one run to another.",
    ),
    "doctor": (
        "hookproof.conformance.doctor.command:doctor",
        "Look whether a target can be judged, and say what to set right.",
    ),
    "explain": (
        "hookproof.conformance.cli.requirements:explain",
        "Explain a requirement: what it says, how it is tested.",
    ),
    "list": (
        "hookproof.conformance.cli.requirements:list_",
        "List the requirements and the checks.",
    ),
    "load": (
        "hookproof.load.cli.load:load",
        "Load a server and measure its deliveries at the receiver.",
    ),
    "mutants": (
        "hookproof.conformance.mutants.cli:mutants",
        "Prove that the suites convict every faulty server, and no other.",
    ),
    "receive": ("hookproof.receiver.cli.receive:receive", "Start the webhook receiver."),
    "regrade": (
        "hookproof.conformance.cli.stored_run:regrade",
        "Judge the stored evidence of a run again.",
    ),
    "report": (
        "hookproof.conformance.cli.stored_run:report",
        "Render a run as HTML, JUnit, SARIF, Markdown, a badge or JSON.",
    ),
    "serve": (
        "hookproof.mockserver.cli:serve",
        "Start the reference server, which really delivers.",
    ),
    "vectors": (
        "hookproof.receiver.cli.vectors:vectors",
        "Print signed deliveries, good and bad, to grade a verifier.",
    ),
    "verify": (
        "hookproof.receiver.cli.verify:verify",
        "Check the signature of one saved delivery.",
    ),
}

# What a subcommand needs beyond a plain installation: a package, and the extra that brings it.
EXTRAS: Final = {"load": ("locust", "hookproof[load]")}

EXIT_USAGE: Final = 64
EXIT_FAULT: Final = 70
# The number of standard error.
LAST_STANDARD: Final = 2


class LazyGroup(click.Group):
    """A group that imports a subcommand's module when the subcommand is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all subcommands, in order."""
        return sorted(SUBCOMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The subcommand of this name, imported now, or None."""
        if cmd_name not in SUBCOMMANDS:
            return None
        package, extra = EXTRAS.get(cmd_name, (None, None))
        if package is not None and find_spec(package) is None:
            raise click.UsageError(
                f"`hookproof {cmd_name}` needs {package}; install it with `pip install '{extra}'`"
            )
        module, attribute = SUBCOMMANDS[cmd_name][0].split(":")
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the subcommands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in sorted(SUBCOMMANDS.items())])


def installed_version() -> str:
    """The version of the installed distribution; a source tree that is not installed has none."""
    try:
        return version("hookproof")
    except PackageNotFoundError:
        return "unknown"


@click.command(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(installed_version(), prog_name="hookproof")
def cli() -> None:
    """Prove that a webhook delivery service keeps its word.

    Exit codes: 0 conforms; 1 does not; 3 incomplete; 4 target unreachable; 64 usage or
    configuration; 70 a fault of hookproof itself.
    """


def main() -> None:
    """Run the command line and exit with its code; every failure is told in one line."""
    hold_standard_streams()
    try:
        code = cli.main(prog_name="hookproof", standalone_mode=False)
    except click.exceptions.Exit as stop:
        code = stop.exit_code
    except click.Abort:
        click.echo("hookproof: interrupted", err=True)
        code = 130
    except click.ClickException as wrong:
        code = tell_usage(wrong)
    except Exception as fault:
        told = " ".join(str(fault).split()) or "no further word"
        click.echo(
            f"hookproof: a fault of hookproof itself: {type(fault).__name__}: {told}", err=True
        )
        code = EXIT_FAULT
    sys.exit(code if isinstance(code, int) else 0)


def hold_standard_streams() -> None:
    """Open what the caller closed of the three standard streams, so that no socket is taken for one
    of them.
    """
    while (opened := os.open(os.devnull, os.O_RDWR)) <= LAST_STANDARD:
        pass
    os.close(opened)


def tell_usage(wrong: click.ClickException) -> int:
    """Tell what is wrong with the call in one line; the code is 64 unless the command chose its
    own.
    """
    path = (
        wrong.ctx.command_path if isinstance(wrong, click.UsageError) and wrong.ctx else "hookproof"
    )
    hint = f" (see `{path} --help`)" if isinstance(wrong, click.UsageError) else ""
    click.echo(f"{path}: {wrong.format_message()}{hint}", err=True)
    return (
        wrong.exit_code
        if not isinstance(wrong, click.UsageError) and wrong.exit_code > 1
        else EXIT_USAGE
    )
