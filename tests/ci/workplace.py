"""What a CI system gives to a job: a checkout of the project, a folder to work in, an environment.

Packages are not fetched: pip finds those of the environment that runs the tests.
"""

import os
import re
import shlex
import shutil
import socket
import sys
import sysconfig
import time
from pathlib import Path
from typing import Final

from hookproof.conformance.generation.generators import KEPT_IN
from tests.project.test_installed_wheel import tracked_files
from tests.source_tree import ROOT

# What would lead a job to this checkout, or to settings of who runs the tests.
FOREIGN: Final = re.compile("PYTHON|PYTEST|HOOKPROOF_|VIRTUAL_ENV|PIP_|GITHUB_|CI_")

# A requirement that takes one experiment, as a pattern that a shell must not replace by the name of
# a file; and a fault that violates it.
ONE: Final = "--only 5-4*"
LIKE_ONE: Final = "5-4-notes"
FAULT: Final = "no_key_needed"
DEADLINE_S: Final = 60.0

Address = tuple[str, int]


def checked_out(folder: Path) -> Path:
    """A copy of the files that git knows."""
    for name in tracked_files():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name, follow_symlinks=False)
    return folder


def job_environment(folder: Path) -> dict[str, str]:
    """The environment of a job in which pip finds all packages but this one.

    Its python3 is the one that runs the tests, and no command of that environment can be found.
    """
    packages = folder / "packages"
    packages.mkdir(parents=True)
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if not path.name.startswith(("hookproof", "__editable__")) and path.suffix != ".pth":
            (packages / path.name).symlink_to(path)
    python = folder / "bin" / "python3"
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
    python.chmod(0o755)
    inherited = {name: value for name, value in os.environ.items() if not FOREIGN.match(name)}
    return {
        **inherited,
        KEPT_IN: os.environ[KEPT_IN],
        "HOME": str(folder),
        "PATH": f"{python.parent}:{os.defpath}",
        "PYTHONPATH": str(packages),
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # which turns the isolation off
    }


def server_address() -> Address:
    """An address on which nothing else of this machine is likely to listen: a CI job has to know it
    before its server starts.
    """
    host = "127.{}.{}.{}".format(*(1 + byte % 254 for byte in os.urandom(3)))
    with socket.create_server((host, 0)) as listener:
        return host, listener.getsockname()[1]


def start_command(address: Address, *options: str) -> str:
    """The command that starts the reference server as the server under test of a job."""
    host, port = address
    words = ["--host", host, "--port", str(port), "--project", "p1=key-1", "--ca", "ca/ca.pem"]
    return " ".join(["hookproof serve", *words, *options])


def until_nothing_listens(address: Address) -> None:
    """Return once the server of a job has ended, which was told to do so."""
    deadline = time.monotonic() + DEADLINE_S
    while True:
        try:
            socket.create_connection(address, timeout=DEADLINE_S).close()
        except ConnectionRefusedError:
            return
        assert time.monotonic() < deadline, "the server was left"
        time.sleep(0.05)  # nothing announces that another process has ended
