"""Each renderer against a golden file. After an intended change, rewrite them and read the diff:

HOOKPROOF_GOLDEN=write .venv/bin/pytest tests/conformance/reports/test_golden_reports.py
git diff tests/conformance/reports/golden
"""

import io
import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import xmlschema
from jsonschema import Draft202012Validator

import hookproof.conformance.reports
from hookproof.conformance.model.ledger import Finding
from hookproof.conformance.reports.badge import badge
from hookproof.conformance.reports.ci.junit import junit_text
from hookproof.conformance.reports.console import show
from hookproof.conformance.reports.formats import FORMATS
from hookproof.conformance.reports.html import html_text
from hookproof.conformance.reports.markdown import markdown_text
from hookproof.conformance.reports.sarif import sarif
from hookproof.conformance.reports.texts.printable_text import body_shown
from hookproof.conformance.reports.timeline import experiments_timeline, timeline
from hookproof.conformance.results.defects import defects
from hookproof.conformance.results.run_file import Run
from hookproof.process.terminal_text import printable, printable_lines
from tests.conformance.canned_evidence import NOW, delivery, exchange
from tests.conformance.canned_run import failed, finding, finished_run, passed
from tests.conformance.golden_run import HOSTILE, golden_run

GOLDEN = Path(__file__).parent / "golden"
SCHEMA = json.loads(
    (Path(hookproof.conformance.reports.__file__).parent / "report.schema.json").read_text()
)
MEGABYTE = b"x" * 1_000_000
REGENERATE = os.environ.get("HOOKPROOF_GOLDEN") == "write"


def attributes(page: str) -> list[tuple[str, str, str]]:
    """Every attribute of a page as a browser reads it: its element, its name and its value."""
    triples: list[tuple[str, str, str]] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            triples.extend((tag, name, value or "") for name, value in attrs)

    Reader().feed(page)
    return triples


def console(run: Run) -> str:
    stream = io.StringIO()
    show(run, stream, {})
    return stream.getvalue()


RENDERERS: dict[str, Callable[[Run], str]] = {"console.txt": console} | {
    format_.file: format_.render for format_ in FORMATS.values()
}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return golden_run(tmp_path)


@pytest.mark.parametrize("name", sorted(RENDERERS))
def test_a_report_is_the_golden_one(run: Run, name: str) -> None:
    text = RENDERERS[name](run)
    if REGENERATE:
        (GOLDEN / name).write_text(text, encoding="utf-8")
    assert text == (GOLDEN / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(RENDERERS))
def test_no_control_character_of_a_target_is_in_a_report(run: Run, name: str) -> None:
    text = RENDERERS[name](run)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202e]", text)


@pytest.mark.parametrize("name", sorted(RENDERERS))
def test_no_key_is_in_a_report(run: Run, name: str) -> None:
    text = RENDERERS[name](run)
    assert "key-one" not in text
    assert "key-two" not in text


def test_a_hostile_answer_makes_no_element_of_the_page(run: Run) -> None:
    page = html_text(run)
    assert page.count("<script>") == 1
    assert "{{ 7*7 }}" in page
    triples = attributes(page)
    assert not {tag for tag, _, _ in triples} & {"img", "script", "iframe", "object", "link"}
    assert not [name for _, name, _ in triples if name.startswith("on")]


def test_the_page_loads_nothing_from_a_network(run: Run) -> None:
    page = html_text(run)
    links = [
        value
        for _, name, value in attributes(page)
        if name in {"href", "src", "action", "srcset", "data"}
    ]
    assert links
    assert [link for link in links if not link.startswith("#")] == []
    assert "default-src 'none'" in page
    assert not re.search(r"@import|url\(|fetch\(|XMLHttpRequest", page)


def test_every_requirement_is_on_the_page_once_and_every_link_leads_somewhere(run: Run) -> None:
    page = html_text(run)
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert {f"r-{entry.requirement.id}" for entry in run.entries} <= set(ids)
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(ids)


def test_junit_follows_the_schema_of_ci_systems(run: Run, tmp_path: Path) -> None:
    schema = xmlschema.XMLSchema(GOLDEN / "junit.xsd")
    schema.validate(junit_text(run))
    schema.validate(junit_text(finished_run(tmp_path, passed())))


