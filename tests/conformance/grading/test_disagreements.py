"""A field of the dialect that alone explains findings is named; a faulty service is not excused."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from hookproof.conformance.grading.candidate_answers import shown_values
from hookproof.conformance.grading.disagreements import Verdicts
from hookproof.conformance.model.check_registry import Check, CheckContext
from hookproof.conformance.model.judgement import Judgement, holds, judged
from hookproof.conformance.model.verdict import Verdict
from tests.conformance.canned_evidence import CannedObservation, context, exchange, seen
from tests.conformance.command import check
from tests.conformance.reference_server import reference_server, write_target_file
from tests.source_tree import ROOT

ONLY = ("--profile", "quick", "--only", "2.9-*", "--only", "4.2-*", "--only", "7-*")


def judged_run(
    folder: Path, answers: Mapping[str, Mapping[str, Any]], *options: str
) -> tuple[int, str, dict[str, Any]]:
    """The exit code, the console and the report of a reference server's run under a dialect that
    has these answers; `options` are the server's.
    """
    dialect = {"extends": "reference", "name": "ours", "summary": "Ours.", **answers}
    (folder / "ours.yaml").write_text(yaml.safe_dump(dialect))
    with reference_server(folder, ROOT, "p1", "p2", options=options) as ready:
        write_target_file(folder, ready["api"], "p1", "p2")
        words = ("--target", "target.yaml", "--dialect", "ours.yaml", "--out", "report")
        done = check(folder, *words, *ONLY)
    report = json.loads((folder / "report" / "report.json").read_text())
    return done.code, done.out, report


def test_one_wrong_field_is_one_finding_with_the_line_to_change(tmp_path: Path) -> None:
    code, out, report = judged_run(tmp_path, {"representation": {"identifier": "uuid"}})
    assert code == 1
    (found,) = report["disagreements"]
    assert (found["field"], found["said"]) == ("representation.identifier", ["uuid"])
    assert found["seen"][0] == "ulid"
    assert "representation.identifier: uuid disagrees with what was seen" in out
    assert "write `representation: {identifier: ulid}`" in out
    assert "\n1 finding:\n" in out
    (entry,) = [each for each in report["requirements"] if each["findings"]]
    assert len(entry["findings"]) == found["findings"] > 1
    assert sum(finding["count"] for finding in entry["findings"]) == found["count"]
    assert found["field"] in (tmp_path / "report" / "report.html").read_text()


def test_two_wrong_fields_are_two_findings(tmp_path: Path) -> None:
    answers = {"representation": {"identifier": "uuid", "no_value": "absent"}}
    code, out, report = judged_run(tmp_path, answers)
    assert code == 1
    fields = {each["field"]: each["seen"][0] for each in report["disagreements"]}
    assert fields == {"representation.identifier": "ulid", "representation.no_value": "null"}
    assert "\n2 findings:\n" in out


@pytest.mark.parametrize("fault", ["prefixed_identifier", "cut_timestamp"])
def test_a_faulty_service_under_its_own_dialect_is_not_explained(
    tmp_path: Path, fault: str
) -> None:
    code, out, report = judged_run(tmp_path, {}, "--fault", fault)
    assert code == 1
    assert report["disagreements"] == []
    assert "a field of the dialect" not in out


def test_evidence_is_judged_once_for_all_requirements_of_a_check() -> None:
    judgings = []

    def judge(evidence: CannedObservation, _context: CheckContext) -> Iterator[Judgement]:
        judgings.append(evidence)
        yield judged(False, "1-2", "It is not", expected=1, actual=2, exchanges=evidence.exchanges)
        for name in ("1-1", "1-2"):
            yield holds(name, exchanges=evidence.exchanges)

    once = Check(
        name="once", requirements=("1-1", "1-2"), evidence=(CannedObservation,), judge=judge
    )
    verdicts, evidence = Verdicts(context()), [seen(exchange()), seen(exchange())]
    worst = [[verdicts.of(name, once, each) for name in ("1-1", "1-2", "1-3")] for each in evidence]
    assert worst == [[Verdict.PASS, Verdict.FAIL, None]] * 2
    assert list(map(id, judgings)) == list(map(id, evidence))


def test_only_a_field_that_names_a_member_has_values_that_answers_show() -> None:
    shown = [
        seen(exchange(data={"uid": "e", "status": "on"})),
        seen(exchange("event", "createBroadcastEvent", data={"uid": "v", "status": "new"})),
    ]
    assert shown_values("words.endpoint_active", shown) == ["on"]
    assert shown_values("words.event_created", shown) == ["new"]
    assert shown_values("representation.identifier", shown) == []
