"""What a run leaves in its folder: the reports of one run, and of a refusal what CI reads."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml

from hookproof.conformance.results.run_file import NAME, NotARun, read_run
from hookproof.process.folder_lock import LOCK, locked_folder
from tests.conformance.canned_run import finished_run, header, passed
from tests.conformance.command import CommandResult, check, run_command
from tests.conformance.scripted_target import closed_port, empty_page, stand_in

KEY = ("--project", "p1", "--api-key", "secret-key")
ONE = ("--only", "5-4", "--profile", "quick")
OUT = "hookproof-report"


@pytest.mark.parametrize(
    "command",
    [
        ("check", *ONE),
        ("check", "--dialect", "gone.yaml"),
        ("load", "smoke", "--duration", "1"),
        ("mutants", "--fault", "created_is_ok"),
        ("regrade", "before"),
    ],
)
def test_a_second_run_into_the_folder_of_one_that_goes_on_is_refused(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    (tmp_path / "before").mkdir()
    finished_run(tmp_path / "before", passed())
    with locked_folder(tmp_path / OUT, "run 1f"):
        done = run_command(tmp_path, *command, "--out", OUT)
        assert [path.name for path in (tmp_path / OUT).iterdir()] == [LOCK]
    assert (done.code, done.out) == (64, "")
    assert f"--out {OUT} is in use by hookproof, run 1f, process " in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("command", ["learn", "init"])
def test_what_is_learned_is_not_written_into_the_folder_of_another_command(
    tmp_path: Path, command: str
) -> None:
    with stand_in(empty_page) as url, locked_folder(tmp_path / "hookproof"):
        done = run_command(tmp_path, command, url, *KEY)
        assert [path.name for path in (tmp_path / "hookproof").iterdir()] == [LOCK]
    assert done.code == 64
    assert "--out hookproof is in use by hookproof, process " in done.err


def test_a_file_with_the_footer_of_another_run_is_refused(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        finished_run(tmp_path / name, passed(), run_header=replace(header(), run_id=name))
    first, second = ((tmp_path / name / NAME).read_text().splitlines() for name in ("a", "b"))
    (tmp_path / "a" / NAME).write_text("\n".join([*first[:-1], second[-1], ""]))
    with pytest.raises(NotARun, match="holds parts of two runs"):
        read_run(tmp_path / "a" / NAME)
    done = run_command(tmp_path, "report", "a", "--format", "json")
    assert (done.code, done.out) == (64, "")
    assert "holds parts of two runs" in done.err


def unreachable(folder: Path) -> CommandResult:
    with closed_port() as url:
        return check(folder, url, *KEY, *ONE)


def misspelt(folder: Path) -> CommandResult:
    return check(folder, "--dialect", "refrence")


def contradictory(folder: Path) -> CommandResult:
    return check(folder, "--quiet", "--verbose")


@pytest.mark.parametrize(
    ("refused", "code", "message"),
    [
        (unreachable, 4, "target unreachable"),
        (misspelt, 64, "did you mean"),
        (contradictory, 64, "contradict each other"),
    ],
)
def test_a_run_that_cannot_begin_is_one_error_for_ci(
    tmp_path: Path, refused: Callable[[Path], CommandResult], code: int, message: str
) -> None:
    assert refused(tmp_path).code == code
    suites = ET.parse(tmp_path / OUT / "junit.xml").getroot()  # noqa: S314
    assert (suites.get("tests"), suites.get("errors"), suites.get("failures")) == ("1", "1", "0")
    (error,) = suites.iter("error")
    assert message in (error.get("message") or "")


def test_an_error_that_cannot_be_written_is_shown_alone(tmp_path: Path) -> None:
    (tmp_path / OUT / "junit.xml").mkdir(parents=True)
    done = misspelt(tmp_path)
    assert (done.code, done.err.count("\n")) == (64, 1)
    assert "did you mean" in done.err


def test_a_run_that_writes_a_baseline_ends_as_one_with_it(tmp_path: Path) -> None:
    few = ("--only", "5-4", "--only", "5-2", "--profile", "quick")
    with stand_in(empty_page) as url:
        words = (url, *KEY, *few)
        assert check(tmp_path, *words).code == 1
        done = check(tmp_path, *words, "--write-baseline", "known.yaml")
        assert (done.code, done.out.splitlines()[-1][:16]) == (0, "DOES NOT CONFORM")
        assert "The baseline in known.yaml accepts what this run found" in done.err
        assert check(tmp_path, *words, "--baseline", "known.yaml").code == 0
    assert {entry["id"] for entry in yaml.safe_load((tmp_path / "known.yaml").read_text())}


def test_what_no_baseline_accepts_keeps_its_exit_code(tmp_path: Path) -> None:
    with stand_in(empty_page) as url:
        few = ("--only", "5-[1-9]", "--profile", "quick", "--max-fail", "1")
        done = check(tmp_path, url, *KEY, *few, "--write-baseline", "known.yaml")
    assert done.code == 3
