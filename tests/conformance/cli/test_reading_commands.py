"""The commands that need no target: report, regrade, compare, explain and list."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hookproof.cli import cli
from hookproof.conformance.checks import all_checks
from hookproof.conformance.cli.explain import PlantedFault, explain_requirement
from hookproof.conformance.reports.formats import FORMATS
from hookproof.conformance.results.run_file import NAME
from hookproof.spec.catalogue import load_catalogue
from tests.conformance.canned_run import failed, finished_run, passed
from tests.conformance.command import check
from tests.conformance.golden_run import golden_run
from tests.conformance.scripted_target import empty_page, stand_in

# One worker makes the run that is read.
pytestmark = pytest.mark.xdist_group("reading_commands")

KEY = ("--project", "p1", "--api-key", "secret-key")


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words])


@pytest.fixture(scope="module")
def judged_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a real run that fails, against a target that answers everything with an empty
    page.
    """
    folder = tmp_path_factory.mktemp("judged")
    with stand_in(empty_page) as url:
        only = ("--only", "5", "--only", "4.4-16")
        words = ("--dialect", "reference", "--profile", "quick", *only, "--out", "run")
        done = check(folder, url, *KEY, *words)
    assert done.code == 1, done.out
    return folder / "run"


@pytest.mark.parametrize("name", FORMATS)
def test_a_report_is_rendered_from_the_run_file_alone(tmp_path: Path, name: str) -> None:
    expected = golden_run(tmp_path)
    result = run("report", tmp_path, "--format", name)
    assert (result.exit_code, result.output) == (0, FORMATS[name].render(expected))
    assert run("report", tmp_path, "--format", name, "-o", tmp_path / "out").output == ""
    assert (tmp_path / "out").read_text(encoding="utf-8") == result.output


def test_a_run_without_footer_is_refused(tmp_path: Path) -> None:
    golden_run(tmp_path)
    lines = (tmp_path / NAME).read_text().splitlines(keepends=True)
    (tmp_path / NAME).write_text("".join(lines[:-1]))
    for words in (
        ("report", tmp_path, "--format", "html"),
        ("regrade", tmp_path),
        ("compare", tmp_path, tmp_path),
    ):
        result = run(*words)
        assert result.exit_code == 64
        assert "no footer" in result.stderr
        assert result.stdout == ""


def test_a_report_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    golden_run(tmp_path)
    result = run("report", tmp_path, "--format", "html", "-o", tmp_path / "no" / "where")
    assert result.exit_code == 64
    assert "cannot be written" in result.stderr


def test_a_real_run_writes_every_report(judged_run: Path) -> None:
    written = {path.name for path in judged_run.iterdir()}
    assert written == {"run.jsonl", "report.json", "report.html", "junit.xml", "summary.md"}
    assert not [path for path in judged_run.iterdir() if b"secret-ke" in path.read_bytes()]


def test_a_regraded_run_has_the_same_verdicts(judged_run: Path) -> None:
    result = run("regrade", judged_run)
    assert result.exit_code == 1
    assert result.output.startswith("The same verdicts. DOES NOT CONFORM")


def test_verdicts_that_differ_under_another_dialect_are_named(judged_run: Path) -> None:
    result = run("regrade", judged_run, "--dialect", "contrary")
    assert "Other verdicts than before." in result.output
    assert " -> " in result.output


def test_a_regraded_run_can_be_written_and_is_the_same_run(
    judged_run: Path, tmp_path: Path
) -> None:
    run("regrade", judged_run, "--out", tmp_path / "again")
    again = tmp_path / "again"
    assert (again / NAME).read_text() == (judged_run / NAME).read_text()
    assert (again / "report.json").read_text() == (judged_run / "report.json").read_text()
    assert run("regrade", again).output.startswith("The same verdicts.")


