"""Confirms the knee that `ramp` finds: `python -m tests.bench.knee`, or `make knee`.

`hookproof load ramp` searches the embedded server's; then runs at fixed rates say whether it is
one. A tenth below it they must pass, and a ninth above it they must fail, so that the true knee is
within a tenth of what was found. Of three runs at a rate the majority counts, since a machine has
its moments.
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


def load(folder: Path, *arguments: str) -> dict[str, Any]:
    """The report of a run of the profile."""
    command = [sys.executable, "-m", "hookproof", "load", *arguments, "--out", str(folder)]
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
    return dict(json.loads((folder / "report.json").read_text()))


def fixed(folder: Path) -> Path:
    """The profile without its search, so that it runs at the rate that it is told."""
    written = Path(__file__).parents[2] / "load" / "profiles" / "ramp.yaml"
    kept = [line for line in written.read_text().splitlines() if not line.startswith("search:")]
    (folder / "fixed.yaml").write_text("\n".join(kept) + "\n")
    return folder / "fixed.yaml"


def passes(folder: Path, rate: float) -> bool:
    """Whether most runs at this rate pass."""
    told = [load(folder, str(fixed(folder)), "--rate", str(rate)) for _ in range(RUNS)]
    for one in told:
        print(f"  fixed {rate:,.0f}/s: {'; '.join(one['complaints']) or 'passes'}", flush=True)
    return 2 * sum(one["verdict"] == "pass" for one in told) > RUNS


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, began = Path(name), time.monotonic()
        found = load(folder, "ramp")
        took, knee = time.monotonic() - began, found["figures"]["knee"]
        for trial in found["trials"]:
            print(f"  trial {trial['rate']:,.0f}/s: {'; '.join(trial['complaints']) or 'passes'}")
        print(
            f"knee {knee:,.0f}/s, limited by {found['knee_limited_by']}, found in {took:.0f} s",
            flush=True,
        )
        below, above = passes(folder, BELOW * knee), passes(folder, ABOVE * knee)
    good = below and not above and took < MOST_S
    print(
        f"a tenth below {'passes' if below else 'FAILS'}, a ninth above {'PASSES' if above else 'fails'}"
    )
    sys.exit(not good)


if __name__ == "__main__":
    main()
