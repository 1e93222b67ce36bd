"""`hookproof check` as a user runs it: a process, with a folder and an environment of its own."""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

# How long a whole run may take on a busy machine, so that only a hang is caught.
PATIENCE_S = 900.0

FOREIGN = re.compile("HOOKPROOF_|PYTEST|NO_COLOR|FORCE_COLOR")


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How the command ended. No output of it may ever hold a traceback."""

    code: int
    out: str
    err: str


def arguments(*words: str | Path) -> list[str]:
    return [sys.executable, "-P", "-m", "hookproof", "check", *map(str, words)]


RESTORE_SIGINT = (
    "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL);"
    " os.execv(sys.argv[1], sys.argv[1:])"
)


def hearing(command: Sequence[str]) -> list[str]:
    """The command with SIGINT restored, which a background job ignores."""
    return [sys.executable, "-c", RESTORE_SIGINT, *command]


def environment(**variables: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not FOREIGN.match(name)}
    return {**kept, "PYTHONWARNINGS": "error", **variables}


def check(
    folder: Path, *words: str | Path, timeout_s: float = PATIENCE_S, **variables: str
) -> Ended:
    process = subprocess.run(
        arguments(*words),
        cwd=folder,
        env=environment(**variables),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )
    return ended(process.returncode, process.stdout, process.stderr)


def ended(code: int, out: str, err: str) -> Ended:
    assert "Traceback" not in out + err, out + err
    return Ended(code=code, out=out, err=err)
