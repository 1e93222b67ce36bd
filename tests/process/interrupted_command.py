"""Commands that are stopped by a signal at an exact moment."""

import signal
import subprocess
from pathlib import Path

from tests.conformance.command import environment, with_signals
from tests.quick_start.interpreter import quick_python


def stopped_before(
    place: str, folder: Path, *words: str, number: signal.Signals = signal.SIGTERM
) -> subprocess.CompletedProcess[str]:
    """Run a command that gets the signal as it is about to call the function at this place.

    What it writes, if anything, is in the folder `out`.
    """
    command = [quick_python(), "-P", "-m", "tests.process.signalled_command", place]
    out = () if words[0] == "doctor" else ("--out", str(folder / "out"))
    return subprocess.run(
        with_signals([*command, str(int(number)), *words, *out]),
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
