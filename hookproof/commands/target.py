"""The command `hookproof target`: checks target files without their target."""

import os
from pathlib import Path

import click

from hookproof.conformance.target.file import check_target_file
from hookproof.help_examples import examples
from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.process.messages import print_line, print_text
from hookproof.spec.strict_yaml.file_problem import FileProblems


@click.group(
    epilog=examples(
        ("hookproof target check target.yaml", "Check a target file."),
    )
)
def target() -> None:
    """Check target files, which describe the server under test."""


@target.command(
    epilog=examples(
        (
            "hookproof target check target.yaml staging.yaml",
            "Check two files before they are committed.",
        ),
    )
)
@click.argument(
    "paths", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path)
)
@click.pass_context
def check(context: click.Context, /, *, paths: tuple[Path, ...]) -> None:
    """Check target files, and report their mistakes with their lines.

    Nothing is called, no hook is imported, no variable needs a value, and certificates need not
    exist: `hookproof doctor` examines all that where the file is used. Exit codes: 0 all of them
    can be used; 64 one cannot.
    """
    code = ExitCode.OK
    for path in paths:
        try:
            check_target_file(path, os.environ)
            print_line(f"{path}: the target file can be used")
        except FileProblems as problems:
            print_text(str(problems), err=True)
            code = ExitCode.USAGE
        except CommandError as error:
            print_text(f"{path}: {error}", err=True)
            code = ExitCode.USAGE
    context.exit(code)
