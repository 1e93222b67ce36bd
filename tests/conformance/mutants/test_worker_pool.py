"""Mutant runs end with an interrupt and with their parent process, and results are kept."""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from hookproof.conformance.mutants import worker_pool
from hookproof.conformance.mutants.results import FaultOutcome, VariantOutcome
from hookproof.conformance.mutants.worker_pool import WorkerPool
from tests.conformance.command import command_line, environment, with_signals
from tests.conformance.mutants.canned_mutant_runs import ends_at_once, orders
from tests.polling import poll_until
from tests.source_tree import ROOT

DEADLINE_S = 300.0
# The moment, and as much again several times for a machine that is busy.
ENDS_WITHIN_S = 10.0
PARENT = """
from hookproof.conformance.mutants.worker_pool import WorkerPool
from tests.conformance.mutants.canned_mutant_runs import never_ends, orders
from tests.source_tree import ROOT
if __name__ == "__main__":
    with WorkerPool(1, print, run=never_ends) as pool:
        list(pool.run_all(orders("begun")))
"""

INTERRUPTED = """
from hookproof.conformance.mutants.worker_pool import WorkerPool
from tests.conformance.mutants.canned_mutant_runs import never_ends, orders
if __name__ == "__main__":
    with WorkerPool(1, print, run=never_ends) as pool:
        try:
            list(pool.run_all(orders("begun")))
        except KeyboardInterrupt:
            print("waits for the run", flush=True)
            raise
    print(pool.interrupted, pool.outcomes)
"""


def test_each_subject_gets_the_result_of_its_own_run() -> None:
    reported: list[FaultOutcome | VariantOutcome] = []
    with WorkerPool(2, reported.append, run=ends_at_once) as pool:
        ended = list(pool.run_all(orders("a", "b", "c")))
    assert not pool.interrupted
    assert {item.name: item.result.exercised for item in ended} == {
        name: frozenset({name}) for name in "abc"
    }
    assert reported == pool.outcomes == ended


def test_an_interrupt_keeps_the_results_and_starts_nothing_further() -> None:
    reported: list[FaultOutcome | VariantOutcome] = []
    names = [str(number) for number in range(500)]
    with WorkerPool(1, reported.append, run=ends_at_once) as pool:
        for _ in pool.run_all(orders(*names)):
            raise KeyboardInterrupt
    assert pool.interrupted
    assert reported == pool.outcomes
    tried = [item.name for item in pool.outcomes if isinstance(item, VariantOutcome)]
    assert sorted(tried, key=int) == names[: len(tried)]
    assert 0 < len(tried) < len(names)
    assert all(item.result.exercised for item in pool.outcomes)


def test_an_interrupt_takes_effect_once_all_runs_were_handed_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    submitted = []
    submit = ProcessPoolExecutor.submit

    def interrupted(pool: ProcessPoolExecutor, *arguments: Any) -> Any:
        submitted.append(arguments)
        signal.raise_signal(signal.SIGINT)
        return submit(pool, *arguments)

    monkeypatch.setattr(ProcessPoolExecutor, "submit", interrupted)
    names = [str(number) for number in range(20)]
    with WorkerPool(1, lambda _: None, run=ends_at_once) as pool:
        list(pool.run_all(orders(*names)))
    assert pool.interrupted
    assert len(submitted) == len(names)


def test_another_error_does_not_count_as_an_interrupt() -> None:
    pool = WorkerPool(1, lambda _: None, run=ends_at_once)
    with pytest.raises(ZeroDivisionError), pool:
        raise ZeroDivisionError
    assert not pool.interrupted


