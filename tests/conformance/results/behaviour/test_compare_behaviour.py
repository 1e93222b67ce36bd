"""`hookproof compare --behaviour`, and what it writes as JSON."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from hookproof.cli import cli
from hookproof.conformance.results.run_file import NAME
from hookproof.spec.dialect.reader import load_dialect
from hookproof.spec.dialect.writer import written_dialect
from tests.conformance.canned_evidence import exchange
from tests.conformance.canned_run import failed, header
from tests.conformance.golden_run import HOSTILE
from tests.conformance.results.behaviour.stored_runs import arrival, broadcast, observed, stored_run


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(cli, ["compare", *(str(word) for word in words)])


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """Two runs, of targets that do not behave alike."""
    other = written_dialect(load_dialect("reference"))
    other["retry"]["attempts"] = 3
    del other["requests"]["null_fields"]
    before = stored_run(
        tmp_path / "before",
        observed(exchange(data={"owner_id": None}, request={"name": "x"}, duration_s=0.002)),
        observed(broadcast({"n": 1}), arrival(b'{"n":1}', 0.5), name="sent"),
    )
    after = stored_run(
        tmp_path / "after",
        observed(exchange(status=400, request={"name": "x"}, body={"error": HOSTILE})),
        observed(exchange(data={"owner_id": HOSTILE, HOSTILE: 1}), name=HOSTILE),
        entries=(failed("4.1-1"),),
        run_header=replace(header(), dialect="ours", answers=other),
    )
    return before, after


def test_without_the_option_nothing_else_is_shown(folders: tuple[Path, Path]) -> None:
    plain, whole = run(*folders), run(*folders, "--behaviour")
    assert plain.exit_code == whole.exit_code == 1
    assert whole.stdout.startswith(f"{plain.stdout}\ndialects: 2 answers differ\n")
    assert plain.stdout.splitlines()[-1].startswith("after   DOES NOT CONFORM")


def test_dialects_and_what_targets_did_stand_side_by_side(folders: tuple[Path, Path]) -> None:
    lines = run(*folders, "--behaviour").stdout.splitlines()
    told = [" ".join(line.split()) for line in lines]
    place = told.index("retry.attempts")
    assert told[place + 1 : place + 3] == ["before 5", "after 3"]
    place = told.index("requests.null_fields")
    assert told[place + 2] == "after (no such question in its version)"
    assert "createEndpoint 201 1 1" in told
    assert "createEndpoint 400 - 1" in told
    assert "createBroadcastEvent 201 1 -" in told
    assert "createEndpoint 201 -> 400 once, for example in round_trip: one (create)" in told
    place = told.index("Endpoint: owner_id")
    assert told[place + 1 : place + 3] == ["before always: null 1", "after always: string 1"]
    assert any(line.startswith("createEndpoint p50 2.0, p95 2.0, max 2.0 (1)") for line in told)
    assert "time after their broadcasts, in ms p50 500, p95 500, max 500 (1) -" in told


def test_what_a_target_wrote_cannot_change_the_terminal(folders: tuple[Path, Path]) -> None:
    output = run(*folders, "--behaviour").stdout
    assert all(line.isprintable() for line in output.split("\n"))


def test_the_json_holds_the_same_and_no_behaviour_unless_asked(folders: tuple[Path, Path]) -> None:
    result = run(*folders, "--behaviour", "--format", "json")
    document: dict[str, Any] = json.loads(result.stdout)
    assert result.exit_code == 1
    assert [(each["id"], each["change"]) for each in document["verdicts"]] == [("4.1-1", "worse")]
    assert [each["name"] for each in document["dialects"]] == [
        "requests.null_fields",
        "retry.attempts",
    ]
    behaviour = document["behaviour"]
    creation = behaviour["operations"]["createEndpoint"]
    assert creation["statuses"] == {"before": {"201": 1}, "after": {"201": 1, "400": 1}}
    assert creation["took_s"]["before"] == {"count": 1, "p50": 0.002, "p95": 0.002, "max": 0.002}
    assert behaviour["other_statuses"][0]["count"] == 1
    assert behaviour["requests_in_both"] == 1
    assert {
        "kind": "Endpoint",
        "path": "owner_id",
        "before": {"seen": 1, "of": 1, "types": {"null": 1}},
        "after": {"seen": 1, "of": 1, "types": {"string": 1}},
    } in behaviour["differing_fields"]
    assert behaviour["deliveries"]["before"]["arrived"] == 1
    assert behaviour["deliveries"]["after"]["took_s"] is None
    plain = json.loads(run(*folders, "--format", "json").stdout)
    assert plain == {**document, "behaviour": None}


def test_equal_runs_differ_in_nothing(folders: tuple[Path, Path]) -> None:
    result = run(folders[0], folders[0], "--behaviour")
    assert result.exit_code == 0
    assert "dialects: no answers differ" in result.stdout
    assert "with another status: 0" in result.stdout
    assert "fields of answers that differ: none" in result.stdout


def test_a_run_of_another_version_is_compared_whatever_its_observations_are(
    folders: tuple[Path, Path],
) -> None:
    text = (folders[0] / NAME).read_text()
    (folders[0] / NAME).write_text(text.replace("CannedObservation", "ObservationOfTomorrow"))
    assert run(*folders, "--behaviour").exit_code == 1


@pytest.mark.parametrize(
    "line",
    [
        '{"event":"case"}',
        '{"event":"case","experiment":"x","name":"y","repetition":1,"exchanges":[1],"deliveries":[]}',
        '{"event":"case","experiment":"x","name":"y","repetition":1,"exchanges":5,"deliveries":[]}',
        '{"event":"case"' + "[" * 200_000,
    ],
    ids=["no members", "no exchange", "no list", "deep"],
)
def test_damaged_evidence_ends_it_in_one_line(folders: tuple[Path, Path], line: str) -> None:
    lines = (folders[0] / NAME).read_text().splitlines()
    (folders[0] / NAME).write_text("\n".join([lines[0], line, *lines[1:]]) + "\n")
    result = run(*folders, "--behaviour")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (64, "", 1)
    assert f"before/{NAME}:2: no evidence" in result.stderr
