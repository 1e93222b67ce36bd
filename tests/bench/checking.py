"""Measures the suites: `python -m tests.bench.checking [ROW]...`; --help names the rows.

Part of `make bench`. It measures how long `hookproof check` takes against the embedded server in
the quick and the standard profile, against a server with one and with two projects, and in the
standard profile against a server that delays every response by 20 ms; beside it plain
`schemathesis run` on the OpenAPI document of the same server. For each: seconds (the median of
ROUNDS runs), requests, the share of successful responses, and how many faults of the catalogue it
catches, if that is recorded (`make mutants`, `make mutants-stock`). Without the delay and in many
projects, a run may also take no longer than its sweep and one and a half times its waits.
The table is printed and written as JSON.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Final

import yaml

from hookproof.conformance.experiments import all_experiments
from hookproof.conformance.mutants.kill_matrix import RECORDED, read_kills
from hookproof.conformance.mutants.schemathesis_baseline import EXAMPLES, read_baseline
from hookproof.conformance.results.run_file import NAME, read_run
from hookproof.conformance.results.stored_evidence import read_evidence
from hookproof.conformance.subjects.rate_limits import experiment as rate_limit
from hookproof.conformance.target.project_assignment import projects_needed
from hookproof.process.exit_codes import ExitCode
from hookproof.spec.dialect.reader import load_dialect
from tests.bench.rounds import RoundFigures, keep_rounds
from tests.conformance.reference_server import reference_server, write_target_file

SUCCESS: Final = range(200, 300)
LATE: Final = "late:delay_s=0.02"
HOOKPROOF: Final = (sys.executable, "-P", "-m", "hookproof")
SOURCES: Final = Path(__file__).parents[2]
SCHEMATHESIS: Final = "schemathesis run"
ROUNDS: Final = 3
SWEEP: Final = "sweep"
# The longest wait of a run: a burst begins late in a window, and what is above the limit is sent
# windows later.
WAIT_S: Final = rate_limit.DURATION_S * (
    rate_limit.BATCHES[-1].at
    + sum(len(batch.events) for batch in rate_limit.BATCHES) // rate_limit.LIMIT
)

# The row whose profile the faults were tried with.
RECORDED_PROFILE: Final = "standard"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunBound:
    """The bounds of a row: the most seconds and the fewest requests.

    `waits`: whether the waits and the sweep bound the seconds too.
    """

    most_s: float
    fewest: int = 0
    waits: bool = False


BOUNDS: Final = {
    "quick": RunBound(most_s=8.0, waits=True),
    "standard": RunBound(most_s=30.0, fewest=3000, waits=True),
    "quick, 1 project": RunBound(most_s=8.0),
    "quick, 2 projects": RunBound(most_s=8.0),
    "standard, 1 project": RunBound(most_s=25.0),
    "standard, 2 projects": RunBound(most_s=25.0),
    "standard, 20 ms late": RunBound(most_s=60.0),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteTiming:
    """One tool in one setting.

    `kills` is None if no kill matrix is recorded, `sweep_s` if the tool has no sweep.
    """

    name: str
    seconds: float
    requests: int
    successful: float
    kills: int | None = None
    sweep_s: float | None = None

    @property
    def verdict(self) -> str:
        bound = BOUNDS.get(self.name)
        if bound is None:
            return ""
        wanted = {f"{bound.most_s:g} s": self.seconds <= bound.most_s}
        if bound.fewest:
            wanted[f"{bound.fewest} requests"] = self.requests >= bound.fewest
        if bound.waits and self.sweep_s is not None:
            waits_s = 1.5 * WAIT_S + self.sweep_s
            wanted[f"{waits_s:.1f} s of waits and sweep"] = self.seconds <= waits_s
        return f"wanted {', '.join(wanted)}: {'ok' if all(wanted.values()) else 'MISSED'}"

    def __str__(self) -> str:
        kills = "-" if self.kills is None else self.kills
        figures = f"{self.seconds:8.1f} s{self.requests:10,}{self.successful:8.0%}{kills:>8}"
        return f"{self.name:<22}{figures}  {self.verdict}"


def run_suites(
    name: str, folder: Path, *words: str, exit_codes: Sequence[int] = (ExitCode.CONFORMS,)
) -> SuiteTiming:
    """Run the suites; any other exit code would make the time mean nothing."""
    out = folder / name.replace(" ", "-")
    started = time.monotonic()
    command = [*HOOKPROOF, "check", "--out", str(out), *words]
    process = subprocess.run(
        command, cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )
    seconds = time.monotonic() - started
    if process.returncode not in exit_codes:
        raise SystemExit(
            f"{name}: hookproof check exited with {process.returncode}\n"
            f"{process.stdout[-2000:]}{process.stderr}"
        )
    (evidence,) = read_evidence(out / NAME)
    cases = [case for gathered in evidence.gathered.values() for case in gathered.observations]
    statuses = [exchange.status for case in cases for exchange in case.exchanges]
    assert len(statuses) == read_run(out / NAME).footer.exchanges
    return SuiteTiming(
        name=name,
        seconds=seconds,
        requests=len(statuses),
        successful=success_share(statuses),
        kills=recorded_kills() if name == RECORDED_PROFILE else None,
        sweep_s=evidence.gathered[SWEEP].duration_s,
    )


def run_schemathesis(folder: Path) -> SuiteTiming:
    """Run plain schemathesis, with the key and the project given."""
    (folder / "schemathesis.toml").write_text('[parameters]\n"path.projectID" = "p1"\n')
    with reference_server(folder, SOURCES, "p1", stderr=subprocess.DEVNULL) as ready:
        key = load_dialect("reference").authentication.key_format.replace("{key}", "key-p1")
        started = time.monotonic()
        subprocess.run(
            [
                *(sys.executable, "-m", "schemathesis.cli", "run", f"{ready['api']}/openapi.yaml"),
                *(
                    "-H",
                    f"Authorization: {key}",
                    "--seed",
                    "0",
                    "--continue-on-failure",
                    "--no-color",
                ),
                *("--max-examples", str(EXAMPLES)),
                *("--report", "har", "--report-har-path", "report.har"),
            ],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,  # it reports failures, which are not measured here
        )
        seconds = time.monotonic() - started
    entries = json.loads((folder / "report.har").read_text())["log"]["entries"]
    statuses = [entry["response"]["status"] for entry in entries]
    return SuiteTiming(
        name=SCHEMATHESIS,
        seconds=seconds,
        requests=len(statuses),
        successful=success_share(statuses),
        kills=recorded_schemathesis_kills(),
    )


def run_shared(folder: Path, profile: str, count: int) -> SuiteTiming:
    """Run the suites against a server with so few projects that experiments share them.

    One project shows no isolation, and nothing is provisioned, so that the run is incomplete.
    """
    projects = [f"p{number}" for number in range(1, count + 1)]
    with reference_server(folder, SOURCES, *projects, stderr=subprocess.DEVNULL) as ready:
        write_target_file(folder, ready["api"], *projects)
        return run_suites(
            f"{profile}, {count} project{'s' * (count > 1)}",
            folder,
            *("--target", "target.yaml", "--profile", profile),
            exit_codes=(ExitCode.CONFORMS, ExitCode.INCOMPLETE),
        )


def run_delayed(folder: Path) -> SuiteTiming:
    """Run the suites against a server that delays every response by 20 ms."""
    count = projects_needed(len(all_experiments()))
    projects = [f"p{number}" for number in range(1, count + 1)]
    delay = ("--fault", LATE)
    with reference_server(
        folder, SOURCES, *projects, options=delay, stderr=subprocess.DEVNULL
    ) as ready:
        control = ready["control"]
        provisioned = {
            "create_portal_link": ("portal-links", "portal_link"),
            "create_source": ("sources", "source"),
        }
        target = {
            "base_url": ready["api"],
            "projects": [{"id": name, "api_key": f"key-{name}"} for name in projects],
            "receiver": {"ca": "ca/ca.pem", "ca_key": "ca/ca.key"},
            "provision": {
                hook: [{"url": f"{control}/projects/{{project.id}}/{path}", "body": f"{{{kind}}}"}]
                for hook, (path, kind) in provisioned.items()
            },
        }
        (folder / "target.yaml").write_text(yaml.safe_dump(target))
        return run_suites("standard, 20 ms late", folder, "--target", "target.yaml")


def environment() -> dict[str, str]:
    """Return an environment in which the sources can be imported from any folder."""
    return {**os.environ, "PYTHONPATH": str(SOURCES)}


def success_share(statuses: Sequence[int | None]) -> float:
    """Return the share of successful statuses."""
    return sum(status in SUCCESS for status in statuses) / max(1, len(statuses))


def recorded_kills() -> int | None:
    """Return how many faults the suites detect, as recorded; None without a record."""
    return (
        sum(any(dialects.values()) for dialects in read_kills().values())
        if RECORDED.is_file()
        else None
    )


def recorded_schemathesis_kills() -> int | None:
    """Return how many faults plain schemathesis detects, as recorded.

    That is, it reports something that it does not report for the clean server. None unless it was
    tried with every recorded fault.
    """
    detected = read_baseline()
    if detected is None or not RECORDED.is_file():
        return None
    faults = set(read_kills())
    return sum(bool(detected[name]) for name in faults) if faults <= set(detected) else None


MEASURES: Final[Mapping[str, Callable[[Path], SuiteTiming]]] = {
    "quick": lambda folder: run_suites("quick", folder, "--profile", "quick"),
    "standard": lambda folder: run_suites("standard", folder),
    **{
        f"{profile}-{count}": partial(run_shared, profile=profile, count=count)
        for profile in ("quick", "standard")
        for count in (1, 2)
    },
    "late": run_delayed,
    "stock": run_schemathesis,
}


def measured(measure: Callable[[Path], SuiteTiming]) -> list[SuiteTiming]:
    """Return the rounds, the fastest first."""
    rounds = []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory(prefix="hookproof-bench-") as folder:
            rounds.append(measure(Path(folder)))
    return sorted(rounds, key=lambda row: row.seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "rows",
        nargs="*",
        metavar="ROW",
        help=f"which of {', '.join(MEASURES)}; default: all of them",
    )
    parser.add_argument("--out", type=Path, default=Path("hookproof-bench-checking.json"))
    options = parser.parse_args()
    if unknown := set(options.rows) - set(MEASURES):
        parser.error(f"there is no row {', '.join(sorted(unknown))}")
    rows, seconds = list[SuiteTiming](), dict[str, RoundFigures]()
    print(f"{'':<22}{'time':>10}{'requests':>10}{'2xx':>8}{'kills':>8}")
    for name in options.rows or MEASURES:
        rounds = measured(MEASURES[name])
        rows.append(rounds[ROUNDS // 2])
        seconds[rows[-1].name] = RoundFigures(rounds=[row.seconds for row in rounds], better="less")
        print(rows[-1], flush=True)
    options.out.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n")
    keep_rounds("checking", seconds)


if __name__ == "__main__":
    main()
