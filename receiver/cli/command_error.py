"""The error of a command that cannot run: one line on standard error, exit code 64."""

from typing import Final

import click

EXIT_USAGE: Final = 64


class CommandError(click.ClickException):
    """The command cannot run with these arguments; the message says why."""

    exit_code = EXIT_USAGE