def test_junit_has_one_case_per_requirement_and_has_the_outcome_of_each(run: Run) -> None:
    root = ET.fromstring(junit_text(run))  # noqa: S314
    cases = {case.attrib["name"].split()[0]: case for case in root.iter("testcase")}
    outcomes = {name: [child.tag for child in case] for name, case in cases.items()}
    assert outcomes == {
        "4.1-1": [],
        "4.1-2": ["failure"],
        "4.1-3": ["skipped"],  # the baseline accepts it
        "4.1-4": ["failure"],
        "4.1-5": ["skipped"],  # hygiene, without --strict
        "4.1-6": ["skipped"],  # it only follows from 4.1-2
        "4.4-1": ["skipped"],
        "4.4-3": ["skipped"],
        "4.4-9": ["error"],
        "4.4-10": [],
        "the": ["error"],  # the run was cut
    }
    assert {name: root.attrib[name] for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "11",
        "failures": "2",
        "errors": "2",
        "skipped": "5",
    }
    assert "counts only with --strict" in cases["4.1-5"][0].attrib["message"]
    assert "follows from 4.1-2" in cases["4.1-6"][0].attrib["message"]


def test_junit_has_the_time_of_what_shows_each_verdict(run: Run, tmp_path: Path) -> None:
    root = ET.fromstring(junit_text(run))  # noqa: S314
    times = {case.attrib["name"].split()[0]: case.attrib["time"] for case in root.iter("testcase")}
    # A creation, and two deliveries of which the last one arrived 1.5 s later and lasted 0.5 s.
    assert times["4.1-4"] == "2.000"
    assert times["4.4-1"] == "0.000"
    assert root.attrib["time"] == "21.400"
    (suite,) = [each for each in root if each.attrib["name"].startswith("4.1 ")]
    assert float(suite.attrib["time"]) == pytest.approx(
        sum(float(case.attrib["time"]) for case in suite.iter("testcase"))
    )
    shown = replace(passed(), shown_by="a delivery", shown_in_s=1.25)
    root = ET.fromstring(junit_text(finished_run(tmp_path, shown)))  # noqa: S314
    assert [case.attrib["time"] for case in root.iter("testcase")] == ["1.250"]


def test_junit_adds_no_case_to_a_run_that_was_completed(tmp_path: Path) -> None:
    root = ET.fromstring(junit_text(finished_run(tmp_path, passed())))  # noqa: S314
    assert [case.attrib["classname"] for case in root.iter("testcase")] == ["hookproof.stated.4.1"]


def test_a_broken_junit_file_is_refused_by_the_schema(run: Run) -> None:
    schema = xmlschema.XMLSchema(GOLDEN / "junit.xsd")
    assert not schema.is_valid(junit_text(run).replace(' classname="hookproof.stated.4.1"', "", 1))
    assert not schema.is_valid(
        junit_text(run).replace("<failure", "<fault").replace("</failure", "</fault")
    )


def test_sarif_refers_to_rules_that_exist(run: Run) -> None:
    (sarif_run,) = sarif(run)["runs"]
    rules = [rule["id"] for rule in sarif_run["tool"]["driver"]["rules"]]
    assert len(rules) == len(set(rules)) == len(run.entries)
    results = sarif_run["results"]
    assert [rules[result["ruleIndex"]] for result in results] == [
        result["ruleId"] for result in results
    ]
    assert {result["ruleId"] for result in results} == {"4.1-2", "4.1-3", "4.1-4", "4.1-5", "4.1-6"}
    levels = {result["ruleId"]: result["level"] for result in results}
    assert (levels["4.1-2"], levels["4.1-6"]) == ("error", "note")
    assert {result["level"] for result in results} <= {"none", "note", "warning", "error"}
    assert all(result["message"]["text"] and result["locations"] for result in results)
    assert [result["ruleId"] for result in results if "suppressions" in result] == ["4.1-3"]
    prints = [result["partialFingerprints"]["hookproof/v2"] for result in results]
    assert len(prints) == len(set(prints))
    assert sarif_run["invocations"][0]["exitCode"] == run.footer.exit_code
    assert sarif_run["invocations"][0]["executionSuccessful"] is False


def test_the_json_report_has_the_published_form(run: Run) -> None:
    report = json.loads(FORMATS["json"].render(run))
    Draft202012Validator(SCHEMA).validate(report)
    assert report["started_at"] == "2027-01-15T08:00:00.000+00:00"


def test_a_badge_never_says_more_than_the_run_did(tmp_path: Path, run: Run) -> None:
    assert badge(run)["message"].startswith("error")
    assert badge(run)["isError"] is True
    conforming = badge(finished_run(tmp_path, passed()))
    assert (conforming["message"], conforming["color"], conforming["schemaVersion"]) == (
        "conforms, 1/1 stated",
        "brightgreen",
        1,
    )
    assert (
        badge(finished_run(tmp_path, passed(), run_header=run.header))["message"]
        == "partial, 1/1 stated"
    )
    assert badge(finished_run(tmp_path, failed()))["color"] == "red"


