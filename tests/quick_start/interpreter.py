"""An interpreter that runs hookproof as a process, without the time that its imports take."""

import atexit
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from tests.source_tree import ROOT

SERVER = Path(__file__).with_name("server.py")


def quick_hookproof() -> list[str]:
    """The command line of hookproof, without its arguments."""
    return [quick_python(), "-P", "-m", "hookproof"]


@cache
def quick_python() -> str:
    """The path of the interpreter, whose server is started by the first call and ends with this
    process.

    What a test learns of a process by its number, or limits in it, concerns only what stands in for
    it here; such a test uses sys.executable.
    """
    folder = tempfile.TemporaryDirectory(prefix="quick-start-")
    server = subprocess.Popen(
        [sys.executable, "-P", SERVER, folder.name],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )

    def end() -> None:
        server.communicate()
        folder.cleanup()

    atexit.register(end)
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n"
    return f"{folder.name}/python"
