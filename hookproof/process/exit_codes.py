"""The exit codes of all commands, and the exception that ends a command with one of them."""

from enum import IntEnum

import click

from hookproof.process.terminal_text import message_text


class ExitCode(IntEnum):
    """What the process reports to its caller.

    `OK` and `FAILED` are the same numbers for the commands that do not judge conformance. A run in
    which no check ran never ends with `CONFORMS`.
    """

    CONFORMS = 0
    DOES_NOT_CONFORM = 1
    INCOMPLETE = 3
    UNREACHABLE = 4
    # EX_USAGE and EX_SOFTWARE of sysexits.h.
    USAGE = 64
    INTERNAL_ERROR = 70
    # 128 + SIGINT, as shells report it.
    INTERRUPTED = 130

    OK = 0
    FAILED = 1


class CommandError(click.ClickException):
    """Ends a command with an exit code.

    The message says what is wrong, where, and what to do, in one line per problem. What a target
    or a URL contributed to it is made safe to show.
    """

    exit_code: ExitCode  # type: ignore[misc]  # click reads it from the instance as well

    def __init__(self, message: str, exit_code: ExitCode = ExitCode.USAGE) -> None:
        super().__init__(message_text(message))
        self.exit_code = exit_code
