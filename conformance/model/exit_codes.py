"""The exit codes of `hookproof check`, and the refusals that end a run before it begins."""

from enum import IntEnum


class ExitCode(IntEnum):
    """What the process tells its caller. A run without a single check never ends with CONFORMS."""

    CONFORMS = 0
    DOES_NOT_CONFORM = 1
    INCOMPLETE = 3
    UNREACHABLE = 4
    USAGE = 64
    FAULT = 70


class Refusal(Exception):
    """The run cannot begin. The message says what is wrong, where, and what to do, in one line per
    problem.
    """

    def __init__(self, message: str, exit_code: ExitCode = ExitCode.USAGE) -> None:
        super().__init__(message)
        self.exit_code = exit_code
