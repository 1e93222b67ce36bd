"""`hookproof mutants` as a user runs it: a fault is killed, and survives without its check."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

PATIENCE_S = 900.0
CHECK = "a_success_has_message_status_and_data"


def mutants(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "hookproof", "mutants", "--jobs", "1", *words]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )


def test_a_fault_is_killed_by_its_check(tmp_path: Path) -> None:
    done = mutants(tmp_path, "--fault", "null_message", "--dialect", "reference")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"by {CHECK}" in done.stdout
    assert "killed 1/1 faults" in done.stdout.splitlines()[-1]
    report = json.loads((tmp_path / "hookproof-mutants" / "mutants.json").read_text())
    assert report["flawless"] is True
    assert (tmp_path / "hookproof-mutants" / "mutants.html").is_file()


def test_without_its_check_a_fault_survives_by_name(tmp_path: Path) -> None:
    done = mutants(
        tmp_path, "--fault", "null_message", "--dialect", "reference", "--without", CHECK
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "null_message: not detected under reference" in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--fault", "no_such_*"], "no fault is named no_such_*"),
        (
            ["--fault", "roll_takes_the_url"],
            "the fault roll_takes_the_url is now called roll_sets_the_timeout",
        ),
        (["--dialect", "klingon"], "klingon"),
        (["--without", "no_such_check"], "no_such_check"),
        (["--jobs", "0"], "--jobs"),
    ],
    ids=str,
)
def test_wrong_usage_is_reported_in_one_line(
    tmp_path: Path, words: list[str], message: str
) -> None:
    done = mutants(tmp_path, *words)
    assert (done.returncode, done.stdout) == (64, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
