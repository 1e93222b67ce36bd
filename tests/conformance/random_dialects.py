"""`make random-dialects`: clean servers under dialects drawn at random, judged without a finding.

    python -m tests.conformance.random_dialects 20 [--seed 7] [--profile standard] [--projects 2]
    [--known partly|assumed]

Each server does what a dialect says that is drawn by its seed; with `--known partly`, the judge is
told only a part of it, and with `--known assumed` it assumes the reference dialect's answers to
half of it, most of them wrong. Prints one line per server, what its run found, and where its files
are if it found anything. The exit code is 1 if any did.
"""

import argparse
import json
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from hookproof.conformance.model.verdict import Verdict
from tests.conformance.reference_server import reference_server, write_target_file
from tests.spec.random_dialects import assumed_of, known_of, random_dialect

SOURCES: Final = Path(__file__).parents[2]
BUDGET_S: Final = 600
KNOWN: Final = {"partly": known_of, "assumed": assumed_of}
FINDINGS: Final = (Verdict.FAIL.key, Verdict.ERROR.key)


def main() -> int:
    parser = argparse.ArgumentParser(description="Judge clean servers under random dialects.")
    parser.add_argument("dialects", type=int, help="how many")
    parser.add_argument("--seed", type=int, help="of the first; the others count on")
    parser.add_argument("--profile", default="quick")
    parser.add_argument("--projects", type=int, default=2)
    parser.add_argument("--known", choices=("fully", *KNOWN), default="fully")
    options = parser.parse_args()
    first = secrets.randbelow(100_000) if options.seed is None else options.seed
    guilty = 0
    for seed in range(first, first + options.dialects):
        folder = Path(tempfile.mkdtemp(prefix=f"hookproof-dialect-{seed}-"))
        started = time.monotonic()
        report = judged(folder, seed, options)
        found = list(findings(report))
        guilty += bool(found)
        where = f"  {folder}" if found else ""
        print(f"{seed}  {time.monotonic() - started:5.1f} s  {summary(report)}{where}", flush=True)  # noqa: T201
        for line in found:
            print(f"    {line}", flush=True)  # noqa: T201
    print(f"{'ACCUSED' if guilty else 'FLAWLESS'}  {guilty} of {options.dialects} clean servers")  # noqa: T201
    return bool(guilty)


def judged(folder: Path, seed: int, options: argparse.Namespace) -> Mapping[str, Any]:
    """The report of a run against a server under the dialect of this seed."""
    done = random_dialect(seed)
    known = KNOWN[options.known](done, seed) if options.known in KNOWN else done
    for name, mapping in (("done", done), ("known", known)):
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(mapping, sort_keys=False))
    projects = [f"p{number}" for number in range(1, options.projects + 1)]
    dialect = ("--dialect", str(folder / "done.yaml"))
    with (
        (folder / "server.log").open("w") as log,
        reference_server(
            folder, SOURCES, *projects, options=dialect, stderr=log.fileno()
        ) as addresses,
    ):
        write_target_file(folder, addresses["api"], *projects, dialect="known.yaml")
        words = ["--profile", options.profile, "--out", "report", "--budget", str(BUDGET_S)]
        ended = subprocess.run(
            [sys.executable, "-P", "-m", "hookproof", "check", "--target", "target.yaml", *words],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
    (folder / "console.txt").write_text(ended.stdout + ended.stderr)
    report = folder / "report" / "report.json"
    if not report.exists():
        return {"verdict": f"no report, exit {ended.returncode}: {ended.stderr.strip()[-500:]}"}
    content: Mapping[str, Any] = json.loads(report.read_text())
    return content


def findings(report: Mapping[str, Any]) -> Iterator[str]:
    """A line for each requirement that was violated or not judged for an error."""
    if "requirements" not in report:
        yield "no report"
    for requirement in report.get("requirements", ()):
        if requirement["verdict"] in FINDINGS:
            for finding in requirement["findings"][:2] or [requirement]:
                told = {key: finding.get(key) for key in ("title", "expected", "actual", "reasons")}
                yield f"{requirement['id']} {requirement['level']}: {json.dumps(told)[:600]}"


def summary(report: Mapping[str, Any]) -> str:
    levels = report.get("totals", {})
    passed = " ".join(f"{level} {counts[Verdict.PASS.key]}" for level, counts in levels.items())
    return f"{report['verdict']}  {passed}"


if __name__ == "__main__":
    sys.exit(main())