def test_findings_of_one_cause_are_one_defect(run: Run) -> None:
    grouped = [
        [broken.entry.requirement.id for broken in defect.all] for defect in defects(run.entries)
    ]
    assert grouped == [["4.1-4", "4.1-3", "4.1-5"], ["4.1-2"]]  # no baseline accepts 4.1-4


def test_a_hostile_text_stays_in_its_place_in_markdown(run: Run) -> None:
    text = markdown_text(run)
    outside = re.sub(r"^(`{3,})\w+\n.*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE)
    assert not re.search(r"(?<!\\)<(?!/?details>|/?summary>)", outside)
    assert "\n````sh\n" in text or "```` " not in text


def test_a_timeline_is_in_the_order_of_time() -> None:
    events = timeline(replace(finding(), deliveries=(delivery(arrived_at=NOW + 0.5),)))
    assert [event.at_s for event in events] == sorted(event.at_s for event in events)
    assert events[-1].is_delivery
    assert all(0 <= event.start <= 100 and event.start + event.width <= 100.01 for event in events)


def test_experiments_are_shown_in_the_order_in_which_they_began(run: Run) -> None:
    events = experiments_timeline(run)
    assert [(each.what, each.at_s, each.outcome) for each in events] == [
        ("round_trip", 0.0, "2.0 s"),
        ("sweep", 1.25, "6.0 s"),
    ]
    assert [(each.start, each.width) for each in events] == [(0.0, 27.59), (17.24, 82.76)]


def test_experiments_whose_beginning_is_not_known_are_not_shown(run: Run) -> None:
    earlier = replace(
        run, experiments=tuple(replace(each, began_s=None) for each in run.experiments)
    )
    assert experiments_timeline(earlier) == ()
    assert 'id="experiments"' in html_text(run)
    assert 'id="experiments"' not in html_text(earlier)


def test_a_long_body_is_truncated_with_a_note() -> None:
    assert body_shown(b"x" * 5000).endswith("[5000 bytes; the rest is in run.jsonl]")
    assert body_shown(b"\xff") == "\\xff"


def test_printable_text_keeps_letters_and_escapes_control_characters() -> None:
    assert printable("Zoë \U0001f600\n\ud800") == "Zoë \U0001f600\\n\\ud800"
    assert printable_lines("a\tb\r\nc\rd") == "a\tb\nc\\rd"
    assert HOSTILE not in printable(HOSTILE)


def test_an_unanswered_exchange_is_shown_as_such(tmp_path: Path) -> None:
    silent = replace(finding(), exchanges=(exchange(problem="TimeoutError: <b>"),))
    entry = replace(failed(), findings=(silent,))
    assert "no answer: TimeoutError: &lt;b&gt;" in html_text(finished_run(tmp_path, entry))


@pytest.mark.parametrize(
    ("place", "broken"),
    [
        ("request_body", replace(finding(), exchanges=(exchange(request_body=MEGABYTE),))),
        ("response_body", replace(finding(), exchanges=(exchange(body=MEGABYTE),))),
        ("body", replace(finding(), deliveries=(delivery(body=MEGABYTE),))),
    ],
    ids=["request", "response", "delivery"],
)
def test_a_body_of_megabytes_is_cut_in_the_report_for_programs(
    place: str, broken: Finding, tmp_path: Path
) -> None:
    run = finished_run(tmp_path, replace(failed(), findings=(broken,)))
    report = json.loads(FORMATS["json"].render(run))
    Draft202012Validator(SCHEMA).validate(report)
    (shown,) = report["requirements"][0]["findings"]
    (carrier,) = shown["deliveries"] if place == "body" else shown["exchanges"]
    assert carrier[f"{place}_bytes"] == len(MEGABYTE)
    assert 80_000 < len(carrier[f"{place}_b64"]) < 100_000


def test_bodies_take_no_more_than_megabytes_of_the_report_for_programs(tmp_path: Path) -> None:
    answered = replace(finding(), exchanges=tuple([exchange(body=MEGABYTE)] * 200))
    run = finished_run(tmp_path, replace(failed(), findings=(answered,)))
    text = FORMATS["json"].render(run)
    Draft202012Validator(SCHEMA).validate(json.loads(text))
    assert 5_000_000 < len(text) < 10_000_000
    last = json.loads(text)["requirements"][0]["findings"][0]["exchanges"][-1]
    assert (last["response_body_b64"], last["response_body_bytes"]) == ("", len(MEGABYTE))
