"""`hookproof load` as its user runs it: real processes, real sockets, a short run."""

import json
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from receiver.authority import Authority
from spec.dialect_file import shipped_dialects


def hookproof_load(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hookproof", "load", *arguments, "--out", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)


def report(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "report.json").read_text()))


@pytest.mark.parametrize("dialect", shipped_dialects())
def test_every_broadcast_of_a_short_run_is_delivered_once(tmp_path: Path, dialect: str) -> None:
    outcome = hookproof_load(tmp_path, "smoke", "--rate", "20", "--duration", "1", "--dialect", dialect)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    figures = report(tmp_path)
    assert (figures["sent"], figures["accepted"], figures["delivered"]) == (20, 20, 20)
    assert figures["delivery_latency_s"]["p50"] > 0
    assert "DELIVERY" in outcome.stdout


def test_a_target_of_ones_own_that_trusts_the_ca_gets_the_same_run(tmp_path: Path) -> None:
    ca = tmp_path / "ca"
    Authority(ca)
    serve = ["serve", "--port", "0", "--json", "--until-stdin-closes", "--project", "p=k", "--ca", str(ca / "ca.pem")]
    command = [sys.executable, "-m", "hookproof", *serve]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        url = json.loads(server.stdout.readline())["api"]
        target = ("--url", url, "--api-key", "k", "--project", "p", "--ca-dir", str(ca))
        outcome = hookproof_load(tmp_path, "--rate", "20", "--duration", "1", *target)
        server.terminate()
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert report(tmp_path)["delivered"] == 20


def test_a_target_that_is_not_there_ends_with_exit_4_and_one_line(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        outcome = hookproof_load(tmp_path, "--url", url, "--api-key", "k", "--project", "p")
    assert outcome.returncode == 4
    assert len(outcome.stderr.strip().splitlines()) == 1


def test_a_target_without_key_or_project_is_refused_with_exit_64(tmp_path: Path) -> None:
    outcome = hookproof_load(tmp_path, "--url", "http://127.0.0.1:1")
    assert outcome.returncode == 64
    assert "--api-key" in outcome.stderr


def test_an_interrupted_run_still_reports_and_fails(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hookproof", "load", "smoke", "--duration", "60", "--out", str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    deadline = time.monotonic() + 60
    while "DELIVERY" not in process.stdout.readline():
        assert time.monotonic() < deadline, "no delivery was shown"
    process.send_signal(signal.SIGINT)
    shown, errors = process.communicate(timeout=60)
    assert process.returncode == 1, errors
    assert "interrupted before the end" in shown
    assert report(tmp_path)["interrupted"] is True
