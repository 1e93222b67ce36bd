"""`hookproof compare --over-time`: runs by time, and what changed from one to the next."""

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from hookproof.cli import cli
from hookproof.commands.compare.over_time import FigureChange, figure_changes
from hookproof.commands.compare.runs import LoadRun
from hookproof.conformance.model.ledger import Entry
from hookproof.conformance.results.packed.writing import packed_run
from hookproof.conformance.results.run_file import NAME
from hookproof.load.figures import FIGURES
from tests.conformance.canned_run import failed, finished_run, header, not_exercised, passed
from tests.load.reports.test_load_page import REPORT

DAY = 86_400.0
BEGINNING = 1_800_000_000.0


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(cli, ["compare", "--over-time", *(str(word) for word in words)])


def trend(folder: Path) -> dict[str, Any]:
    result = run(folder, "--format", "json")
    assert (result.exit_code, result.stderr) == (0, "")
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def write_check(folder: Path, day: int, *entries: Entry, **changes: Any) -> None:
    folder.mkdir(parents=True)
    run_header = replace(header(), started_at=BEGINNING + day * DAY, **changes)
    finished_run(folder, *entries, run_header=run_header)


def write_load(folder: Path, day: int, figures: Mapping[str, float], **changes: Any) -> None:
    folder.mkdir(parents=True)
    report = {
        **REPORT,
        "started_at": f"2026-01-{day:02}T00:00:00.000+00:00",
        "figures": {**dict.fromkeys(FIGURES), **figures},
        **changes,
    }
    (folder / "report.json").write_text(json.dumps(report))


def load_run(**figures: float) -> LoadRun:
    return LoadRun(
        place="", started_at=0, target="", profile="", verdict="", figures=figures, conditions={}
    )


def test_runs_are_in_the_order_of_time_whatever_their_folders_are_called(tmp_path: Path) -> None:
    write_check(tmp_path / "a", 3, passed("4.1-1"), passed("4.1-2"))
    write_check(tmp_path / "deep" / "er" / "b", 1, passed("4.1-1"), passed("4.1-2"))
    write_check(tmp_path / "c", 2, passed("4.1-1"), failed("4.1-2"))
    (group,) = trend(tmp_path)["check"]
    assert [Path(each["place"]).name for each in group["runs"]] == ["b", "c", "a"]
    assert [each["verdict"] for each in group["runs"]] == [
        "conforms",
        "does_not_conform",
        "conforms",
    ]
    changes = [[(one["id"], one["change"]) for one in each["changes"]] for each in group["runs"]]
    assert changes == [[], [("4.1-2", "worse")], [("4.1-2", "better")]]
    assert group["runs"][1]["totals"]["stated"]["fail"] == 1


def test_each_target_has_a_trend_of_its_own(tmp_path: Path) -> None:
    write_check(tmp_path / "a", 1, passed("4.1-1"), target="http://one.invalid")
    write_check(tmp_path / "b", 2, failed("4.1-1"), target="http://two.invalid")
    write_check(tmp_path / "c", 3, failed("4.1-1"), target="http://127.0.0.1:1", embedded=True)
    write_check(tmp_path / "d", 4, passed("4.1-1"), target="http://127.0.0.1:2", embedded=True)
    groups = {group["target"]: group["runs"] for group in trend(tmp_path)["check"]}
    assert list(groups) == ["http://one.invalid", "http://two.invalid", "the embedded server"]
    assert [len(each["changes"]) for runs in groups.values() for each in runs] == [0, 0, 0, 1]


def test_a_packed_run_counts_and_a_linked_folder_does_not(tmp_path: Path) -> None:
    write_check(tmp_path / "elsewhere" / "a", 1, passed("4.1-1"))
    runs = tmp_path / "runs"
    runs.mkdir()
    (runs / "a.zip").write_bytes(packed_run(tmp_path / "elsewhere" / "a", [NAME], "0.1.0"))
    (runs / "link").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    (group,) = trend(runs)["check"]
    assert [each["place"] for each in group["runs"]] == [str(runs / "a.zip")]


def test_runs_are_looked_for_to_a_depth(tmp_path: Path) -> None:
    write_check(tmp_path / "1" / "2" / "3" / "4", 1, passed("4.1-1"))
    write_check(tmp_path / "1" / "2" / "3" / "4" / "5", 2, passed("4.1-1"))
    (group,) = trend(tmp_path)["check"]
    assert [Path(each["place"]).name for each in group["runs"]] == ["4"]


def test_what_makes_runs_hard_to_compare_is_said(tmp_path: Path) -> None:
    write_check(tmp_path / "a", 1, passed("4.1-1"))
    write_check(
        tmp_path / "b", 2, passed("4.1-1"), dialect="ours", everything=False, tool_version="0.2.0"
    )
    text = run(tmp_path).stdout
    assert "Note: the version of hookproof differs: 0.1.0, then 0.2.0." in text
    assert "Note: the dialect differs: reference, then ours." in text
    assert "Note: the selection of requirements differs." in text
    assert "seed" not in text


