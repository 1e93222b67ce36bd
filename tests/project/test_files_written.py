"""`hookproof check` writes into --out and nowhere else, also when it is killed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

DEADLINE_S: Final = 120
# A requirement of the sweep (hypothesis and schemathesis run), one of deliveries (the receiver and
# its CA), both quick.
ONLY: Final = ("--profile", "quick", "--only", "4.2-1", "--only", "6-3")


class Surroundings:
    """A current folder, a home and a folder of temporary files, empty but for what a run writes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("current", "home", "temporary"):
            (folder / name).mkdir()
        self.out = folder / "current" / "out"
        self.environment = {
            **os.environ,
            "HOME": str(folder / "home"),
            "TMPDIR": str(folder / "temporary"),
        }
        # What would lead elsewhere although HOME and TMPDIR are these.
        for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME", "HYPOTHESIS_STORAGE_DIRECTORY"):
            self.environment.pop(name, None)

    def check(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "hookproof", "check", *ONLY, "--out", "out"],
            cwd=self.folder / "current",
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def written_outside(self) -> list[str]:
        return sorted(
            str(path.relative_to(self.folder))
            for name in ("current", "home", "temporary")
            for path in (self.folder / name).rglob("*")
            if path != self.out and self.out not in path.parents
        )

    def processes(self) -> list[str]:
        """The running processes that were started here, by their number, where /proc lists them."""
        home = f"HOME={self.folder / 'home'}".encode()
        return [path.parent.name for path in _environments() if home in _entries(path)]


def _environments() -> Iterator[Path]:
    yield from Path("/proc").glob("[0-9]*/environ")


def _entries(path: Path) -> list[bytes]:
    try:
        return path.read_bytes().split(b"\0")
    except OSError:  # ended, or not ours
        return []


def wait_until(condition: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, f"not within {DEADLINE_S} s: {what}"
        time.sleep(0.02)


@pytest.fixture
def surroundings(tmp_path: Path) -> Surroundings:
    return Surroundings(tmp_path)


def test_a_run_writes_into_out_alone(surroundings: Surroundings) -> None:
    assert surroundings.check().wait(DEADLINE_S) == 0
    assert surroundings.written_outside() == []
    reports = {path.name for path in surroundings.out.iterdir()}
    assert reports == {"run.jsonl", "report.json", "report.html", "junit.xml", "summary.md"}


def test_a_killed_run_leaves_nothing_outside_and_the_next_one_cleans_up(
    surroundings: Surroundings,
) -> None:
    working = surroundings.out / ".working"
    killed = surroundings.check()
    wait_until(lambda: any(working.rglob("ca.key")), "a CA for the run")
    wait_until(lambda: (surroundings.out / "run.jsonl").stat().st_size, "the run has begun")
    killed.send_signal(signal.SIGKILL)
    assert killed.wait(DEADLINE_S) == -signal.SIGKILL
    wait_until(lambda: not surroundings.processes(), "its children have ended")
    assert surroundings.written_outside() == []
    assert working.exists()

    assert surroundings.check().wait(DEADLINE_S) == 0
    assert surroundings.written_outside() == []
    assert not working.exists()
