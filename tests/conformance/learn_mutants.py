"""`make learn-mutants`: whether servers with a fault are detected by `check` after `learn`.

    python -m tests.conformance.learn_mutants 40 [--seed 7] [--profile standard] [--fault NAME]

Each fault is drawn from those that violate what the document states under the reference dialect.
`learn` is told nothing but URL, key and project; `check` then judges the requirements that the
fault violates under the learned dialect. One line for each fault: detected, or what was learned of
the questions that these requirements depend on. The exit code is 1 if any is not detected beyond
`INDISTINGUISHABLE`.
"""

import argparse
import random
import secrets
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import yaml

from hookproof.conformance.learning.learned_answers import LearnedAnswers
from hookproof.conformance.model.profile import Profile
from hookproof.mockserver.faults.catalogue import catalogue
from hookproof.mockserver.faults.registry import Fault
from hookproof.spec.catalogue import Level, load_catalogue
from hookproof.spec.dialect.reader import load_dialect
from hookproof.spec.dialect.writer import written_dialect
from tests.conformance.learn_all import PROJECTS, SOURCES, learn, verdict
from tests.conformance.reference_server import reference_server

DIALECT: Final = "reference"
# The faults that are another dialect's answer to a question, and nothing else.
INDISTINGUISHABLE: Final = frozenset({"contacts_dropped", "timeout_dropped"})


def main() -> int:
    parser = argparse.ArgumentParser(description="Learn servers with a fault, then judge them.")
    parser.add_argument("count", type=int, nargs="?", default=0, help="how many faults")
    parser.add_argument("--seed", type=int, help="by which they are drawn")
    parser.add_argument("--fault", action="append", default=[], help="a fault by its name")
    parser.add_argument("--profile", default=Profile.STANDARD.key, help="that of learn")
    options = parser.parse_args()
    seed = secrets.randbelow(100_000) if options.seed is None else options.seed
    every = {fault.name: fault for fault in stated_faults()}
    drawn = random.Random(seed).sample(sorted(every), options.count)
    print(f"seed {seed}", flush=True)  # noqa: T201
    missed = []
    for name in [*options.fault, *drawn]:
        started = time.monotonic()
        fault = catalogue()[name]
        is_detected, told = outcome(fault, Profile[options.profile.upper()])
        word = "detected" if is_detected else "missed"
        print(f"{name:40} {time.monotonic() - started:6.1f} s  {word} {told}", flush=True)  # noqa: T201
        if not is_detected:
            missed.append(name)
    unnamed = [name for name in missed if name not in INDISTINGUISHABLE]
    print(f"missed {len(missed)}: {', '.join(missed)}" if missed else "GOOD")  # noqa: T201
    return bool(unnamed)


def stated_faults() -> Iterator[Fault]:
    """The faults that violate what the document states, under the dialect of the servers."""
    requirements, dialect = load_catalogue().requirements, load_dialect(DIALECT)
    for fault in catalogue().values():
        stated = (requirements[name].level is Level.STATED for name in fault.violates)
        if any(stated) and fault.applies(dialect):
            yield fault


def outcome(fault: Fault, profile: Profile) -> tuple[bool, str]:
    """Whether a server with this fault is detected by what it violates, under what was learned."""
    folder = Path(tempfile.mkdtemp(prefix=f"hookproof-learn-{fault.name}-"))
    with (
        (folder / "server.log").open("w") as log,
        reference_server(
            folder,
            SOURCES,
            *PROJECTS,
            options=("--dialect", DIALECT, "--fault", fault.name),
            stderr=log.fileno(),
        ) as addresses,
    ):
        learned = learn(folder, addresses["api"], profile)
        for tried in (Profile.QUICK, Profile.STANDARD):
            judged = verdict(folder, "learned/dialect.yaml", *fault.violates, profile=tried)
            if judged == "exit 1":
                return True, ""
    return False, f"{judged} {folder} {', '.join(answers_in_question(fault, learned.answers))}"


def answers_in_question(fault: Fault, answers: LearnedAnswers) -> Iterator[str]:
    """What was learned otherwise than it is, of the questions behind the violated requirements."""
    known = load_catalogue()
    gaps = {gap for name in fault.violates for gap in known.requirements[name].gaps}
    true = written_dialect(load_dialect(DIALECT))
    for field in sorted({field for gap in gaps for field in known.gaps[gap].dialect}):
        value = true
        for part in field.split("."):
            value = value[part]
        answer = answers.answer(field)
        if answers.is_seen(field) and answer.written != value:
            yield f"{field}: {yaml.safe_dump(answer.written, default_flow_style=True).strip()}"


if __name__ == "__main__":
    sys.exit(main())