def test_the_text_names_what_changed_and_counts_the_rest(tmp_path: Path) -> None:
    names = [f"4.1-{number}" for number in range(1, 26)]
    write_check(tmp_path / "a", 1, *(passed(name) for name in names), not_exercised("4.4-1"))
    write_check(tmp_path / "b", 2, *(failed(name) for name in names), passed("4.4-1"))
    lines = run(tmp_path).stdout.splitlines()
    assert lines[0] == "check http://target.invalid: 2 runs"
    assert lines[1].startswith("  2027-01-16 08:00 UTC  INCOMPLETE  stated 25/26")
    assert lines[2].startswith("  2027-01-17 08:00 UTC  DOES NOT CONFORM  stated 1/26")
    assert lines[3].startswith("    worse: 4.1-1 (pass -> fail), 4.1-2 (pass -> fail), ")
    assert lines[3].endswith(", and 5 more")
    assert lines[4:] == ["    better: 4.4-1 (not exercised -> pass)"]


def test_load_runs_show_rates_percentiles_and_losses(tmp_path: Path) -> None:
    write_load(tmp_path / "a", 1, {"delivery_rps": 100, "delivery_p99": 0.1, "lost": 0})
    write_load(tmp_path / "b", 2, {"delivery_rps": 50, "delivery_p99": 0.05, "lost": 3}, rate=4.0)
    write_load(tmp_path / "c", 3, {"lost": 0}, profile="soak")
    text = run(tmp_path).stdout
    assert "delivery_rps 100/s" in text
    assert "    Note: the rate differs: 2.0, then 4.0." in text
    assert "    worse: delivery_rps 100/s -> 50.0/s (-50.0%), lost 0 -> 3 (new)" in text
    assert "    better: delivery_p99 100.0 ms -> 50.0 ms (-50.0%)" in text
    groups = trend(tmp_path)["load"]
    assert [(group["profile"], len(group["runs"])) for group in groups] == [
        ("smoke", 2),
        ("soak", 1),
    ]
    assert groups[0]["runs"][1]["figures"] == {
        "delivery_rps": 50,
        "delivery_p99": 0.05,
        "lost": 3,
    }


def test_embedded_load_runs_are_of_one_target(tmp_path: Path) -> None:
    for day in (1, 2):
        target = f"http://127.0.0.1:{day}"
        write_load(tmp_path / str(day), day, {"lost": day}, target=target, embedded=True)
    (group,) = trend(tmp_path)["load"]
    assert (group["target"], len(group["runs"])) == ("the embedded server", 2)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"ingest_p99": 0.1}, {"ingest_p99": 0.12}, "worse"),
        ({"ingest_p99": 0.1}, {"ingest_p99": 0.109}, None),
        ({"ingest_rps": 100}, {"ingest_rps": 120}, "better"),
        ({"lost": 0}, {"lost": 1}, "worse"),
        ({"lost": 1}, {"lost": 0}, "better"),
        ({"lost": 0}, {"lost": 0}, None),
        ({"out_of_order": 0}, {"out_of_order": 5}, None),
        ({"lost": 0}, {}, None),
        ({}, {"lost": 5}, None),
    ],
)
def test_a_figure_changes_where_the_difference_is_notable(
    before: dict[str, float], after: dict[str, float], expected: str | None
) -> None:
    changes: list[FigureChange] = list(figure_changes(load_run(**before), load_run(**after)))
    assert [each.change for each in changes] == ([expected] if expected else [])


def test_what_cannot_be_read_is_left_out_with_the_reason(tmp_path: Path) -> None:
    write_check(tmp_path / "a", 1, passed("4.1-1"))
    write_check(tmp_path / "cut", 2, passed("4.1-1"))
    lines = (tmp_path / "cut" / NAME).read_text().splitlines(keepends=True)
    (tmp_path / "cut" / NAME).write_text("".join(lines[:-1]))
    (tmp_path / "other.zip").write_bytes(b"PK\x03\x04 something")
    for name, changes in (
        ("no_time", {"started_at": "yesterday"}),
        ("no_figure", {"figures": {"lost": "many"}}),
        ("no_figures", {"figures": None}),
        ("no_number", {"figures": {"lost": float("nan")}}),
    ):
        write_load(tmp_path / name, 1, {})
        written = json.loads((tmp_path / name / "report.json").read_text())
        (tmp_path / name / "report.json").write_text(json.dumps({**written, **changes}))
    left = {Path(each["place"]).name: each["why"] for each in trend(tmp_path)["left_out"]}
    assert set(left) == {"cut", "other.zip", "no_time", "no_figure", "no_figures", "no_number"}
    assert "cut off" in left["cut"]
    text = run(tmp_path)
    assert text.exit_code == 0
    assert text.stdout.count("Note: ") == 6


def test_a_folder_without_a_run_ends_it_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / NAME).write_text("{}\n")
    for name, words in (
        ("empty", "holds no finished run"),
        ("broken", "holds no run of hookproof"),
        ("file", "holds no finished run"),
        ("none", "is no folder"),
    ):
        result = run(tmp_path / name)
        assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (64, "", 1)
        assert words in result.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every folder")
def test_a_folder_that_may_not_be_read_is_passed_over(tmp_path: Path) -> None:
    write_check(tmp_path / "a", 1, passed("4.1-1"))
    (tmp_path / "closed").mkdir(mode=0)
    assert run(tmp_path).exit_code == 0


def test_what_a_target_wrote_cannot_change_the_terminal(tmp_path: Path) -> None:
    write_check(tmp_path / "a", 1, passed("4.1-1"), target="http://x/\x1b[31m")
    write_load(tmp_path / "b", 1, {}, target="\x1b[31m", verdict="\x1b")
    text = run(tmp_path).stdout
    assert all(line.isprintable() for line in text.split("\n"))
