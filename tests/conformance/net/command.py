"""`make net`: do two checkouts judge the same evidence alike?

    python -m tests.conformance.net.command make FOLDER [--only PATTERN] [--jobs 2]
    python -m tests.conformance.net.command compare OTHER_CHECKOUT FOLDER

`make` writes about sixty run files: clean servers under several dialects, conforming variants,
faulty and spoilt servers, and strangers. `compare` judges each of them by
the checks of this checkout and of another one, such as a worktree of the commit before a change,
and prints each observation and requirement of which the verdicts differ. The exit code is 1 then.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from tests.conformance.net.servers import MakeRun, runs
from tests.source_tree import ROOT

JUDGE: Final = Path("tests/conformance/net/judge.py")
# The file, the experiment, the observation, the requirement.
Place = tuple[str, str, str, str]
Verdicts = tuple[str, ...]


def main() -> int:
    parser = argparse.ArgumentParser(description="Judge the same evidence by two checkouts.")
    commands = parser.add_subparsers(dest="command", required=True)
    making = commands.add_parser("make", help="make the run files that are not there yet")
    making.add_argument("folder", type=Path)
    making.add_argument("--only", default="*", help="names of runs, with wildcards")
    making.add_argument("--jobs", type=int, default=2, help="how many at a time")
    comparing = commands.add_parser("compare", help="judge the run files by both checkouts")
    comparing.add_argument("other", type=Path)
    comparing.add_argument("folder", type=Path)
    options = parser.parse_args()
    if options.command == "make":
        return make(options.folder.resolve(), options.only, options.jobs)
    files = sorted(options.folder.resolve().glob("*.jsonl"))
    if not files:
        parser.error(f"{options.folder} has no run files; `make` writes them")
    return compare(options.other.resolve(), files)


def make(folder: Path, pattern: str, jobs: int) -> int:
    """Make each run whose file is not there, each in a temporary folder."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = [
        (name, run, path)
        for name, run in runs(folder)
        if fnmatchcase(name, pattern) and not (path := folder / file_name(name)).exists()
    ]
    with ThreadPoolExecutor(jobs) as pool:
        made = pool.map(lambda each: make_run(*each), wanted)
        return 0 if all(list(made)) else 1


def make_run(name: str, run: MakeRun, path: Path) -> bool:
    """Whether the run has left a file, which is moved to this path.

    What goes wrong with one server is said, and keeps no other from being run.
    """
    with tempfile.TemporaryDirectory(prefix="hookproof-net-") as folder:
        try:
            run(Path(folder))
        except Exception as error:  # noqa: BLE001
            say(f"{name}: {error!r}")
        found = next(Path(folder).rglob("run.jsonl"), None)
        if found:
            shutil.move(found, path)
    say(f"{name}: {path.stat().st_size // 1024 if found else 'no'} KiB")
    return found is not None


def file_name(name: str) -> str:
    return re.sub("[^A-Za-z0-9.]+", "-", name) + ".jsonl"


def compare(other: Path, files: Sequence[Path]) -> int:
    """Print how the verdicts of the checkouts differ, and how many are alike."""
    with ThreadPoolExecutor(2) as pool:
        here, there = pool.map(lambda checkout: verdicts(checkout, files), (ROOT, other))
    lines = list(differences(here, there))
    for line in lines:
        say(line)
    counted = Counter(path for path, *_ in here)
    say(f"{len(lines)} of {len(here)} verdicts differ, in {len(counted)} run files")
    return 1 if lines else 0


def differences(here: Mapping[Place, Verdicts], there: Mapping[Place, Verdicts]) -> Iterator[str]:
    for place in sorted({*here, *there}):
        now, before = here.get(place, ()), there.get(place, ())
        if now != before:
            path, experiment, observation, requirement = place
            where = f"{experiment}, {observation}" if experiment else "the run"
            yield f"{Path(path).stem}: {where}: {requirement}: {said(before)} -> {said(now)}"


def said(each: Verdicts) -> str:
    return " and ".join(each) or "not judged"


def verdicts(checkout: Path, files: Iterable[Path]) -> dict[Place, Verdicts]:
    """What the checks of a checkout say of run files; exits with what went wrong, if anything did.

    A checkout that has no judge of its own is asked by that of this one.
    """
    judge = checkout / JUDGE if (checkout / JUDGE).exists() else ROOT / JUDGE
    done = subprocess.run(
        [sys.executable, "-P", str(judge), *map(str, files)],
        env={**os.environ, "PYTHONPATH": str(checkout)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{checkout} could not judge the files")
    judged = [json.loads(line) for line in done.stdout.splitlines()]
    return {(path, *place): tuple(each) for path, *place, each in judged}


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
