"""Commands that are stopped by a signal at an exact moment."""

import signal
import subprocess
import sys
from pathlib import Path

from tests.conformance.command import environment, with_signals

# A command that sends itself a signal just before it calls a function or a method.
COMMAND = """
import importlib, os, sys

module, _, name = {place!r}.partition(":")
*holders, name = name.split(".")
holder = importlib.import_module(module)
for each in holders:
    holder = getattr(holder, each)
original = getattr(holder, name)

def interrupted(*arguments, **named):
    setattr(holder, name, original)
    os.kill(os.getpid(), {number})
    return original(*arguments, **named)

setattr(holder, name, interrupted)
sys.argv[0] = "hookproof"
import hookproof.cli
hookproof.cli.main()
"""


def stopped_before(
    place: str, folder: Path, *words: str, number: signal.Signals = signal.SIGTERM
) -> subprocess.CompletedProcess[str]:
    """Run a command that gets the signal as it is about to call the function at this place.

    What it writes, if anything, is in the folder `out`.
    """
    source = COMMAND.format(place=place, number=int(number))
    out = () if words[0] == "doctor" else ("--out", str(folder / "out"))
    return subprocess.run(
        with_signals([sys.executable, "-P", "-c", source, *words, *out]),
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
