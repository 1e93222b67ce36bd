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
from hookproof.load.target.settings import KEY_VARIABLE
from hookproof.process.exit_codes import ExitCode
from hookproof.receiver.http.authority import Authority
from tests.quick_start.interpreter import quick_hookproof

# As users start it; what tests do not watch as a process is forked.
HOOKPROOF = (sys.executable, "-m", "hookproof")
# Deadlines are long, since no test is about speed and a machine may have much else to do.
ENDS_WITHIN_S = 600

# Such a machine also sends late.
PATIENT = ("--keep-up", "600")


def hookproof_load(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `hookproof load` to its end; the reports are in `folder`."""
    command = [*quick_hookproof(), "load", *arguments, *PATIENT, "--out", str(folder)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=ENDS_WITHIN_S, check=False
    )


def exit_code_of(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> object:
    """The exit code of a command line that starts no process; it runs in this one."""
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    monkeypatch.setattr(sys, "argv", ["hookproof", "load", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    return end.value.code


def refusal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str
) -> str:
    """The only line with which a command line is refused, with exit code 64."""
    assert exit_code_of(monkeypatch, *arguments) == ExitCode.USAGE
    shown = capsys.readouterr()
    assert shown.out == ""
    [line] = shown.err.splitlines()
    return line


@contextmanager
def loading(*arguments: str, out: Path | None = None) -> Iterator[subprocess.Popen[str]]:
    """Start a load command; it is killed if it still runs at the end."""
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
    """Read the output up to the first line that matches; the match."""
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        match = re.search(pattern, line)
        if match is not None:
            return match
    assert process.stderr is not None
    raise AssertionError(f"no {pattern!r} in {''.join(lines)}{process.stderr.read()}")


def wait_for_end(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Wait until a command has ended: its exit code, and the output that was not read yet."""
    shown, errors = process.communicate(timeout=ENDS_WITHIN_S)
    return process.returncode, shown, errors


def report(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "report.json").read_text()))


def figures(folder: Path) -> dict[str, Any]:
    return dict(report(folder)["figures"])


@contextmanager
def serving(folder: Path, *arguments: str) -> Iterator[tuple[str, ...]]:
    """Run a server with these options; yields the options of a load run against it."""
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
        [*quick_hookproof(), *serve, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        url = json.loads(server.stdout.readline())["api"]
        try:
            yield ("--url", url, "--api-key", "k", "--project", "p", "--ca-dir", str(ca))
        finally:
            server.stdin.close()
