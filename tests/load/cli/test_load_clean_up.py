"""What a load run leaves at a target, and the hooks that remove it."""

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.command import check
from tests.conformance.noting_hooks import HOOKS, PROVISION, done, of
from tests.conformance.reference_server import reference_server, write_target_file
from tests.load.embedded import hookproof_load, line_with, loading, report, wait_for_end
from tests.process.interrupted_command import stopped_before
from tests.source_tree import ROOT

SHORT = ("--rate", "40", "--duration", "1")


@pytest.fixture(name="url")
def _url(tmp_path: Path) -> Iterator[str]:
    with reference_server(tmp_path, ROOT, "p1", stderr=subprocess.DEVNULL) as ready:
        yield ready["api"]


def with_hooks(folder: Path, url: str, source: str = HOOKS) -> tuple[str, str]:
    """The options of a run whose hooks note their calls."""
    (folder / "hooks.py").write_text(source)
    return "--target", str(write_target_file(folder, url, "p1", provision=PROVISION))


def left(folder: Path) -> list[dict[str, Any]]:
    endpoints: list[dict[str, Any]] = report(folder)["left_at_target"]["endpoints"]
    return endpoints


def test_hooks_remove_all_that_a_run_has_created_and_end_it(tmp_path: Path, url: str) -> None:
    outcome = hookproof_load(tmp_path, "api-mix", *SHORT, *with_hooks(tmp_path, url))
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    noted, own = done(tmp_path), {each["uid"] for each in report(tmp_path)["endpoints"]}
    assert noted[-1] == "over"
    assert noted.count("over") == 1
    assert of("removed", noted) > own, "the mix has created endpoints, too"
    assert left(tmp_path) == []
    removed = len(of("removed", noted))
    assert report(tmp_path)["left_at_target"]["removed"] == removed > len(own) + 1
    assert f"the hook remove_endpoint removed {removed} endpoints" in outcome.stdout


def test_what_is_left_is_listed_where_no_hook_removes_it(tmp_path: Path, url: str) -> None:
    target = ("--target", str(write_target_file(tmp_path, url, "p1")))
    outcome = hookproof_load(tmp_path, "api-mix", *SHORT, *target)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    own = {each["uid"] for each in report(tmp_path)["endpoints"]}
    assert {each["uid"] for each in left(tmp_path) if not each["is_disabled"]} == own
    disabled = [each["uid"] for each in left(tmp_path) if each["is_disabled"]]
    assert len(set(disabled)) == len(disabled) > 1
    assert "" not in disabled
    assert {each["project"] for each in left(tmp_path)} == {"p1"}
    words = f"{len(left(tmp_path))} endpoints are left at the target, {len(own)} of them active"
    assert words in outcome.stdout
    page = (tmp_path / "report.html").read_text()
    assert words in page
    assert all(uid in page for uid in disabled)


def test_endpoints_of_earlier_runs_are_counted_as_they_slow_deliveries(
    tmp_path: Path, url: str
) -> None:
    """There are so many that the answer to a broadcast, which lists them, is long."""
    target = ("--target", str(write_target_file(tmp_path, url, "p1")))
    first = hookproof_load(tmp_path / "first", "fanout", "--rate", "2", "--duration", "1", *target)
    assert first.returncode == 0, first.stdout + first.stderr
    assert report(tmp_path / "first")["left_at_target"]["earlier"] == 0
    assert report(tmp_path / "first")["embedded"] is False
    assert "earlier runs" not in first.stdout + (tmp_path / "first" / "report.html").read_text()
    left_by_first = len(left(tmp_path / "first"))
    assert left_by_first == 100
    again = hookproof_load(tmp_path / "again", "smoke", *SHORT, *target)
    assert again.returncode == 0, again.stdout + again.stderr
    assert report(tmp_path / "again")["left_at_target"]["earlier"] == left_by_first
    words = "100 endpoints that earlier runs left get each event of this one too"
    assert again.stdout.count(words) == 1
    assert words in (tmp_path / "again" / "report.html").read_text()


def test_so_are_those_of_check(tmp_path: Path, url: str) -> None:
    target = ("--target", str(write_target_file(tmp_path, url, "p1")))
    judged = check(tmp_path, *target, "--profile", "quick", "--only", "6-10")
    assert judged.code == 0, judged.out
    of_check = json.loads((tmp_path / "hookproof-report" / "report.json").read_text())
    active = [each for each in of_check["left_at_target"]["endpoints"] if not each["is_disabled"]]
    outcome = hookproof_load(tmp_path, "smoke", *SHORT, *target)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert report(tmp_path)["left_at_target"]["earlier"] == len(active) > 0


def test_an_embedded_target_leaves_nothing(tmp_path: Path) -> None:
    outcome = hookproof_load(tmp_path, "smoke", *SHORT)
    assert report(tmp_path)["left_at_target"] == {}
    assert report(tmp_path)["embedded"] is True
    assert "left at the target" not in outcome.stdout


def test_a_run_that_is_interrupted_cleans_up_too(tmp_path: Path, url: str) -> None:
    words = ("smoke", "--duration", "600", *with_hooks(tmp_path, url))
    with loading(*words, out=tmp_path) as command:
        line_with(command, r"accepted [1-9].*backlog")
        command.send_signal(signal.SIGINT)
        code, _, errors = wait_for_end(command)
    assert code == 3, errors
    assert done(tmp_path)[-1] == "over"
    assert of("removed", done(tmp_path)) == of("created", done(tmp_path))


def test_so_does_one_that_is_interrupted_before_it_sends(tmp_path: Path, url: str) -> None:
    place = "hookproof.load.target.preparation:LoadPreparation.fitted"
    stopped = stopped_before(place, tmp_path, "load", "smoke", *with_hooks(tmp_path, url))
    assert stopped.returncode == 130, stopped.stderr
    assert done(tmp_path)[-1] == "over"
    assert of("removed", done(tmp_path)) == of("created", done(tmp_path)) != set()


def test_a_hook_that_cannot_remove_is_named_and_changes_no_verdict(
    tmp_path: Path, url: str
) -> None:
    broken = with_hooks(tmp_path, url, HOOKS.replace('note(f"removed', "1 / 0  # "))
    outcome = hookproof_load(tmp_path, "smoke", *SHORT, *broken)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    words = "your provision hook remove_endpoint failed: ZeroDivisionError"
    assert outcome.stdout.count(words) == 1
    assert len(left(tmp_path)) == 1
    assert done(tmp_path)[-1] == "over"
    assert report(tmp_path)["failed_hooks"][0].startswith("remove_endpoint failed: Zero")
