"""The options that describe the target, its dialect and its receiver on the command line.

Each has an environment variable too.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Final, TypeVar

import click
from click.core import ParameterSource

from hookproof.conformance.model.profile import Profile
from hookproof.spec.completion import complete_dialect
from hookproof.target.settings import Flags

Command = TypeVar("Command", bound=Callable[..., Any])


class WholeText(click.types.StringParamType):
    """A text of which several may be given, but one in an environment variable, with its spaces."""

    def split_envvar_value(self, rv: str) -> Sequence[str]:
        return (rv,)


URL: Final = (click.argument("url", required=False, envvar="HOOKPROOF_URL"),)
FILE: Final = (
    click.option(
        "--target",
        "file",
        type=click.Path(path_type=Path),
        envvar="HOOKPROOF_TARGET",
        help="target.yaml, which describes the target; a Python file that its provision names is"
        " run.",
    ),
)
PROJECTS: Final = (
    click.option(
        "--api-key",
        "api_keys",
        type=WholeText(),
        multiple=True,
        envvar="HOOKPROOF_API_KEY",
        help="Key of the project (better: HOOKPROOF_API_KEY); one for all, or one for each.",
    ),
    click.option(
        "--project",
        "projects",
        type=WholeText(),
        multiple=True,
        envvar="HOOKPROOF_PROJECT",
        help="Project to work in; repeat it for a second one, to which isolation is tried.",
    ),
)
DIALECT: Final = (
    click.option(
        "--dialect",
        envvar="HOOKPROOF_DIALECT",
        shell_complete=complete_dialect,
        help="Name or file of the target's dialect, or infer, by which check learns it first.",
    ),
)
RECEIVER: Final = (
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
        "--receiver-http",
        is_flag=True,
        envvar="HOOKPROOF_RECEIVER_HTTP",
        help="Receive plain HTTP from a proxy or tunnel that ends TLS at --receiver-url.",
    ),
    click.option(
        "--ca-dir",
        type=click.Path(path_type=Path),
        envvar="HOOKPROOF_CA_DIR",
        help="Folder of the CA that the target trusts, made by `hookproof ca`.",
    ),
)


def target_options(command: Command) -> Command:
    return _with(command, *URL, *FILE, *PROJECTS, *DIALECT, *RECEIVER)


def address_options(command: Command) -> Command:
    """Add the options that describe a target without a file and a dialect."""
    return _with(command, *URL, *PROJECTS, *RECEIVER)


def profile_option(words: str) -> Callable[[Command], Command]:
    return click.option(
        "--profile",
        type=click.Choice([profile.key for profile in Profile]),
        default=Profile.STANDARD.key,
        show_default=True,
        help=words,
    )


def _with(command: Command, *options: Callable[[Command], Command]) -> Command:
    for option in reversed(options):
        command = option(command)
    return command


def refuse_target_options(context: click.Context) -> None:
    """Raise click.UsageError for what is for a target alone: the embedded server has a key and
    projects of its own.
    """
    for name, option in (
        ("api_keys", "--api-key"),
        ("projects", "--project"),
        ("wait_s", "--wait"),
    ):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{option} is for a target: give its URL, or --target", context)


def flags_of(options: Mapping[str, Any]) -> Flags:
    """What the options say; raises click.UsageError where keys and projects do not match."""
    known = {field.name for field in fields(Flags)}
    projects, keys = options["projects"], options["api_keys"]
    if len(set(projects)) < len(projects):
        raise click.UsageError("--project names one project twice")
    if len(keys) > 1 and len(keys) != len(projects):
        raise click.UsageError(
            f"{len(keys)} times --api-key, and {len(projects)} times --project: give one key for"
            " all, or one for each in the same order"
        )
    if len(projects) > 1 and not keys:
        raise click.UsageError("give --api-key for the projects, or name them in a target file")
    pairs = list(zip(projects, keys * len(projects) if len(keys) == 1 else keys, strict=False))
    return Flags(
        **{name: value for name, value in options.items() if name in known},
        api_key=next(iter(keys), None),
        project=next(iter(projects), None),
        further_projects=tuple(pairs[1:]),
    )