def test_a_regression_is_named_and_exits_with_1(tmp_path: Path) -> None:
    for name in ("before", "after"):
        (tmp_path / name).mkdir()
    finished_run(tmp_path / "before", passed("4.1-1"), passed("4.1-2"))
    finished_run(tmp_path / "after", passed("4.1-1"), failed("4.1-2"))
    worse = run("compare", tmp_path / "before", tmp_path / "after")
    assert worse.exit_code == 1
    assert worse.output.splitlines()[:2] == [
        "worse:",
        "  4.1-2   pass -> fail  The name of a new endpoint is the one that was sent. (stated)",
    ]
    assert "expected 'it'" in worse.output
    assert "\x1b" not in worse.output
    better = run("compare", tmp_path / "after", tmp_path / "before")
    assert (better.exit_code, better.output.splitlines()[0]) == (0, "better:")
    assert run("compare", tmp_path / "before", tmp_path / "before").exit_code == 0


def test_a_requirement_is_explained() -> None:
    result = run("explain", "4.3-2")
    assert result.exit_code == 0
    for part in (
        "section 4.3",
        "both_secrets_sign_until_the_old_one_expires",
        "often wrong",
        "rolling.expiration_unit",
    ):
        assert part in result.output


def test_consequences_are_explained_on_both_sides() -> None:
    assert "follows     from 2.2-2" in run("explain", "2.2-3").output
    assert "followed by 2.2-3, 2.2-4, 2.2-5" in run("explain", "2.2-2").output
    (explained,) = json.loads(run("explain", "2.2-2", "--json").output)
    assert explained["follows_from"] == ["2.1-5"]
    assert {"2.2-3", "2.2-4", "2.2-5"} <= set(explained["consequences"])


def test_an_unknown_id_is_refused() -> None:
    result = run("explain", "4.3-222")
    assert result.exit_code == 64
    assert "selects no requirement" in result.stderr


def test_every_requirement_can_be_explained() -> None:
    catalogue = load_catalogue()
    requirements = catalogue.requirements.values()
    explanations = [explain_requirement(each, catalogue, dict) for each in requirements]
    assert all(each.tests or each.requirement.untestable for each in explanations)
    assert all(test.summary for each in explanations for test in each.tests)
    stated = [each for each in requirements if each.level == "stated" and not each.untestable]
    without = [each.id for each in stated if not each.common_mistakes]
    assert len(without) < len(stated) / 4, without


def test_the_faults_that_break_a_requirement_are_named() -> None:
    catalogue = load_catalogue()
    fault = PlantedFault(name="expired-secret-signs", broken="It signs on.")
    requirement = catalogue.requirements["4.3-4"]
    explanation = explain_requirement(requirement, catalogue, lambda: {"4.3-4": (fault,)})
    assert explanation.faults == (fault,)


def test_it_is_listed_how_each_requirement_is_judged_and_how_long_that_took(
    tmp_path: Path,
) -> None:
    event = {"event": "experiment", "name": "paging", "duration_s": 1.25}
    (tmp_path / "run.jsonl").write_text(json.dumps(event, separators=(",", ":")) + "\n")
    lines = run("explain", "--coverage", "4.7-9", "1-3", "--run", str(tmp_path)).output.splitlines()
    assert "    paging (quick, 1.2 s)" in lines
    assert "    every exchange of every experiment" in lines
    assert lines[-1] == "2 of 2 requirements have a check"
    (judged,) = json.loads(run("explain", "--coverage", "4.7-9", "--json").output)
    needed = {each["name"] for check in judged["checks"] for each in check["experiments"] or ()}
    planned = run("check", "--plan", "--only", "4.7-9").output
    assert all(name in planned for name in needed)
    everything = run("explain", "--coverage").output.splitlines()
    without = sum("(not testable)" in line for line in everything)
    count = len(load_catalogue().requirements)
    assert everything[-1] == f"{count - without} of {count} requirements have a check"
    assert "contradict each other" in run("explain", "--coverage", "--checks").output


def test_requirements_and_checks_are_listed() -> None:
    catalogue = load_catalogue()
    assert f"{len(catalogue.requirements)} requirements: stated" in run("list").output
    assert json.loads(run("explain", "--brief", "4.3-2", "--json").output)[0]["checks"] == [
        "both_secrets_sign_until_the_old_one_expires"
    ]
    assert len(json.loads(run("explain", "--brief", "--checks", "--json").output)) == len(
        all_checks()
    )
    assert {
        each["level"]
        for each in json.loads(
            run("explain", "--brief", "5", "--level", "hygiene", "--json").output
        )
    } == {"hygiene"}
    assert run("explain", "--brief", "99").exit_code == 64
