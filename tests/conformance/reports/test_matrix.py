"""`hookproof compare --page`: many runs against all requirements, in each format."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from playwright.sync_api import Browser, Page

from hookproof.cli import cli
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.reports.badge import badge
from hookproof.conformance.reports.matrix.formats import matrix_markdown, matrix_page
from hookproof.conformance.reports.matrix.table import (
    MatrixColumn,
    MatrixRow,
    matrix_of,
    tallies_of,
)
from hookproof.conformance.results.run_file import NAME, Run, read_run
from hookproof.spec.catalogue import load_catalogue
from tests.conformance.canned_run import finished_run, header, passed
from tests.conformance.golden_run import HOSTILE
from tests.conformance.reports.canned_matrix import REWORDED, canned_matrix, failing_run, later_run
from tests.receiver.dashboard.browser import chromium

pytestmark = pytest.mark.xdist_group("browser")


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(cli, ["compare", "--page", *(str(word) for word in words)])


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder with the folders of two runs."""
    for name in ("ours", "theirs"):
        (tmp_path / name).mkdir()
    failing_run(tmp_path / "ours")
    later_run(tmp_path / "theirs")
    return tmp_path


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


def verdicts(document: str) -> dict[str, dict[str, str | None]]:
    return {
        row["id"]: {name: cell and cell["verdict"] for name, cell in row["verdicts"].items()}
        for row in json.loads(document)["requirements"]
    }


def test_what_a_run_says_nothing_of_is_not_known_and_no_verdict(runs: Path) -> None:
    result = run(f"a={runs / 'ours'}", f"b={runs / 'theirs'}", "--format", "json")
    assert (result.exit_code, result.stderr) == (0, "")
    assert verdicts(result.stdout) == {
        "4.1-1": {"a": "pass", "b": "pass"},
        "4.1-2": {"a": "fail", "b": "pass"},
        "4.1-10": {"a": None, "b": "pass"},
        "4.4-3": {"a": None, "b": "pass"},
    }
    document = json.loads(result.stdout)
    assert [row["id"] for row in document["requirements"] if row["differs"]] == ["4.1-2"]
    totals = document["runs"][0]["totals"]
    assert totals["stated"] == {
        "pass": 1,
        "fail": 1,
        "error": 0,
        "not_exercised": 0,
        "not_applicable": 0,
        "not_known": 1,
    }
    assert totals["hygiene"]["not_known"] == 1
    assert any("not known" in note for note in document["notes"])


def test_the_words_of_the_latest_run_are_shown_and_the_difference_is_told(tmp_path: Path) -> None:
    matrix = canned_matrix(tmp_path)
    (row,) = (row for row in matrix.rows if row.requirement.id == "4.4-3")
    assert (row.requirement.level, row.requirement.text) == (
        "hygiene",
        REWORDED,
    )
    notes = " ".join(matrix.notes)
    assert "The level is not the same in all runs, and that of the latest is shown: 4.4-3." in notes
    assert "The version of hookproof is not the same in all runs." in notes


def test_the_rows_are_in_the_order_of_the_document(tmp_path: Path) -> None:
    known = load_catalogue().requirements
    shuffled = sorted(known, reverse=True)
    whole = finished_run(tmp_path, *(passed(name) for name in shuffled))
    matrix = matrix_of(canned_columns(whole))
    assert [row.requirement.id for row in matrix.rows] == list(known)


def canned_columns(*finished: Run) -> list[MatrixColumn]:
    return [MatrixColumn(name=str(number), run=each) for number, each in enumerate(finished)]


def test_a_selection_that_conforms_is_not_shown_as_conforming_as_a_whole(tmp_path: Path) -> None:
    partial = canned_matrix(tmp_path).columns[2]
    assert partial.headline == "CONFORMS IN PART"
    assert partial.badge["message"].startswith("partial")
    tally = tallies_of(canned_matrix_rows(tmp_path), 3)[2]
    assert (tally.verdicts[Verdict.PASS], tally.share) == (1, "1/1")


def canned_matrix_rows(folder: Path) -> tuple[MatrixRow, ...]:
    again = folder / "again"
    again.mkdir()
    return canned_matrix(again).rows


def test_each_run_has_the_badge_that_its_report_has(runs: Path) -> None:
    result = run(
        f"ours/1={runs / 'ours'}",
        f"ours?1={runs / 'theirs'}",
        "--format",
        "json",
        "--badges",
        runs / "badges",
    )
    badges = {path.name: json.loads(path.read_text()) for path in (runs / "badges").iterdir()}
    expected = [badge(read_run(runs / name / NAME)) for name in ("ours", "theirs")]
    assert badges == {"ours-1.json": expected[0], "ours-1 (2).json": expected[1]}
    assert [each["badge"] for each in json.loads(result.stdout)["runs"]] == expected


def test_runs_of_one_name_are_told_apart(runs: Path) -> None:
    result = run(runs / "ours", runs / "ours", f"x={runs / 'ours'}", "--format", "json")
    names = [each["name"] for each in json.loads(result.stdout)["runs"]]
    assert names == ["http://target.invalid", "http://target.invalid (2)", "x"]
    named = [f"{name}={runs / 'ours'}" for name in ("x (2)", "x", "x")]
    result = run(*named, "--format", "json")
    names = [each["name"] for each in json.loads(result.stdout)["runs"]]
    assert names == ["x (2)", "x", "x (2)*"]


