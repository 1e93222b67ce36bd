"""`hookproof mutants` as a user runs it: a fault is killed, and survives without its check."""

import json
from pathlib import Path

import pytest

from tests.conformance.command import CommandResult, run_command

CHECK = "a_success_has_message_status_and_data"


def mutants(folder: Path, *words: str) -> CommandResult:
    return run_command(folder, "mutants", "--jobs", "1", *words)


def test_a_fault_is_killed_by_its_check(tmp_path: Path) -> None:
    done = mutants(tmp_path, "--fault", "null_message", "--dialect", "reference")
    assert done.code == 0, done.out + done.err
    assert f"by {CHECK}" in done.out
    assert "killed 1/1 faults" in done.out.splitlines()[-1]
    report = json.loads((tmp_path / "hookproof-mutants" / "mutants.json").read_text())
    assert report["flawless"] is True
    assert (tmp_path / "hookproof-mutants" / "mutants.html").is_file()


def test_without_its_check_a_fault_survives_by_name(tmp_path: Path) -> None:
    done = mutants(
        tmp_path, "--fault", "null_message", "--dialect", "reference", "--without", CHECK
    )
    assert done.code == 1, done.out + done.err
    assert "null_message: not detected under reference" in done.out


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
    assert (done.code, done.out) == (64, "")
    assert message in done.err
    assert done.err.count("\n") == 1
