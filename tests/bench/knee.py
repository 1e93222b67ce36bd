"""Confirms the knee that `ramp` finds: `python -m tests.bench.knee`, or `make knee`.

`hookproof load ramp` searches for the knee of the embedded server; then runs at fixed rates check
it. A tenth below they must pass, and a ninth above they must fail, so that the true knee is within
a tenth of the reported one. The majority of three runs at a rate counts, because the speed of the
machine varies.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

BELOW: Final = 0.9
ABOVE: Final = 1 / 0.9
RUNS: Final = 3
MOST_S: Final = 180.0


def run_load(folder: Path, *arguments: str) -> dict[str, Any]:
    """Run the profile and return its report."""
    command = [sys.executable, "-m", "hookproof", "load", *arguments, "--out", str(folder)]
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
    return dict(json.loads((folder / "report.json").read_text()))


def write_fixed_profile(folder: Path) -> Path:
    """Write the profile without its search, so that it runs at a given rate."""
    written = Path(__file__).parents[2] / "load" / "profiles" / "ramp.yaml"
    kept = [line for line in written.read_text().splitlines() if not line.startswith("search:")]
    (folder / "fixed.yaml").write_text("\n".join(kept) + "\n")
    return folder / "fixed.yaml"


def passes(folder: Path, rate: float) -> bool:
    reports = [
        run_load(folder, str(write_fixed_profile(folder)), "--rate", str(rate)) for _ in range(RUNS)
    ]
    for report in reports:
        print(f"  fixed {rate:,.0f}/s: {'; '.join(report['complaints']) or 'passes'}", flush=True)
    return 2 * sum(report["verdict"] == "pass" for report in reports) > RUNS


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, began = Path(name), time.monotonic()
        report = run_load(folder, "ramp")
        search_s, knee = time.monotonic() - began, report["figures"]["knee"]
        for trial in report["trials"]:
            print(f"  trial {trial['rate']:,.0f}/s: {'; '.join(trial['complaints']) or 'passes'}")
        print(
            f"knee {knee:,.0f}/s, limited by {report['knee_limited_by']},"
            f" found in {search_s:.0f} s",
            flush=True,
        )
        below, above = passes(folder, BELOW * knee), passes(folder, ABOVE * knee)
    confirmed = below and not above and search_s < MOST_S
    print(
        f"a tenth below {'passes' if below else 'FAILS'},"
        f" a ninth above {'PASSES' if above else 'fails'}"
    )
    sys.exit(0 if confirmed else 1)


if __name__ == "__main__":
    main()
