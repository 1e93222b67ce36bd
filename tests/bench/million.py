"""Measures the memory of a load run with a million deliveries: `python -m tests.bench.million`.

Runs `hookproof load` with `million.yaml` and prints every ten seconds how many deliveries have
arrived and how much memory the generator, its receiver and the embedded server use. It fails if the
run fails, or if the generator or the receiver grew by more than a quarter after a tenth of the
deliveries: both allocate their memory at the beginning.
"""

import argparse
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import psutil

PROFILE: Final = Path(__file__).with_name("million.yaml")
ARRIVED: Final = re.compile(r"arrived ([\d,]+)")
ROLES: Final = {
    "generator": "hookproof.load.locust_worker.head_process",
    "receiver": "hookproof.load.sidecar.process",
    "server": "serve",
}
WATCHED: Final = ("generator", "receiver")
EVERY_S: Final = 10.0
SETTLED_SHARE: Final = 0.1
MAX_GROWTH: Final = 1.25
# Deliveries of the profile per second of sending.
DELIVERIES_A_SECOND: Final = 2_500


def memory(command: int) -> dict[str, float]:
    """Return the resident MB of the processes of the command, by role."""
    sizes: dict[str, float] = {}
    for process in psutil.Process(command).children():
        try:
            words, resident = process.cmdline(), process.memory_info().rss
        except psutil.NoSuchProcess:
            continue
        sizes |= {role: resident / 1e6 for role, word in ROLES.items() if word in words}
    return sizes


def growth_problems(samples: list[tuple[int, dict[str, float]]], deliveries: int) -> list[str]:
    """Return one sentence for each watched role whose memory grew."""
    settled = [
        memory_by_role
        for arrived, memory_by_role in samples
        if arrived >= SETTLED_SHARE * deliveries
    ]
    problems = []
    for role in WATCHED:
        sizes = [memory_by_role[role] for memory_by_role in settled if role in memory_by_role]
        if sizes and max(sizes) > MAX_GROWTH * sizes[0]:
            problems.append(f"{role} grew from {sizes[0]:.0f} to {max(sizes):.0f} MB")
    return problems


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("hookproof-load-million"))
    parser.add_argument(
        "--duration", type=int, default=400, help="seconds of sending; 2,500 deliveries each"
    )
    options = parser.parse_args()
    deliveries = options.duration * DELIVERIES_A_SECOND
    load = [sys.executable, "-m", "hookproof", "load", str(PROFILE), "--out", str(options.out)]
    load += [
        "--duration",
        str(options.duration),
        "--fail-if",
        f"delivered != {deliveries}",
        "--keep-up",
        "60",
    ]
    samples: list[tuple[int, dict[str, float]]] = []
    began = printed_at = time.monotonic()
    with subprocess.Popen(load, stdout=subprocess.PIPE, text=True) as command:
        assert command.stdout is not None
        for line in command.stdout:
            progress = ARRIVED.search(line)
            if progress is None:
                print(line, end="")
            elif time.monotonic() - printed_at >= EVERY_S:
                printed_at = time.monotonic()
                samples.append((int(progress[1].replace(",", "")), memory(command.pid)))
                sizes = "  ".join(f"{role} {size:.0f} MB" for role, size in samples[-1][1].items())
                print(
                    f"{printed_at - began:5.0f} s  {samples[-1][0]:>9,} deliveries  {sizes}",
                    flush=True,
                )
    problems = (
        growth_problems(samples, deliveries)
        if samples
        else ["the run ended before the memory was measured"]
    )
    print("; ".join(problems) or "memory was bounded")
    sys.exit(command.returncode or bool(problems))


if __name__ == "__main__":
    main()
