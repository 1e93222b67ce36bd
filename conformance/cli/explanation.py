"""What is known of a requirement: how it is tested, and which faults violate it."""

import importlib
import inspect
import json
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from hookproof.conformance.model.check_registry import Check, all_checks
from hookproof.conformance.model.experiment_registry import (
    Experiment,
    all_experiments,
    experiments_of,
)
from hookproof.receiver.client.child_process import HOOKPROOF
from hookproof.spec.catalogue import Catalogue, Gap, Requirement

LISTED_WITHIN_S: Final = 90.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """A check, what it looks at, in the words of its own docstring, and the experiments that feed
    it with theirs.

    There are none for a check that looks at every exchange of all experiments.
    """

    check: Check
    words: str
    experiments: tuple[tuple[Experiment, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault of the reference server that breaks the requirement."""

    name: str
    broken: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """All that is known of a requirement."""

    requirement: Requirement
    section: str
    gaps: tuple[Gap, ...]
    tests: tuple[Test, ...]
    faults: tuple[Fault, ...]


def explained(
    requirement: Requirement, catalogue: Catalogue, faults: Callable[[], Mapping[str, Any]]
) -> Explanation:
    """Put together what is known; `faults` gives, by requirement, the faults that break it."""
    return Explanation(
        requirement=requirement,
        section=catalogue.sections[requirement.section],
        gaps=tuple(catalogue.gaps[name] for name in requirement.gaps),
        tests=tuple(_test(check) for check in all_checks() if requirement.id in check.requirements),
        faults=tuple(faults().get(requirement.id, ())),
    )


@cache
def known_faults() -> Mapping[str, tuple[Fault, ...]]:
    """The faults of the reference server by the requirements that they break; none if it cannot
    list them.
    """
    command = [*HOOKPROOF, "serve", "--list-faults", "--json"]
    try:
        listed = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LISTED_WITHIN_S,
            check=True,
        )
        told = json.loads(listed.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return {}
    found: dict[str, list[Fault]] = {}
    for fault in told:
        for name in fault["violates"]:
            found.setdefault(name, []).append(Fault(name=fault["name"], broken=fault["broken"]))
    return {name: tuple(faults) for name, faults in found.items()}


def _test(check: Check) -> Test:
    needed = () if check.is_oracle else experiments_of(check, all_experiments())
    fed_by = tuple(
        (experiment, _words(experiment.gather))
        for experiment in all_experiments()
        if experiment.name in needed
    )
    return Test(check=check, words=_words(check.judge), experiments=fed_by)


def _words(function: Any) -> str:
    """The first sentence of a function's docstring, or of its module's if it has none."""
    module = importlib.import_module(function.__module__)
    text = inspect.getdoc(function) or inspect.getdoc(module) or ""
    return " ".join(text.split("\n\n")[0].split())
