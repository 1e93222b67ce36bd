"""Commands as a user runs them: a process, with a folder and an environment of its own."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hookproof.conformance.observations.deliveries import STILL_ARRIVING
from hookproof.conformance.subjects.rate_limits.laws import SENT_APART, TOO_SLOW
from hookproof.conformance.subjects.slow_neighbours.laws import NOTHING_MEANWHILE
from tests.quick_start.interpreter import quick_hookproof

# How long a whole run may take on a busy machine, so that only a hang is caught.
DEADLINE_S = 900.0

# What says that something was not judged because this machine or the target was too slow for it.
FOR_LATENESS = ("this machine was late", STILL_ARRIVING, SENT_APART, TOO_SLOW, NOTHING_MEANWHILE)

# What the user's shell, or the pytest around these tests, must not pass on to the command. What was
# generated for the runs of other tests is no setting.
FOREIGN_VARIABLES = re.compile("HOOKPROOF_(?!GENERATED$)|PYTEST|NO_COLOR|FORCE_COLOR")

PROGRESS_LINE = re.compile(r"^hookproof: \d+ s: .*\d+ of \d+ requirements judged.*\n", re.MULTILINE)

# A background job ignores SIGINT, one of nohup SIGHUP, and what it starts inherits that.
RESTORE_SIGNALS = (
    "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL);"
    " signal.signal(signal.SIGHUP, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"
)


@dataclass(frozen=True, kw_only=True)
class CommandResult:
    """How a command ended: its exit code and its output."""

    code: int
    out: str
    err: str


def is_for_lateness(*texts: str) -> bool:
    """Whether these texts say that something was not judged for the sake of a busy machine."""
    return any(words[1:] in text for words in FOR_LATENESS for text in texts)


def command_line(subcommand: str, *words: str | Path) -> list[str]:
    """The command as a process that starts as it does for users."""
    return [sys.executable, "-P", "-m", "hookproof", subcommand, *map(str, words)]


def with_signals(command: Sequence[str]) -> list[str]:
    """The command with the default handling of the signals of a terminal restored."""
    return [sys.executable, "-c", RESTORE_SIGNALS, *command]


def environment(**variables: str) -> dict[str, str]:
    inherited = {
        name: value for name, value in os.environ.items() if not FOREIGN_VARIABLES.match(name)
    }
    return {**inherited, "PYTHONWARNINGS": "error", **variables}


def run_command(
    folder: Path,
    subcommand: str,
    *words: str | Path,
    timeout_s: float = DEADLINE_S,
    **variables: str,
) -> CommandResult:
    """Run a command to its end, as a process that is forked."""
    process = subprocess.run(
        [*quick_hookproof(), subcommand, *map(str, words)],
        cwd=folder,
        env=environment(**variables),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )
    return command_result(process.returncode, process.stdout, process.stderr)


def check(
    folder: Path, *words: str | Path, timeout_s: float = DEADLINE_S, **variables: str
) -> CommandResult:
    return run_command(folder, "check", *words, timeout_s=timeout_s, **variables)


def command_result(code: int, out: str, err: str) -> CommandResult:
    """The result of a command whose output must not hold a traceback, as no output ever may.

    Lines about the progress are left out: how many there are depends on the machine.
    """
    assert "Traceback" not in out + err, out + err
    return CommandResult(code=code, out=out, err=PROGRESS_LINE.sub("", err))


def reported_requirements(folder: Path, out: str = "hookproof-report") -> dict[str, dict[str, Any]]:
    """The requirements in the report.json of a run in `folder`, by their ids."""
    report = json.loads((folder / out / "report.json").read_text())
    return {requirement["id"]: requirement for requirement in report["requirements"]}
