"""What is known of a requirement: how it is tested, and which faults violate it."""

import importlib
import inspect
import json
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from hookproof.conformance.checks import all_checks
from hookproof.conformance.experiments import all_experiments
from hookproof.conformance.model.check_registry import Check
from hookproof.conformance.model.experiment_registry import Experiment, experiments_of
from hookproof.receiver.client.child_process import HOOKPROOF
from hookproof.spec.catalogue import Catalogue, Gap, Requirement

LISTED_WITHIN_S: Final = 90.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundCheck:
    """A check of a requirement, and the experiments that gather evidence for it, each with the
    first sentence of its docstring.

    A check that judges every exchange of every experiment has no experiments here.
    """

    check: Check
    summary: str
    experiments: tuple[tuple[Experiment, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlantedFault:
    """A fault of the reference server; `broken` says what it breaks."""

    name: str
    broken: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A requirement with everything that belongs to it; `section` is a title.

    A failure of it may follow from one of `follows_from`, and one of `consequences` from its own.
    """

    requirement: Requirement
    section: str
    gaps: tuple[Gap, ...]
    tests: tuple[BoundCheck, ...]
    faults: tuple[PlantedFault, ...]
    follows_from: tuple[Requirement, ...]
    consequences: tuple[Requirement, ...]


def explain_requirement(
    requirement: Requirement,
    catalogue: Catalogue,
    faults: Callable[[], Mapping[str, tuple[PlantedFault, ...]]],
) -> Explanation:
    """Collect what is known; `faults` returns the faults by the requirements that they violate."""
    return Explanation(
        requirement=requirement,
        section=catalogue.sections[requirement.section],
        gaps=tuple(catalogue.gaps[name] for name in requirement.gaps),
        tests=tuple(
            _bound_check(check) for check in all_checks() if requirement.id in check.requirements
        ),
        faults=tuple(faults().get(requirement.id, ())),
        follows_from=tuple(catalogue.requirements[name] for name in requirement.follows_from),
        consequences=tuple(
            other
            for other in catalogue.requirements.values()
            if requirement.id in other.follows_from
        ),
    )


@cache
def list_faults() -> Mapping[str, tuple[PlantedFault, ...]]:
    """The faults of the reference server by the requirements that they violate.

    A process lists them, since conformance does not import mockserver. Empty if that fails.
    """
    command = [*HOOKPROOF, "serve", "--list-faults", "--json"]
    try:
        process = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LISTED_WITHIN_S,
            check=True,
        )
        listed = json.loads(process.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return {}
    by_requirement: dict[str, list[PlantedFault]] = {}
    for member in listed:
        fault = PlantedFault(name=member["name"], broken=member["broken"])
        for requirement_id in member["violates"]:
            by_requirement.setdefault(requirement_id, []).append(fault)
    return {requirement_id: tuple(faults) for requirement_id, faults in by_requirement.items()}


def _bound_check(check: Check) -> BoundCheck:
    needed = () if check.is_oracle else experiments_of(check, all_experiments())
    experiments = tuple(
        (experiment, _summary(experiment.gather))
        for experiment in all_experiments()
        if experiment.name in needed
    )
    return BoundCheck(check=check, summary=_summary(check.judge), experiments=experiments)


def _summary(function: Any) -> str:
    """The first paragraph of a function's docstring, or of its module's if it has none."""
    module = importlib.import_module(function.__module__)
    text = inspect.getdoc(function) or inspect.getdoc(module) or ""
    return " ".join(text.split("\n\n")[0].split())
