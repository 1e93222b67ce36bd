"""`make strangers`: what the README tells a user to do, with services that were written from the
document alone: `ca`, start the service, `learn`, `check`.

    python -m tests.strangers.flow [ledgerline] [queuepost] [--clean 10] [--busy 4] [--loaded 5]
    [--cost-ms 2] [--bugs all] [--profile quick] [--out FOLDER]

A clean service is learned and tested anew each time, the last times beside busy loops. What
is said against it is false, unless services.py has it as true. Each bug is tested once, under the
dialect that was learned of the clean service: it has to be named, in the first finding of the
console, be it that finding's requirement or one that the same failure breaks. Prints a line for
each run, and a line for each finding. The exit code is 1 if anything was said falsely, or a bug was
found and not named first: a quick run does not find every bug.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.conformance.command import CommandResult, run_command
from tests.strangers.services import KEYS, Stranger, has_go, ledgerline, queuepost

# Seconds. Long, since a run that a busy machine cuts short says nothing.
BUDGET_S: Final = "900"
DEADLINE_S: Final = 1800.0
BUSY: Final = "while True: pass"
# What the same failure breaks, by the console.
BROKEN_TOO: Final = re.compile(r"^  breaks +(.+) too$", re.MULTILINE)
VARIABLES: Final = dict(
    zip(("HOOKPROOF_API_KEY", "HOOKPROOF_API_KEY_2"), KEYS.values(), strict=True)
)

# A finding of the console, with its requirement.
FINDING: Final = re.compile(r"^FAIL (\S+) .*?(?=^\s*$)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Said:
    """One finding, and whether it is true of the service without a bug."""

    requirement: str
    level: str
    text: str
    true: bool


@dataclass(frozen=True, kw_only=True)
class RunOutcome:
    verdict: str
    said: tuple[Said, ...]
    first: list[str]
    defects: int
    seconds: float
    problem: str = ""

    @property
    def false(self) -> list[Said]:
        return [said for said in self.said if not said.true]


@dataclass
class Tally:
    clean: int = 0
    clean_false: int = 0
    false_words: int = 0
    broken: int = 0
    bugs: int = 0
    named: int = 0
    first: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def good(self) -> bool:
        return not (self.clean_false or self.broken) and self.first == self.named


def main() -> int:
    parser = argparse.ArgumentParser(description="Learn and test services of strangers.")
    parser.add_argument("services", nargs="*", default=["ledgerline", "queuepost"])
    parser.add_argument("--clean", type=int, default=10, help="how often without a bug")
    parser.add_argument("--loaded", type=int, default=5, help="how many of these beside --busy")
    parser.add_argument("--busy", type=int, default=4, help="how many busy loops run beside")
    parser.add_argument(
        "--cost-ms", type=float, default=2, help="processor time of a request of ledgerline"
    )
    parser.add_argument("--bugs", default="all", help="all, none, or names with commas between")
    parser.add_argument("--learn-profile", default="standard")
    parser.add_argument("--profile", default="quick", help="of check")
    parser.add_argument("--out", type=Path, help="keep the folders of the runs there")
    options = parser.parse_args()
    folder = options.out or Path(tempfile.mkdtemp(prefix="strangers-"))
    folder.mkdir(parents=True, exist_ok=True)
    tally = Tally()
    for name in options.services:
        if name == "queuepost" and not has_go():
            write("queuepost: left out, since go is not there")
            continue
        service = (
            ledgerline(options.cost_ms)
            if name == "ledgerline"
            else queuepost(folder.resolve() / "program")
        )
        try_service(service, folder / name, options, tally)
    write(
        f"{tally.clean} clean runs, {tally.clean_false} of them with something false"
        f" ({tally.false_words} findings); {tally.bugs} bugs, {tally.named} named,"
        f" {tally.first} in the first finding; {tally.broken} runs without a verdict"
    )
    if options.out is None:
        shutil.rmtree(folder)
    return 0 if tally.good else 1


def try_service(service: Stranger, folder: Path, options: argparse.Namespace, tally: Tally) -> None:
    for number in range(1, options.clean + 1):
        loops = options.busy if number > options.clean - options.loaded else 0
        outcome = clean_run(
            service, folder / f"clean-{number}", options.learn_profile, options.profile, loops
        )
        tally.clean += 1
        tally.clean_false += bool(outcome.false)
        tally.false_words += len(outcome.false)
        tally.broken += bool(outcome.problem)
        beside = f" beside {loops} busy loops" if loops else ""
        report(f"{service.name} clean {number}{beside}", outcome)
    names = list(service.bugs) if options.bugs == "all" else options.bugs.split(",")
    for bug in [name for name in names if name in service.bugs]:
        outcome = bug_run(service, folder, bug, options.learn_profile, options.profile)
        expected = service.expected(bug)
        named = expected & {said.requirement for said in outcome.said}
        tally.bugs += 1
        tally.named += bool(named)
        tally.first += not expected.isdisjoint(outcome.first)
        tally.broken += bool(outcome.problem)
        how = (
            "not named"
            if not named
            else "named"
            if expected.isdisjoint(outcome.first)
            else "named first"
        )
        report(f"{service.name} {bug} ({service.bugs[bug]}): {how}", outcome)


def clean_run(
    service: Stranger, folder: Path, learn_profile: str, profile: str, loops: int = 0
) -> RunOutcome:
    prepare(folder)
    with busy(loops), service.running(folder / "ca" / "ca.pem") as url:
        learned = learn(service, folder, url, learn_profile)
        if learned.code:
            return failed(learned)
        return judge(service, folder, url, profile)


def bug_run(
    service: Stranger, folder: Path, bug: str, learn_profile: str, profile: str
) -> RunOutcome:
    """Test the service with the bug, under the dialect that was learned of it without."""
    model = folder / "learned"
    if not (model / "ours" / "dialect.yaml").exists():
        prepare(model)
        with service.running(model / "ca" / "ca.pem") as url:
            learned = learn(service, model, url, learn_profile)
        if learned.code:
            return failed(learned)
    run = folder / bug
    shutil.rmtree(run, ignore_errors=True)
    shutil.copytree(model, run)
    with service.running(run / "ca" / "ca.pem", bug) as url:
        return judge(service, run, url, profile)


def prepare(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    made = run_command(folder, "ca", "ca")
    assert made.code == 0, made.err


def learn(service: Stranger, folder: Path, url: str, profile: str) -> CommandResult:
    written = service.write_target(folder, url)
    where: list[str | Path] = ["--target", written.name] if written else [url, "--ca-dir", "ca"]
    if written is None:
        for name, key in KEYS.items():
            where += ["--project", name, "--api-key", key]
    words = [*where, "--out", "ours", "--profile", profile]
    result = run_command(folder, "learn", *words, timeout_s=DEADLINE_S, **VARIABLES)
    (folder / "learn.txt").write_text(result.out + result.err, "utf-8")
    return result


def judge(service: Stranger, folder: Path, url: str, profile: str) -> RunOutcome:
    started = time.monotonic()
    own = service.write_target(folder, url)
    target = own.name if own else "ours/target.yaml"
    words = [url, "--target", target, "--profile", profile, "--budget", BUDGET_S]
    if own:
        words += ["--dialect", "ours/dialect.yaml"]
    words += ["--out", "report"]
    result = run_command(folder, "check", *words, timeout_s=DEADLINE_S, **VARIABLES)
    (folder / "check.txt").write_text(result.out + result.err, "utf-8")
    if result.code not in (0, 1, 3):
        return failed(result)
    return read_outcome(service, folder, result, time.monotonic() - started)


def read_outcome(
    service: Stranger, folder: Path, result: CommandResult, seconds: float
) -> RunOutcome:
    report_file = json.loads((folder / "report" / "report.json").read_text("utf-8"))
    said = tuple(
        Said(
            requirement=entry["id"],
            level=entry["level"],
            text=finding["message"],
            true=service.is_true(entry["id"], words_of(finding)),
        )
        for entry in report_file["requirements"]
        for finding in entry["findings"]
    )
    return RunOutcome(
        verdict=result.out.strip().rpartition("\n")[2],
        said=said,
        first=next(new_findings(service, result.out), []),
        defects=len(report_file["defects"]),
        seconds=seconds,
    )


def new_findings(service: Stranger, out: str) -> Iterator[list[str]]:
    """The requirements that each finding of the console names, but for what is always true."""
    for finding in FINDING.finditer(out):
        if not service.is_true(finding[1], finding[0]):
            also = BROKEN_TOO.search(finding[0])
            yield [finding[1], *(also[1].split(", ") if also else [])]


def words_of(finding: dict[str, Any]) -> str:
    """What tells of which part of the service a finding speaks, its requests and all."""
    texts = [finding["message"], finding["expected"], finding["actual"]]
    places = [(call["role"], call["operation_id"]) for call in finding["exchanges"]]
    headers = [delivery["headers"] for delivery in finding["deliveries"]]
    return json.dumps([texts, places, headers], ensure_ascii=False)


def failed(result: CommandResult) -> RunOutcome:
    lines = (result.err.strip() or result.out.strip()).splitlines()
    problem = f"exit code {result.code}: {lines[-1] if lines else 'nothing was said'}"
    return RunOutcome(verdict="", said=(), first=[], defects=0, seconds=0.0, problem=problem)


def report(what: str, outcome: RunOutcome) -> None:
    write(f"{what}: {outcome.problem or outcome.verdict}")
    if outcome.said:
        write(f"    first {', '.join(outcome.first) or 'none'}, {outcome.defects} defects shown")
    for said in outcome.said:
        truth = "true " if said.true else ""
        write(f"    {truth}{said.level} {said.requirement}  {said.text}")


def write(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


@contextmanager
def busy(loops: int) -> Iterator[None]:
    """Keep that many processors busy meanwhile."""
    processes = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(loops)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


if __name__ == "__main__":
    sys.exit(main())
