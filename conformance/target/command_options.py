"""The options that describe the target, its dialect and its receiver on the command line.

Their names are those of `hookproof.target.settings.Flags`; each has an environment variable too.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

OPTIONS: Final = (
    click.argument("url", required=False, envvar="HOOKPROOF_URL"),
    click.option(
        "--target",
        "file",
        type=click.Path(path_type=Path),
        envvar="HOOKPROOF_TARGET",
        help="File that describes the target, target.yaml.",
    ),
    click.option(
        "--api-key",
        envvar="HOOKPROOF_API_KEY",
        help="Key of the project (better: HOOKPROOF_API_KEY).",
    ),
    click.option("--project", envvar="HOOKPROOF_PROJECT", help="Project to work in."),
    click.option(
        "--dialect",
        envvar="HOOKPROOF_DIALECT",
        help="Name or file of the target's dialect; one of your own extends undecided.",
    ),
    click.option(
        "--receiver-bind",
        envvar="HOOKPROOF_RECEIVER_BIND",
        metavar="HOST:PORT",
        help="Where the receiver listens; 127.0.0.1 and a free port by default.",
    ),
    click.option(
        "--receiver-url",
        envvar="HOOKPROOF_RECEIVER_URL",
        metavar="URL",
        help="How the target reaches the receiver, if that is another address.",
    ),
    click.option(
        "--ca-dir",
        type=click.Path(path_type=Path),
        envvar="HOOKPROOF_CA_DIR",
        help="Folder of the CA that the target trusts, made by `hookproof ca`.",
    ),
)


def target_options(command: Command) -> Command:
    """Add all options to a command, in this order."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command
