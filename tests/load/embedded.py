"""A mock server and `hookproof load` against it, as processes, for tests."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hookproof.cli import main
from hookproof.receiver.http.authority import Authority

HOOKPROOF = (sys.executable, "-m", "hookproof")
# No test is about speed, and a machine may have much else to do.
ENDS_WITHIN_S = 600

# For the same reason: such a machine sends late.
PATIENT = ("--keep-up", "600")


def hookproof_load(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [*HOOKPROOF, "load", *arguments, *PATIENT, "--out", str(folder)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=ENDS_WITHIN_S, check=False
    )


def called(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> object:
    """The exit code of a command line that starts no process; it runs in this one."""
    monkeypatch.setattr(sys, "argv", ["hookproof", "load", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code


@contextmanager
def loading(*arguments: str, out: Path | None = None) -> Iterator[subprocess.Popen[str]]:
    """A load command that runs; it is killed if it still does at the end."""
    command = [
        *HOOKPROOF,
        "load",
        *arguments,
        *PATIENT,
        *(["--out", str(out)] if out is not None else []),
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def line_with(process: subprocess.Popen[str], pattern: str) -> re.Match[str]:
    """The first line of output that has this in it."""
    assert process.stdout is not None
    seen = []
    for line in process.stdout:
        seen.append(line)
        if match := re.search(pattern, line):
            return match
    assert process.stderr is not None
    raise AssertionError(f"no {pattern!r} in {''.join(seen)}{process.stderr.read()}")


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Wait for the end of a command: its exit code, and the output that was not read yet."""
    shown, errors = process.communicate(timeout=ENDS_WITHIN_S)
    return process.returncode, shown, errors


def report(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "report.json").read_text()))


def figures(folder: Path) -> dict[str, Any]:
    return dict(report(folder)["figures"])


@contextmanager
def serving(folder: Path, *arguments: str) -> Iterator[tuple[str, ...]]:
    """A server with these options; the options of a load run against it."""
    ca = folder / "ca"
    Authority(ca)
    serve = [
        "serve",
        "--port",
        "0",
        "--json",
        "--until-stdin-closes",
        "--project",
        "p=k",
        "--ca",
        str(ca / "ca.pem"),
    ]
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
