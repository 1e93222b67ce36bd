"""CTRF and the annotations of GitHub Actions; junit.xml is in `test_golden_reports.py`."""

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator

from hookproof.conformance.model.ledger import Entry
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.reports.ci.annotations import MOST_OF_A_KIND, annotations
from hookproof.conformance.reports.ci.ctrf import ctrf, ctrf_text
from hookproof.conformance.reports.formats import FORMATS
from hookproof.conformance.results.run_file import Run
from hookproof.spec.catalogue import Level
from tests.conformance.canned_run import failed, finding, finished_run, not_exercised, passed
from tests.conformance.golden_run import golden_run

SCHEMA: Final = json.loads((Path(__file__).parent / "golden" / "ctrf.schema.json").read_text())
ANNOTATION: Final = re.compile(r"::(?P<kind>error|warning) title=(?P<title>[^:,]+)::(?P<text>.+)")


def broken_check() -> Entry:
    return replace(
        passed("4.4-3"), verdict=Verdict.ERROR, exercised=0, reasons=("The check a_check broke.",)
    )


def statuses(run: Run) -> dict[str, str]:
    return {test["name"].split()[0]: test["status"] for test in ctrf(run)["results"]["tests"]}


def shown(run: Run) -> list[tuple[str, str, str]]:
    """The kind, title and text of each annotation, as a runner reads them."""
    found = []
    for line in annotations(run):
        match = ANNOTATION.fullmatch(line)
        assert match is not None, line
        found.append((match["kind"], unescaped(match["title"]), unescaped(match["text"])))
    return found


def unescaped(text: str) -> str:
    for escape, character in {"%3A": ":", "%2C": ",", "%0D": "\r", "%0A": "\n", "%25": "%"}.items():
        text = text.replace(escape, character)
    return text


def test_a_ctrf_report_follows_the_schema(tmp_path: Path) -> None:
    Draft202012Validator.check_schema(SCHEMA)
    validator = Draft202012Validator(SCHEMA)
    validator.validate(json.loads(ctrf_text(golden_run(tmp_path))))
    validator.validate(ctrf(finished_run(tmp_path, passed())))


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("results", "tests", 0, "status"), "pass"),
        (("results", "tests", 0, "testId"), "4.1-1"),
        (("results", "summary", "passed"), "2"),
        (("reportFormat",), "ctrf"),
    ],
)
def test_the_schema_refuses_what_ctrf_does_not_know(
    place: tuple[Any, ...], value: object, tmp_path: Path
) -> None:
    report: Any = ctrf(golden_run(tmp_path))
    *way, last = place
    holder = report
    for step in way:
        holder = holder[step]
    holder[last] = value
    assert not Draft202012Validator(SCHEMA).is_valid(report)


def test_a_ctrf_report_fails_what_counts_and_accuses_of_nothing_else(tmp_path: Path) -> None:
    assert statuses(golden_run(tmp_path)) == {
        "4.1-1": "passed",
        "4.1-2": "failed",
        "4.1-3": "skipped",  # the baseline accepts it
        "4.1-4": "failed",
        "4.1-5": "skipped",  # hygiene, without --strict
        "4.1-6": "skipped",  # it only follows from 4.1-2
        "4.4-1": "skipped",
        "4.4-3": "skipped",
        "4.4-9": "other",  # an error of hookproof
        "4.4-10": "passed",
        "the": "failed",  # the run was cut
    }


def test_the_summary_of_a_ctrf_report_counts_its_tests(tmp_path: Path) -> None:
    results = ctrf(golden_run(tmp_path))["results"]
    summary = results["summary"]
    counted = Counter(test["status"] for test in results["tests"])
    assert summary["tests"] == sum(counted.values()) == len(results["tests"])
    for status in ("passed", "failed", "skipped", "pending", "other"):
        assert summary[status] == counted[status]
    assert summary["stop"] - summary["start"] == summary["duration"] == 21_400


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (not_exercised(), "4.4-1 not exercised: "),
        (broken_check(), "4.4-3 error: The check a_check broke."),
    ],
    ids=["incomplete", "error"],
)
def test_a_run_without_a_verdict_fails_in_both_reports(
    entry: Entry, words: str, tmp_path: Path
) -> None:
    run = finished_run(tmp_path, passed(), entry)
    last = ctrf(run)["results"]["tests"][-1]
    assert (last["status"], last["rawStatus"]) == ("failed", "error")
    assert words in last["message"]
    ((kind, title, text),) = shown(run)
    assert (kind, title.split(":")[0]) == ("error", "Hookproof")
    assert words in text


def test_a_run_that_conforms_fails_nothing_and_has_no_annotation(tmp_path: Path) -> None:
    run = finished_run(tmp_path, passed())
    assert statuses(run) == {"4.1-1": "passed"}
    assert FORMATS["github"].render(run) == ""


def test_a_defect_has_one_annotation(tmp_path: Path) -> None:
    run = finished_run(tmp_path, passed(), failed())
    ((kind, title, text),) = shown(run)
    assert (kind, title) == ("error", "4.1-2 The name that came back is another one")
    assert text.splitlines() == [
        "The name of a new endpoint is the one that was sent.",
        "expected: 'it'",
        "actual: '\\x1b[31mred' for $HOOKPROOF_API_KEY",
    ]


def test_no_text_of_a_target_ends_an_annotation_early(tmp_path: Path) -> None:
    hostile = "100%0A::stop-commands::x\r\n::error title=a,b::c: d"
    entry = replace(
        failed(), findings=(replace(finding(), message=hostile, actual=hostile, exchanges=()),)
    )
    run = finished_run(tmp_path, entry)
    ((_, title, text),) = shown(run)
    one_line = hostile.replace("\r", "\\r").replace("\n", "\\n")
    assert title == f"4.1-2 {one_line}"
    assert text.splitlines()[2] == f"actual: {one_line}"


def test_a_long_text_of_a_target_is_cut(tmp_path: Path) -> None:
    entry = replace(failed(), findings=(replace(finding(), actual="x" * 100_000),))
    ((_, _, text),) = shown(finished_run(tmp_path, entry))
    assert len(text) < 2000
    assert text.endswith("x...")


def test_hygiene_that_does_not_count_is_a_warning(tmp_path: Path) -> None:
    run = finished_run(tmp_path, passed(), failed("4.1-2", Level.HYGIENE))
    assert [kind for kind, _, _ in shown(run)] == ["warning"]


def test_what_the_baseline_accepts_has_no_annotation(tmp_path: Path) -> None:
    assert shown(finished_run(tmp_path, passed(), replace(failed(), accepted="known"))) == []


def test_a_stale_baseline_has_an_annotation(tmp_path: Path) -> None:
    run = finished_run(tmp_path, passed(), stale=("4.9-99 is gone",))
    assert shown(run) == [
        ("error", "Hookproof: DOES NOT CONFORM", "The baseline is stale: 4.9-99 is gone.")
    ]


@pytest.mark.parametrize("cut", [None, "time is up"])
def test_annotations_beyond_what_github_shows_are_counted(cut: str | None, tmp_path: Path) -> None:
    entries = [
        replace(
            failed(f"99-{number}"),  # of which no fault is known
            findings=(replace(finding(f"99-{number}"), message=f"Wrong in way {number}"),),
        )
        for number in range(2, 32)
    ]
    listed = shown(finished_run(tmp_path, *entries, cut=cut))
    assert len(listed) == MOST_OF_A_KIND
    left = 30 - (MOST_OF_A_KIND - 1 - (cut is not None))
    assert listed[-1][1] == f"Hookproof: {left} further defects"
