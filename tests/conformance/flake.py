"""`make flake`: the same run again and again, some of them with every core loaded, must give the same verdicts.

    python -m tests.conformance.flake 30 [--profile quick] [--dialect contrary] [--loaded 3]

The last runs are the loaded ones. Prints one line per run and, for each that differs from the first, which requirements
do; the exit code is the number of such runs.
"""

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.synchronize import Event
from pathlib import Path

Verdicts = dict[str, str]


def main() -> int:
    """Run, compare, and tell."""
    wanted = argparse.ArgumentParser(description="Run the suites repeatedly and compare the verdicts.")
    wanted.add_argument("runs", type=int)
    wanted.add_argument("--loaded", type=int, default=3, help="how many of the runs have every core loaded")
    wanted.add_argument("--profile", default="standard")
    wanted.add_argument("--dialect", default="reference")
    options = wanted.parse_args()
    first: Verdicts | None = None
    different = 0
    for number in range(1, options.runs + 1):
        loaded = number > options.runs - options.loaded
        with every_core_busy() if loaded else idle():
            started = time.monotonic()
            verdicts = judged(["--profile", options.profile, "--dialect", options.dialect, "--budget", "600"])
            took_s = time.monotonic() - started
        first = first or verdicts
        changed = {name: (first.get(name), verdict) for name, verdict in verdicts.items() if first.get(name) != verdict}
        different += bool(changed)
        told = ", ".join(f"{name}: {was} -> {now}" for name, (was, now) in changed.items()) or "identical"
        print(f"{number:3}  {took_s:6.1f} s  {'loaded' if loaded else '      '}  {told}", flush=True)  # noqa: T201
    return different


def judged(words: Sequence[str]) -> Verdicts:
    """The verdict of each requirement after one run against the embedded server."""
    with tempfile.TemporaryDirectory(prefix="hookproof-flake-") as folder:
        command = [sys.executable, "-P", "-m", "hookproof", "check", "--out", folder, *words]
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        report = json.loads((Path(folder) / "report.json").read_text())
    return {requirement["id"]: requirement["verdict"] for requirement in report["requirements"]}


@contextmanager
def every_core_busy() -> Iterator[None]:
    """A process on each core that does nothing but count, until the block ends."""
    stop = multiprocessing.Event()
    burners = [multiprocessing.Process(target=_burn, args=(stop,), daemon=True) for _ in range(os.cpu_count() or 1)]
    for burner in burners:
        burner.start()
    try:
        yield
    finally:
        stop.set()
        for burner in burners:
            burner.join()


@contextmanager
def idle() -> Iterator[None]:
    """Nothing besides the run."""
    yield


def _burn(stop: Event) -> None:
    number = 0
    while not stop.is_set():
        for _ in range(100_000):
            number += 1


if __name__ == "__main__":
    sys.exit(main())
