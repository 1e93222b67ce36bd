"""`make learn-all`: `hookproof learn` against servers under the shipped dialects and random ones.

    python -m tests.conformance.learn_all 5 [--seed 7] [--profile standard] [--judge]
    [--only NAME] [--disturbed [KIND]]

`learn` is told nothing but URL, key and project. Prints one line for each dialect: the fields that
were learned right, wrong, or not, and the share of those that can be seen; then each field that was
learned wrong, or not although it can be seen. With `--judge`, `check` judges the server under the
true dialect and under the learned one. With `--disturbed` (see disturbances.py) the way to the
server is slow now and then, an operation is refused, or hooks fail: less can be learned then. The
exit code is 1 if any field was learned wrong, fewer than 95 % of the observable ones were learned
without disturbance, or the two verdicts differ.
"""

import argparse
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, Final

import yaml

from hookproof.conformance.learning.learner import Learned, learn_target
from hookproof.conformance.learning.written_files import write_files
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.target.file import target_from
from hookproof.spec.dialect.reader import load_dialect, load_dialect_mapping, shipped_dialects
from hookproof.spec.dialect.writer import written_dialect
from hookproof.target.settings import Flags
from tests.conformance.disturbances import DISTURBANCES, USUAL
from tests.conformance.learning_score import Outcome, Score, scores
from tests.conformance.reference_server import reference_server
from tests.spec.random_dialects import random_dialect

SOURCES: Final = Path(__file__).parents[2]
PROJECTS: Final = ("p1", "p2")
ENOUGH: Final = 0.95
BUDGET_S: Final = 600


def main() -> int:
    parser = argparse.ArgumentParser(description="Learn the dialects of reference servers.")
    parser.add_argument("random", type=int, help="how many random dialects")
    parser.add_argument("--seed", type=int, help="of the first; the others count on")
    parser.add_argument("--profile", default=Profile.STANDARD.key)
    parser.add_argument("--judge", action="store_true", help="compare the verdicts of check, too")
    parser.add_argument("--only", action="append", help="a shipped dialect; by default all")
    parser.add_argument(
        "--disturbed", action="append", nargs="?", choices=DISTURBANCES, help="by default the usual"
    )
    options = parser.parse_args()
    kinds = [kind for each in options.disturbed or ["none"] for kind in ([each] if each else USUAL)]
    first = secrets.randbelow(100_000) if options.seed is None else options.seed
    bad = 0
    for (name, mapping), kind in product(dialects(options.only, options.random, first), kinds):
        folder = Path(tempfile.mkdtemp(prefix=f"hookproof-learn-{name}-"))
        started = time.monotonic()
        found, verdicts = learned_scores(
            folder, mapping, Profile[options.profile.upper()], judge=options.judge, disturbed=kind
        )
        counts = Counter(score.outcome for score in found)
        share = observed(found)
        same = len(set(verdicts)) < 2
        is_enough = share >= ENOUGH or kind != "none"
        is_bad = counts[Outcome.WRONG] or not is_enough or not same
        bad += bool(is_bad)
        told = "  ".join(f"{outcome} {counts[outcome]:3}" for outcome in Outcome)
        took = f"{time.monotonic() - started:6.1f} s"
        line = f"{name:18} {kind:26} {took}  {told}  observable {share:.0%}"
        print(line, *verdicts, folder if is_bad else "", flush=True)  # noqa: T201
        for score in found:
            if score.outcome is Outcome.WRONG or (
                score.outcome is Outcome.OPEN and score.observable and kind == "none"
            ):
                print(f"    {described(score)}", flush=True)  # noqa: T201
    print("GOOD" if not bad else f"BAD  {bad}")  # noqa: T201
    return bool(bad)


def dialects(
    only: list[str] | None, count: int, first: int
) -> Iterator[tuple[str, dict[str, Any]]]:
    for name in only or [each for each in shipped_dialects() if each != "undecided"]:
        if name != "none":
            yield name, written_dialect(load_dialect(name))
    for seed in range(first, first + count):
        yield f"random-{seed}", random_dialect(seed)


def learned_scores(
    folder: Path,
    mapping: dict[str, Any],
    profile: Profile,
    *,
    judge: bool,
    options: tuple[str, ...] = (),
    disturbed: str = "none",
) -> tuple[list[Score], list[str]]:
    """The scores of what is learned of a server under this dialect; its verdicts, if judged.

    `options` are further ones of `hookproof serve`.
    """
    (folder / "true.yaml").write_text(yaml.safe_dump(mapping, sort_keys=False))
    with (
        (folder / "server.log").open("w") as log,
        reference_server(
            folder,
            SOURCES,
            *PROJECTS,
            options=("--dialect", str(folder / "true.yaml"), *options),
            stderr=log.fileno(),
        ) as addresses,
    ):
        learned = learn(folder, addresses["api"], profile, disturbed)
        verdicts = (
            [verdict(folder, name) for name in ("true.yaml", "learned/dialect.yaml")]
            if judge
            else []
        )
    return scores(learned.answers, load_dialect_mapping(mapping, "the true dialect")), verdicts


def learn(folder: Path, url: str, profile: Profile, disturbed: str = "none") -> Learned:
    flags = Flags(
        url=url,
        project=PROJECTS[0],
        api_key=f"key-{PROJECTS[0]}",
        further_projects=tuple((name, f"key-{name}") for name in PROJECTS[1:]),
        dialect="undecided",
        ca_dir=folder / "ca",
    )
    with DISTURBANCES[disturbed](flags, folder) as settings:
        target = target_from(settings, {})
        learned = learn_target(target, "undecided", profile)
    described = replace(target, base_url=url)
    write_files(learned, described, folder / "learned", target_file=None)
    return learned


def verdict(
    folder: Path, dialect: str, *requirements: str, profile: Profile = Profile.QUICK
) -> str:
    """The verdict of check under one of the dialects; on these requirements alone, if any."""
    out = folder / f"report-{Path(dialect).stem}"
    options = ["--dialect", str(folder / dialect), "--out", str(out), "--budget", str(BUDGET_S)]
    keys = {
        "HOOKPROOF_API_KEY" + (f"_{number}" if number > 1 else ""): f"key-{name}"
        for number, name in enumerate(PROJECTS, 1)
    }
    ended = subprocess.run(
        [
            *(sys.executable, "-P", "-m", "hookproof", "check", "--profile", profile.key),
            *(word for name in requirements for word in ("--only", name)),
            *("--target", str(folder / "learned" / "target.yaml"), *options),
        ],
        env={**os.environ, **keys, "PYTHONPATH": str(SOURCES)},
        capture_output=True,
        text=True,
        check=False,
    )
    (folder / f"console-{Path(dialect).stem}.txt").write_text(ended.stdout + ended.stderr)
    return f"exit {ended.returncode}"


def observed(found: list[Score]) -> float:
    """The share of the observable fields that were learned."""
    observable = [score for score in found if score.observable]
    return sum(score.outcome is Outcome.RIGHT for score in observable) / len(observable)


def described(score: Score) -> str:
    learned = score.learned
    return (
        f"{score.outcome}: {score.field}: {list(learned.values)} where it is {score.true}"
        f" ({learned.shown_by or learned.reason})"
    )


if __name__ == "__main__":
    sys.exit(main())
