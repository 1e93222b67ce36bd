"""`hookproof compare`: which ways to compare there are, and what each refuses."""

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from hookproof.cli import cli
from hookproof.conformance.results.run_file import NAME
from tests.conformance.canned_run import failed, finished_run, passed


def compare(*words: str | Path) -> Result:
    return CliRunner().invoke(cli, ["compare", *(str(word) for word in words)])


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder with the folders of two runs of check and of two of load."""
    for name, entry in (("a", passed("4.1-1")), ("b", failed("4.1-1"))):
        (tmp_path / name).mkdir()
        finished_run(tmp_path / name, entry)
    for name, lost in (("monday", 0), ("tuesday", 3)):
        (tmp_path / name).mkdir()
        figures = {"lost": lost, "delivery_p50": 0.01 * (1 + lost)}
        content = {"profile": "smoke", "verdict": "pass", "figures": figures}
        (tmp_path / name / "report.json").write_text(json.dumps(content))
    return tmp_path


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("a",), "it compares two runs, and this is 1: --over-time shows"),
        (("a", "b", "a"), "it compares two runs, and this is 3"),
        (("a", "b", "--over-time", "--page"), "contradict each other"),
        (("a", "b", "--format", "html"), "--format of two runs is text or json"),
        (("a", "b", "--over-time", "--format", "markdown"), "of --over-time is text or json"),
        (("a", "b", "--page", "--format", "text"), "of --page is html or markdown or json"),
        (("a", "b", "--badges", "x"), "--badges for --page"),
        (("a", "b", "--page", "--behaviour"), "--behaviour is for two runs"),
        (("a", "monday"), f"monday/{NAME} cannot be read"),
        (("monday", "a"), f"monday/{NAME} cannot be read"),
        (("nowhere", "neither"), f"nowhere/{NAME} cannot be read"),
        (("monday", "tuesday", "--behaviour"), f"monday/{NAME} cannot be read"),
        (("a", "monday", "--page"), f"monday/{NAME} cannot be read"),
        (("--over-time", "nowhere"), "nowhere is no folder"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    words: tuple[str, ...], expected: str, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(runs)
    outcome = compare(*words)
    # `main` makes 64 of 2, the code that click has for a wrong call.
    assert outcome.exit_code in {click.UsageError.exit_code, 64}
    assert outcome.stdout == ""
    assert expected in outcome.stderr


def test_two_runs_of_load_are_compared_figure_by_figure(runs: Path) -> None:
    outcome = compare(runs / "monday", runs / "tuesday" / "report.json")
    assert outcome.exit_code == 0
    rows = {line.split()[0]: line.split() for line in outcome.stdout.splitlines()[1:]}
    assert rows["lost"] == ["lost", "0", "3", "new", "worse"]
    assert rows["delivery_p50"][-2:] == ["+300.0%", "worse"]
    read = json.loads(compare(runs / "monday", runs / "tuesday", "--format", "json").stdout)
    assert read["figures"]["lost"] == {"before": 0, "after": 3, "change": "worse"}
    assert read["verdict"] == {"before": "pass", "after": "pass"}


def test_the_exit_code_says_whether_a_verdict_got_worse(runs: Path) -> None:
    assert compare(runs / "a", runs / "b").exit_code == 1
    assert compare(runs / "b", runs / "a").exit_code == 0
    assert compare("--page", runs / "a", runs / "b").exit_code == 0
    assert compare("--over-time", runs / "a", runs / "b").exit_code == 0


@pytest.mark.parametrize("words", [(), ("--over-time",), ("--page",), ("--format", "json")])
def test_a_file_gets_what_would_be_printed(words: tuple[str, ...], runs: Path) -> None:
    printed = compare(runs / "b", runs / "a", *words)
    written = compare(runs / "b", runs / "a", *words, "-o", runs / "written")
    assert (written.exit_code, written.stdout) == (0, "")
    assert (runs / "written").read_text() == printed.stdout


def test_a_page_takes_single_runs_and_folders_of_them(runs: Path) -> None:
    outcome = compare("--page", "--format", "json", f"all={runs}", runs / "a")
    names = [each["name"] for each in json.loads(outcome.stdout)["runs"]]
    assert names == ["all", "all (2)", "http://target.invalid"]


def test_over_time_takes_single_runs_and_folders_of_them(runs: Path) -> None:
    outcome = compare("--over-time", f"old={runs / 'b'}", runs / "a" / NAME)
    assert outcome.stdout.startswith("check http://target.invalid: 2 runs\n")
