"""`make flake`: the same run, repeated, sometimes with every core loaded, must give the same
verdicts.

    python -m tests.conformance.flake 30 [--profile quick] [--dialect contrary] [--loaded 3]
    [--burners 2]

The last runs are the loaded ones. Prints one line per run and, for each that differs from the
first, which requirements do and why. What a run did not judge because this machine was late for it
is counted and differs from nothing. The last line says whether all agreed, and the exit code is 1
if they did not.
"""

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any, Final

from tests.conformance.command import is_for_lateness

# Seconds. Long, since a run that a busy machine cuts short says nothing about its verdicts.
BUDGET_S: Final = "600"

# The requirements of a report by their ids, and under RUN the verdict of the run as a whole, or the
# reason why there is no report.
Requirements = Mapping[str, Mapping[str, Any]]

RUN: Final = "the run"


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Run the suites repeatedly and compare the verdicts."
    )
    parser.add_argument("runs", type=int)
    parser.add_argument(
        "--loaded", type=int, default=3, help="how many of the runs have every core loaded"
    )
    parser.add_argument(
        "--burners", type=int, default=os.cpu_count() or 1, help="how many processes make the load"
    )
    parser.add_argument("--profile", default="quick")
    parser.add_argument("--dialect", default="reference")
    options = parser.parse_args()
    words = ["--profile", options.profile, "--dialect", options.dialect, "--budget", BUDGET_S]
    first: Requirements | None = None
    different = 0
    for number in range(1, options.runs + 1):
        loaded = number > options.runs - options.loaded
        started = time.monotonic()
        with busy(options.burners if loaded else 0):
            requirements = run_requirements(words)
        duration_s = time.monotonic() - started
        if first is None:
            first = requirements
        changes = differences(first, requirements)
        different += bool(changes)
        kind = "loaded" if loaded else "idle"
        late = len(kept_from_judging(requirements))
        print_lines(
            f"{number:3} of {options.runs}  {duration_s:6.1f} s  {kind:6}  {summary(requirements)},"
            f" {late} late",
            *(f"     {line}" for line in changes),
        )
    outcome = "FLAKY" if different else "STEADY"
    print_lines(f"{outcome}  {different} of {options.runs} runs differ from the first")
    return int(different > 0)


def run_requirements(words: Sequence[str]) -> Requirements:
    """The requirements after one run against the embedded server."""
    with tempfile.TemporaryDirectory(prefix="hookproof-flake-") as folder:
        command = [sys.executable, "-P", "-m", "hookproof", "check", "--out", folder, *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        report = Path(folder) / "report.json"
        if not report.is_file():
            return {
                RUN: {"verdict": f"exit code {done.returncode}", "reasons": [done.stderr.strip()]}
            }
        content = json.loads(report.read_text())
    requirements = {requirement["id"]: requirement for requirement in content["requirements"]}
    return {RUN: {"verdict": content["verdict"]}} | requirements


def differences(first: Requirements, now: Requirements) -> list[str]:
    """A line for each requirement whose verdict differs from that in the first run.

    Where something was kept from being judged, the verdict of the run says nothing.
    """
    late = {*kept_from_judging(first), *kept_from_judging(now)}
    names = [name for name in {**first, **now} if name not in (late | {RUN} if late else late)]
    return [
        f"{name}: {verdict(first, name)} -> {verdict(now, name)}{reason(now.get(name, {}))}"
        for name in names
        if verdict(first, name) != verdict(now, name)
    ]


def kept_from_judging(requirements: Requirements) -> list[str]:
    """The requirements that were not exercised because this machine was late."""
    return [
        name
        for name, requirement in requirements.items()
        if requirement["verdict"] == "not_exercised"
        and is_for_lateness(*requirement.get("reasons", ()))
    ]


def verdict(requirements: Requirements, name: str) -> str:
    """The requirement's verdict, `none` without one."""
    return str(requirements.get(name, {}).get("verdict", "none"))


def reason(requirement: Mapping[str, Any]) -> str:
    """The findings of a requirement and the reasons for its verdict, each on an indented line."""
    findings = requirement.get("findings", ())
    lines = [
        f"{finding['message']}: expected {finding['expected']}, was {finding['actual']}"
        for finding in findings
    ]
    return "".join(f"\n       {line}" for line in (*lines, *requirement.get("reasons", ())))


def summary(requirements: Requirements) -> str:
    """The verdict of the run and how many requirements pass."""
    passed = sum(requirement["verdict"] == "pass" for requirement in requirements.values())
    return f"{verdict(requirements, RUN)}, {passed} pass"


def print_lines(*lines: str) -> None:
    for line in lines:
        print(line, flush=True)  # noqa: T201


@contextmanager
def busy(burners: int) -> Iterator[None]:
    """So many processes that do nothing but count, until the block ends."""
    stop = multiprocessing.Event()
    processes = [
        multiprocessing.Process(target=_burn, args=(stop,), daemon=True) for _ in range(burners)
    ]
    for process in processes:
        process.start()
    try:
        yield
    finally:
        stop.set()
        for process in processes:
            process.join()


def _burn(stop: Event) -> None:
    number = 0
    while not stop.is_set():
        for _ in range(100_000):
            number += 1


if __name__ == "__main__":
    sys.exit(main())
