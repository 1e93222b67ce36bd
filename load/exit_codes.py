"""The exit codes of `hookproof load`; 0 and 1 are those of a run that passed or failed."""

from typing import Final

EXIT_UNREACHABLE: Final = 4
EXIT_USAGE: Final = 64
EXIT_FAULT: Final = 70
# A worker that its user ended.
EXIT_LEFT: Final = 130
