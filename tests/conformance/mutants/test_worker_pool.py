"""Trials end with an interrupt and with whoever holds them, and what was tried is kept."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hookproof.conformance.mutants.results import Acquittal, Outcome
from hookproof.conformance.mutants.worker_pool import Courtroom
from tests.conformance.command import environment, hearing
from tests.conformance.mutants.canned_mutant_runs import at_once, orders
from tests.source_tree import ROOT

DEADLINE_S = 300.0
HOLDS = """
from hookproof.conformance.mutants.worker_pool import Courtroom
from tests.conformance.mutants.canned_mutant_runs import for_ever, orders
from tests.source_tree import ROOT
if __name__ == "__main__":
    with Courtroom(1, print, hold=for_ever) as court:
        list(court.tried_all(orders("begun")))
"""


def test_each_subject_gets_the_result_of_its_own_trial() -> None:
    told: list[Outcome | Acquittal] = []
    with Courtroom(2, told.append, hold=at_once) as court:
        ended = list(court.tried_all(orders("a", "b", "c")))
    assert not court.interrupted
    assert {one.name: one.result.exercised for one in ended} == {
        name: frozenset({name}) for name in "abc"
    }
    assert told == court.over == ended


def test_an_interrupt_keeps_what_was_tried_and_begins_nothing_further() -> None:
    told: list[Outcome | Acquittal] = []
    names = [str(number) for number in range(500)]
    with Courtroom(1, told.append, hold=at_once) as court:
        for _ in court.tried_all(orders(*names)):
            raise KeyboardInterrupt
    assert court.interrupted
    assert told == court.over
    tried = [one.name for one in court.over if isinstance(one, Acquittal)]
    assert sorted(tried, key=int) == names[: len(tried)]
    assert 0 < len(tried) < len(names)
    assert all(one.result.exercised for one in court.over)


def test_another_error_is_not_taken_for_an_interrupt() -> None:
    court = Courtroom(1, lambda _: None, hold=at_once)
    with pytest.raises(ZeroDivisionError), court:
        raise ZeroDivisionError
    assert not court.interrupted


def test_a_trial_ends_with_the_process_that_holds_it(tmp_path: Path) -> None:
    program = tmp_path / "holds.py"
    program.write_text(HOLDS)
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    with subprocess.Popen(
        [sys.executable, program],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "begun\n"
        holder.kill()
        said, _ = holder.communicate(
            timeout=DEADLINE_S
        )  # it ends when nobody is left who could write
    assert said == ""


def test_an_interrupted_campaign_reports_what_it_tried(tmp_path: Path) -> None:
    words = ["mutants", "--fault", "*_as_text", "--dialect", "reference", "--jobs", "1"]
    with subprocess.Popen(
        hearing([sys.executable, "-P", "-m", "hookproof", *words]),
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("acquitted clean")
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does it
        out, err = process.communicate(timeout=DEADLINE_S)
    assert (process.returncode, err) == (3, "")
    assert out.splitlines()[-1].startswith("INTERRUPTED  killed ")
    report = json.loads((tmp_path / "hookproof-mutants" / "mutants.json").read_text())
    assert (report["interrupted"], report["complete"], report["flawless"]) == (True, False, False)
    assert [one["name"] for one in report["innocents"]] == ["clean"]
