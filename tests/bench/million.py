"""A million deliveries, and the memory of who sends and who receives them: `python -m
tests.bench.million`.

Runs `hookproof load` with `million.yaml` and prints every ten seconds how many deliveries have
arrived and how much memory the generator, its receiver and the embedded server have. It fails if
the run does, and if the generator or the receiver grew by more than a quarter after a tenth of the
deliveries: what they keep is allotted at the beginning.
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
    "generator": "hookproof.load.locust_worker.runner",
    "receiver": "hookproof.load.sidecar.process",
    "server": "serve",
}
WATCHED: Final = ("generator", "receiver")
EVERY_S: Final = 10.0
SETTLED_SHARE: Final = 0.1
MOST_GROWTH: Final = 1.25
# Of the profile, for each second of sending.
DELIVERIES_A_SECOND: Final = 2_500


def memory(command: int) -> dict[str, float]:
    """Resident MB by role of the command's processes."""
    found = {}
    for process in psutil.Process(command).children():
        try:
            words, resident = process.cmdline(), process.memory_info().rss
        except psutil.NoSuchProcess:
            continue
        found |= {role: resident / 1e6 for role, word in ROLES.items() if word in words}
    return found


def grown(seen: list[tuple[int, dict[str, float]]], deliveries: int) -> list[str]:
    """Which of those that are watched grew, in words."""
    settled = [at for arrived, at in seen if arrived >= SETTLED_SHARE * deliveries]
    found = []
    for role in WATCHED:
        sizes = [at[role] for at in settled if role in at]
        if sizes and max(sizes) > MOST_GROWTH * sizes[0]:
            found.append(f"{role} grew from {sizes[0]:.0f} to {max(sizes):.0f} MB")
    return found


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
    seen: list[tuple[int, dict[str, float]]] = []
    began = told = time.monotonic()
    with subprocess.Popen(load, stdout=subprocess.PIPE, text=True) as command:
        assert command.stdout is not None
        for line in command.stdout:
            progress = ARRIVED.search(line)
            if progress is None:
                print(line, end="")
            elif time.monotonic() - told >= EVERY_S:
                told = time.monotonic()
                seen.append((int(progress[1].replace(",", "")), memory(command.pid)))
                sizes = "  ".join(f"{role} {size:.0f} MB" for role, size in seen[-1][1].items())
                print(f"{told - began:5.0f} s  {seen[-1][0]:>9,} deliveries  {sizes}", flush=True)
    wrong = grown(seen, deliveries) if seen else ["the run ended before any memory was seen"]
    print("; ".join(wrong) or "memory was bounded")
    sys.exit(command.returncode or bool(wrong))


if __name__ == "__main__":
    main()
