"""A mock server and `hookproof load` against it, as processes, for tests."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from receiver.authority import Authority

HOOKPROOF = (sys.executable, "-m", "hookproof")


PATIENT = ("--keep-up", "60")
"""A machine that does much else besides sends late, and no test is about that."""


def hookproof_load(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [*HOOKPROOF, "load", *arguments, *PATIENT, "--out", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)


def report(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "report.json").read_text()))


def figures(folder: Path) -> dict[str, Any]:
    return dict(report(folder)["figures"])


@contextmanager
def serving(folder: Path, *arguments: str) -> Iterator[tuple[str, ...]]:
    """A server with these options; the options of a load run against it."""
    ca = folder / "ca"
    Authority(ca)
    serve = ["serve", "--port", "0", "--json", "--until-stdin-closes", "--project", "p=k", "--ca", str(ca / "ca.pem")]
    with subprocess.Popen(
        [*HOOKPROOF, *serve, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        url = json.loads(server.stdout.readline())["api"]
        try:
            yield ("--url", url, "--api-key", "k", "--project", "p", "--ca-dir", str(ca))
        finally:
            server.stdin.close()
