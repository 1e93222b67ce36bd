"""Signals at exact moments of a command: none is lost, from its start to its exit code."""

import re
import signal
from pathlib import Path

import pytest

from hookproof.process.exit_codes import ExitCode
from tests.conformance.reference_server import reference_server, write_target_file
from tests.process.interrupted_command import stopped_before
from tests.source_tree import ROOT

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
CHECK = ("check", "--profile", "quick", "--only", "4.3-2")
LOAD = ("load", "--rate", "20", "--duration", "1", "--drain", "60", "--keep-up", "600")


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("moment", ["usual_durations", "clear_folder", "_run_file"])
def test_a_check_that_is_stopped_before_it_gathers_ends_at_once(
    tmp_path: Path, number: signal.Signals, moment: str
) -> None:
    place = f"hookproof.conformance.run.composition_root:{moment}"
    stopped = stopped_before(place, tmp_path, *CHECK, number=number)
    assert stopped.returncode == ExitCode.INTERRUPTED
    assert stopped.stderr.strip() == "hookproof: interrupted"
    assert not (tmp_path / "out" / "report.json").exists()


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize(
    "place",
    [
        "hookproof.load.cli.load:InterruptForwarder",
        "hookproof.load.cli.load:open_driver",
        "hookproof.load.target.preparation:LoadPreparation.fitted",
        "hookproof.load.single_process:start_locust_process",
        "hookproof.load.single_process:InterruptForwarder.passed_on_to",
    ],
)
def test_a_load_run_that_is_stopped_before_it_sends_ends_at_once(
    tmp_path: Path, number: signal.Signals, place: str
) -> None:
    stopped = stopped_before(place, tmp_path, *LOAD, number=number)
    assert stopped.returncode == ExitCode.INTERRUPTED
    assert stopped.stderr.strip() == "hookproof: interrupted"
    assert not (tmp_path / "out" / "report.json").exists()


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("hookproof.load.target.preparation:LoadPreparation.fitted", ("ramp",)),
        ("hookproof.load.single_process:InterruptForwarder.passed_on_to", ("ramp",)),
        ("hookproof.load.run.driver:prepare", ("smoke", "--processes", "2")),
    ],
)
def test_so_does_a_search_before_its_first_trial_and_a_run_of_several_workers(
    tmp_path: Path, place: str, words: tuple[str, ...]
) -> None:
    stopped = stopped_before(place, tmp_path, *LOAD, *words)
    assert stopped.returncode == ExitCode.INTERRUPTED
    assert stopped.stderr.strip() == "hookproof: interrupted"


def test_a_signal_as_several_workers_are_told_to_begin_reaches_them(tmp_path: Path) -> None:
    place = "hookproof.load.distributed.workers:Workers.run"
    stopped = stopped_before(place, tmp_path, *LOAD, "--duration", "600", "--processes", "2")
    assert stopped.returncode == ExitCode.INTERRUPTED, stopped.stdout + stopped.stderr
    assert stopped.stderr.strip() == "hookproof: interrupted"
    assert not (tmp_path / "out" / "report.json").exists()


def test_a_signal_between_two_trials_ends_the_search_with_what_it_found(tmp_path: Path) -> None:
    place = "hookproof.load.cli.load:trial_line"
    ramp = (ROOT / "hookproof" / "load" / "profiles" / "ramp.yaml").read_text(encoding="utf-8")
    # Whatever its times: how fast this machine is decides nothing here.
    (tmp_path / "ramp.yaml").write_text(re.sub(r"(?m)^fail_if: .*$", "fail_if: [lost > 0]", ramp))
    stopped = stopped_before(place, tmp_path, *LOAD, str(tmp_path / "ramp.yaml"))
    assert stopped.returncode == ExitCode.INCOMPLETE, stopped.stdout + stopped.stderr
    assert "INCOMPLETE  interrupted before the end" in stopped.stdout
    assert stopped.stdout.count("trial at") <= 2


@pytest.mark.parametrize("moment", ["complaints", "console_report", "_write_reports"])
def test_what_was_measured_is_reported_whatever_comes_then(tmp_path: Path, moment: str) -> None:
    stopped = stopped_before(f"hookproof.load.cli.load:{moment}", tmp_path, *LOAD)
    assert stopped.returncode == ExitCode.OK, stopped.stdout + stopped.stderr
    assert (tmp_path / "out" / "report.json").exists()


@pytest.mark.parametrize("number", SIGNALS)
def test_learning_that_is_stopped_writes_what_it_has_learned(
    tmp_path: Path, number: signal.Signals
) -> None:
    place = "hookproof.conformance.learning.learner:learn_from_deliveries"
    with reference_server(tmp_path, ROOT, "p1") as ready:
        target = str(write_target_file(tmp_path, ready["api"], "p1"))
        words = ("learn", "--target", target, "--profile", "quick")
        stopped = stopped_before(place, tmp_path, *words, number=number)
    assert stopped.returncode == ExitCode.INCOMPLETE, stopped.stdout + stopped.stderr
    assert stopped.stdout.splitlines()[-1].startswith("INCOMPLETE  learning was interrupted")
    for name in ("dialect.yaml", "learned.html"):
        assert (tmp_path / "out" / name).stat().st_size > 0