def test_a_folder_with_an_equals_sign_needs_no_name(runs: Path) -> None:
    (runs / "ours").rename(runs / "a=b")
    result = run(runs / "a=b", "--format", "json")
    assert [each["name"] for each in json.loads(result.stdout)["runs"]] == ["http://target.invalid"]


def test_a_run_that_cannot_be_read_ends_it_in_one_line(runs: Path) -> None:
    (runs / "empty").mkdir()
    (runs / "bad").mkdir()
    (runs / "bad" / NAME).write_text('{"event":"header","format":2}\n')
    for name in ("empty", "bad", "none"):
        result = run(runs / "ours", runs / name)
        assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (64, "", 1)
        assert f"{name}/{NAME}" in result.stderr
    result = run(runs / "ours", "-o", runs / "no" / "where.html")
    assert (result.exit_code, result.stderr.count("\n")) == (64, 1)
    (runs / "file").write_text("")
    result = run(runs / "ours", "--badges", runs / "file" / "folder")
    assert (result.exit_code, result.stderr.count("\n")) == (64, 1)


def test_the_markdown_executes_nothing_and_keeps_its_tables(tmp_path: Path) -> None:
    matrix = canned_matrix(tmp_path)
    text = matrix_markdown(matrix)
    assert "<script>" not in text
    assert "<b>" not in text
    rows = [line for line in text.splitlines() if line.startswith("| **")]
    assert len(rows) == len(matrix.rows)
    assert all(line.replace("\\|", "").count("|") == 5 for line in rows)
    assert "| ? not known |" in text


def opened(browser: Browser, folder: Path) -> Page:
    path = folder / "page.html"
    path.write_text(matrix_page(canned_matrix(folder)), encoding="utf-8")
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(path.as_uri())
    return page


def shown(page: Page) -> list[str]:
    return [words.split()[0] for words in page.locator(".row:visible th").all_inner_texts()]


def test_the_page_shows_signs_and_words_and_what_was_seen(browser: Browser, tmp_path: Path) -> None:
    page = opened(browser, tmp_path)
    cells = page.locator(".row", has_text="4.1-2").locator("td")
    cells.first.locator("summary").click()
    assert "✗ fail" in cells.nth(0).inner_text()
    assert "The name that came back is another one" in cells.nth(0).inner_text()
    assert cells.nth(1).inner_text() == "✓ pass"
    assert cells.nth(2).inner_text() == "? not known"
    assert HOSTILE.split("\x1b", maxsplit=1)[0] in page.inner_text(".run h2")
    assert page.locator(".badge .message").all_inner_texts()[2] == "partial, 1/1 stated"


def test_the_page_filters_by_words_verdict_level_and_difference(
    browser: Browser, tmp_path: Path
) -> None:
    page = opened(browser, tmp_path)
    everything = shown(page)
    assert len(everything) == len(set(everything)) == 11
    page.fill("#words", "portal 4.4-10")
    assert shown(page) == ["4.4-10"]
    assert page.inner_text("#shown") == "1 of 11"
    page.fill("#words", "")
    page.check("#differing")
    assert shown(page) == ["4.1-2", "4.4-3"]
    page.uncheck("#differing")
    for box in page.locator("[name=verdict]").all():
        box.set_checked(box.get_attribute("value") == "error")
    assert shown(page) == ["4.4-9"]
    for box in page.locator("[name=verdict]").all():
        box.check()
    for box in page.locator("[name=level]").all():
        box.set_checked(box.get_attribute("value") == "open")
    assert shown(page) == ["4.4-10"]
    assert page.locator(".section-rows:visible").count() == 1


def test_where_it_is_narrow_each_cell_names_its_run(browser: Browser, tmp_path: Path) -> None:
    page = opened(browser, tmp_path)
    page.set_viewport_size({"width": 400, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") == 400
    second = "document.querySelector('.row td:nth-of-type(2)')"
    assert page.evaluate(f"getComputedStyle({second}, '::before').content") == '"theirs: "'


def test_the_header_is_seen_where_the_table_is_scrolled(browser: Browser, tmp_path: Path) -> None:
    page = opened(browser, tmp_path)
    page.set_viewport_size({"width": 1280, "height": 420})
    page.evaluate("document.querySelector('.frame').scrollTo(0, 1e6)")
    page.locator(".frame").scroll_into_view_if_needed()
    head, frame = (
        page.locator(one).bounding_box() for one in ("thead th:nth-of-type(2)", ".frame")
    )
    assert head is not None
    assert frame is not None
    assert abs(head["y"] - frame["y"]) < 3


def test_a_run_of_a_later_version_with_members_of_its_own_is_read(tmp_path: Path) -> None:
    finished_run(tmp_path, passed(), run_header=header())
    lines = (tmp_path / NAME).read_text().splitlines()
    changed = [json.dumps({**json.loads(line), "of_a_later_version": [1]}) for line in lines]
    (tmp_path / NAME).write_text("\n".join(changed) + "\n")
    result = run(tmp_path, "--format", "json")
    assert result.exit_code == 0, result.stderr
