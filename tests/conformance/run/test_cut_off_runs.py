"""Runs whose file ends before they do: what was gathered is judged, and nothing else is claimed."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hookproof.conformance.results.run_file import NAME
from tests.conformance.command import CommandResult, check, command_line, environment, run_command
from tests.full_disk import with_files_of

# One worker makes the run that most tests cut.
pytestmark = pytest.mark.xdist_group("cut_off_runs")

ONLY = ("--profile", "quick", "--only", "5-4", "--only", "5-9")
# Enough for the header and some evidence.
SPACE = 100_000


def rendered(folder: Path, *options: str) -> CommandResult:
    return run_command(folder, "report", "hookproof-report", "--format", "json", *options)


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, Any]]:
    """The file of a run that came to its end, and its report."""
    folder = tmp_path_factory.mktemp("whole")
    done = check(folder, *ONLY)
    assert done.code == 0, done.out + done.err
    report = json.loads((folder / "hookproof-report" / "report.json").read_text())
    return (folder / "hookproof-report" / NAME).read_text(), report


def write_run(folder: Path, text: str) -> None:
    (folder / "hookproof-report").mkdir()
    (folder / "hookproof-report" / NAME).write_text(text)


@pytest.mark.parametrize("cut", [0, 9], ids=["between two lines", "in the middle of a line"])
def test_what_was_gathered_is_judged_as_an_incomplete_run(
    tmp_path: Path, whole_run: tuple[str, dict[str, Any]], cut: int
) -> None:
    lines = whole_run[0].splitlines(keepends=True)
    end = next(n for n, line in enumerate(lines) if line.startswith('{"event":"experiment"'))
    write_run(tmp_path, "".join(lines[:end]) + lines[end][:cut])
    refused = rendered(tmp_path)
    assert refused.code == 64
    assert "run.jsonl is cut off: it has no footer" in refused.err
    assert "hookproof report --partial" in refused.err
    shown = rendered(tmp_path, "--partial")
    assert shown.code == 0, shown.err
    report = json.loads(shown.out)
    assert (report["verdict"], report["exit_code"]) == ("incomplete", 3)
    judged = {each["id"]: each["verdict"] for each in report["requirements"]}
    assert judged == {"5-4": "pass", "5-9": "pass"}


def test_evidence_that_is_missing_exercises_nothing(
    tmp_path: Path, whole_run: tuple[str, dict[str, Any]]
) -> None:
    write_run(tmp_path, whole_run[0].splitlines(keepends=True)[0])
    report = json.loads(rendered(tmp_path, "--partial").out)
    assert report["verdict"] == "incomplete"
    assert {each["verdict"] for each in report["requirements"]} == {"not_exercised"}
    reasons = [reason for each in report["requirements"] for reason in each["reasons"]]
    assert any("The file of the run is cut off here." in reason for reason in reasons)


def test_a_whole_run_is_rendered_as_it_is(
    tmp_path: Path, whole_run: tuple[str, dict[str, Any]]
) -> None:
    write_run(tmp_path, whole_run[0])
    assert json.loads(rendered(tmp_path, "--partial").out) == whole_run[1]


@pytest.mark.parametrize("text", ["", '{"event":"header","for'])
def test_a_file_that_ends_before_its_first_line_is_refused(tmp_path: Path, text: str) -> None:
    write_run(tmp_path, text)
    refused = rendered(tmp_path, "--partial")
    assert refused.code == 64
    assert "is cut off: the run ended before anything was gathered" in refused.err


def test_a_run_whose_disk_is_full_ends_with_one_line_and_keeps_what_it_has(
    tmp_path: Path,
) -> None:
    command = [*with_files_of(SPACE), *command_line("check", *ONLY)]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    file = tmp_path / "hookproof-report" / NAME
    assert done.returncode == 64, done.stderr
    assert done.stderr == (
        "hookproof check: hookproof-report/run.jsonl cannot be written: File too large;"
        " `hookproof report --partial` renders what it holds\n"
    )
    assert file.stat().st_size == SPACE
    report = json.loads(rendered(tmp_path, "--partial").out)
    assert report["verdict"] == "incomplete"
    assert sorted(path.name for path in file.parent.iterdir()) == ["junit.xml", NAME]


def test_a_report_that_cannot_be_written_hides_neither_the_others_nor_the_verdict(
    tmp_path: Path,
) -> None:
    (tmp_path / "hookproof-report" / "report.html.new").mkdir(parents=True)
    done = check(tmp_path, *ONLY)
    assert done.code == 64
    assert "CONFORMS" in done.out.splitlines()[-1]
    line = "hookproof check: hookproof-report/report.html cannot be written: Is a directory\n"
    assert done.err == line
    assert (tmp_path / "hookproof-report" / "junit.xml").exists()


@pytest.mark.parametrize(("light", "cut"), [(True, "experiment paging was"), (False, " more were")])
def test_experiments_that_the_run_did_not_have_were_not_cut(
    tmp_path: Path, whole_run: tuple[str, dict[str, Any]], light: bool, cut: str
) -> None:
    """What any exchange shows was to be looked at in one experiment, or in all."""
    header = json.loads(whole_run[0].splitlines()[0])
    assert header["light"] is True
    header |= {"selected": ["2.2-18"], "light": light}
    write_run(tmp_path, json.dumps(header) + "\n")
    report = json.loads(rendered(tmp_path, "--partial").out)
    (requirement,) = report["requirements"]
    (reason,) = requirement["reasons"]
    assert f"{cut} cut short" in reason