def started(folder: Path, program: str) -> subprocess.Popen[str]:
    """A process that runs this program, whose worker has begun to run."""
    path = folder / "parent.py"
    path.write_text(program)
    import_path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    parent = subprocess.Popen(
        with_signals([sys.executable, str(path)]),
        env={**os.environ, "PYTHONPATH": import_path},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    assert parent.stdout.readline() == "begun\n"
    return parent


def test_a_second_interrupt_ends_the_runs_under_way(tmp_path: Path) -> None:
    with started(tmp_path, INTERRUPTED) as parent:
        assert parent.stdout is not None
        parent.send_signal(signal.SIGINT)
        assert parent.stdout.readline() == "waits for the run\n"
        parent.send_signal(signal.SIGINT)
        try:
            output, _ = parent.communicate(timeout=DEADLINE_S)
        finally:
            parent.kill()  # one that hangs fails this test, and holds up no other
    assert (parent.returncode, output) == (0, "True []\n")


def test_an_interrupt_leaves_the_runs_under_way_a_moment_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run of this worker never ends by itself, and cannot remove its folder."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with started(tmp_path, INTERRUPTED) as parent:
        began = time.monotonic()
        parent.send_signal(signal.SIGINT)
        try:
            output, _ = parent.communicate(timeout=DEADLINE_S)
        finally:
            parent.kill()
    assert (parent.returncode, output) == (0, "waits for the run\nTrue []\n")
    assert [path.name for path in tmp_path.iterdir()] == ["parent.py"]
    assert time.monotonic() - began < ENDS_WITHIN_S


def test_a_second_interrupt_counts_while_the_first_is_on_its_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = signal.getsignal(signal.SIGINT)
    pool, kills = WorkerPool(1, lambda _: None, run=ends_at_once), list[bool]()
    monkeypatch.setattr(worker_pool, "_kill_workers", lambda: kills.append(pool.interrupted))
    with pool:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            signal.raise_signal(signal.SIGINT)
            raise
    assert (pool.interrupted, kills) == (True, [True])
    assert signal.getsignal(signal.SIGINT) is before


def test_further_interrupts_end_the_runs_and_raise_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Python takes a thread for ended whose join was interrupted; that of the pool would go on."""
    pool = WorkerPool(1, lambda _: None, run=ends_at_once)
    shut_down, kills = pool._pool.shutdown, list[bool]()

    def interrupted_twice(*, cancel_futures: bool) -> None:
        for _ in range(2):
            signal.raise_signal(signal.SIGINT)
        shut_down(cancel_futures=cancel_futures)

    monkeypatch.setattr(pool._pool, "shutdown", interrupted_twice)
    monkeypatch.setattr(worker_pool, "_kill_workers", lambda: kills.append(pool.interrupted))
    with suppress(KeyboardInterrupt), pool:
        pass
    assert (pool.interrupted, kills) == (True, [True, True])


def test_a_run_ends_with_its_parent_process(tmp_path: Path) -> None:
    with started(tmp_path, PARENT) as parent:
        parent.kill()
        # The pipe closes when no process is left that could write to it.
        output, _ = parent.communicate(timeout=DEADLINE_S)
    assert output == ""


def stop_worker(parent: psutil.Process) -> None:
    """Stop the worker of a campaign in its first run, as soon as its fork server has forked one."""

    def is_stopped() -> bool:
        with suppress(psutil.NoSuchProcess):  # others come and go before
            for worker in parent.children():
                if any(process.children() for process in worker.children()):
                    worker.suspend()
                    return True
        return False

    poll_until(is_stopped, "a run has begun", DEADLINE_S)


@pytest.mark.parametrize("words", [(), ("--hiding",)], ids=["a campaign", "hiding"])
def test_interrupted_before_any_run_has_ended_there_is_nothing_to_report(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    chosen = ("--fault", "null_message", "--dialect", "reference", "--jobs", "1")
    with subprocess.Popen(
        with_signals(command_line("mutants", *chosen, *words)),
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        stop_worker(psutil.Process(process.pid))
        ended, pause_s = None, 1.0
        while ended is None:  # the first waits for the run, and the second one ends it
            process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                ended = process.wait(timeout=pause_s)
            pause_s = 10.0  # a further one may cut off the interpreter's own end
        out, err = process.communicate()
    assert (ended, out, err.split("\n")) == (130, "", ["", "hookproof: interrupted", ""])
    assert list(tmp_path.rglob("mutants.*")) == []


def test_an_interrupted_campaign_reports_what_it_ran(tmp_path: Path) -> None:
    words = ("--fault", "*_as_text", "--dialect", "reference", "--jobs", "1")
    with subprocess.Popen(
        with_signals(command_line("mutants", *words)),
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("passed   clean")
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does it
        out, err = process.communicate(timeout=DEADLINE_S)
    assert (process.returncode, err) == (3, "")
    assert out.splitlines()[-1].startswith("INTERRUPTED  killed ")
    report = json.loads((tmp_path / "hookproof-mutants" / "mutants.json").read_text())
    assert (report["interrupted"], report["complete"], report["flawless"]) == (True, False, False)
    assert [variant["name"] for variant in report["innocents"]] == ["clean"]
