"""`hookproof check` writes into --out and nowhere else, also when it is killed."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from hookproof.conformance.generation.generators import KEPT_IN
from tests.polling import poll_until

DEADLINE_S: Final = 120
# A requirement of the sweep (hypothesis and schemathesis run), one of deliveries (the receiver and
# its CA), both quick.
ONLY: Final = ("--profile", "quick", "--only", "4.2-1", "--only", "6-3")


class Surroundings:
    """A current folder, a home and a folder of temporary files, all empty before the first run."""

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
        # These would lead to other folders in spite of HOME and TMPDIR.
        for name in (KEPT_IN, "XDG_CACHE_HOME", "XDG_DATA_HOME", "HYPOTHESIS_STORAGE_DIRECTORY"):
            self.environment.pop(name, None)

    def start_check(self) -> subprocess.Popen[bytes]:
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
        """Return the ids of the running processes that were started here, as /proc lists them."""
        home = f"HOME={self.folder / 'home'}".encode()
        environments = Path("/proc").glob("[0-9]*/environ")
        return [path.parent.name for path in environments if home in read_environment(path)]


def read_environment(path: Path) -> list[bytes]:
    try:
        return path.read_bytes().split(b"\0")
    except OSError:  # the process has ended, or belongs to another user
        return []


def has_content(path: Path) -> bool:
    return path.exists() and path.stat().st_size > 0


@pytest.fixture
def surroundings(tmp_path: Path) -> Surroundings:
    return Surroundings(tmp_path)


def test_a_run_writes_into_out_alone(surroundings: Surroundings) -> None:
    assert surroundings.start_check().wait(DEADLINE_S) == 0
    assert surroundings.written_outside() == []
    reports = {path.name for path in surroundings.out.iterdir()}
    assert reports == {"run.jsonl", "report.json", "report.html", "junit.xml", "summary.md"}


def test_a_killed_run_leaves_nothing_outside_and_the_next_one_cleans_up(
    surroundings: Surroundings,
) -> None:
    working = surroundings.out / ".working"
    killed = surroundings.start_check()
    poll_until(lambda: any(working.rglob("ca.key")), "a CA for the run")
    poll_until(lambda: has_content(surroundings.out / "run.jsonl"), "the run has started")
    killed.send_signal(signal.SIGKILL)
    assert killed.wait(DEADLINE_S) == -signal.SIGKILL
    poll_until(lambda: not surroundings.processes(), "its children have ended")
    assert surroundings.written_outside() == []
    assert working.exists()

    assert surroundings.start_check().wait(DEADLINE_S) == 0
    assert surroundings.written_outside() == []
    assert not working.exists()
