"""How a command refuses a setting: one line on standard error, exit code 64."""

from typing import Final

import click

EXIT_USAGE: Final = 64


class UnusableSetting(click.ClickException):
    """A setting cannot be used; the message says why."""

    exit_code = EXIT_USAGE
