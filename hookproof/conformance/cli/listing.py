"""Requirements in short: a line for each, the checks that judge them, or what those look at."""

import json
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum, auto
from pathlib import Path
from typing import Any

from hookproof.conformance.checks import all_checks
from hookproof.conformance.experiments import all_experiments
from hookproof.conformance.model.check_registry import Check
from hookproof.conformance.model.experiment_registry import experiments_of
from hookproof.conformance.results.run_file import NAME, usual_durations
from hookproof.spec.catalogue import Catalogue, Level, Requirement


class Form(Enum):
    """What is listed of requirements."""

    BRIEF = auto()
    CHECKS = auto()
    COVERAGE = auto()


def listed(
    requirements: Sequence[Requirement],
    catalogue: Catalogue,
    form: Form,
    run: Path,
    *,
    as_json: bool,
) -> str:
    """The requirements in one of the short forms; `run` is the folder of a run for coverage."""
    if form is Form.CHECKS:
        bound = _checks_of(requirements)
        return _text(map(_check_json, bound) if as_json else _check_lines(bound), as_json=as_json)
    if form is Form.COVERAGE:
        found = _coverage(requirements, usual_durations(run / NAME))
        return _text(iter(found) if as_json else _coverage_lines(found), as_json=as_json)
    if as_json:
        return _text(map(requirement_json, requirements), as_json=True)
    return _text(_requirement_lines(requirements, catalogue), as_json=False)


def requirement_json(requirement: Requirement) -> dict[str, Any]:
    return {
        "id": requirement.id,
        "section": requirement.section,
        "level": requirement.level.value,
        "text": requirement.text,
        "operations": list(requirement.operations),
        "gaps": list(requirement.gaps),
        "untestable": requirement.untestable,
        "since": requirement.since,
        "checks": [check.name for check in _checks_of([requirement])],
    }


def _text(items: Iterator[Any], *, as_json: bool) -> str:
    return json.dumps(list(items), indent=1) if as_json else "\n".join(items)


def _checks_of(requirements: Sequence[Requirement]) -> list[Check]:
    ids = {requirement.id for requirement in requirements}
    return [check for check in all_checks() if ids.intersection(check.requirements)]


def _experiment_names(check: Check) -> list[str]:
    return [] if check.is_oracle else list(experiments_of(check, all_experiments()))


def _requirement_lines(requirements: Sequence[Requirement], catalogue: Catalogue) -> Iterator[str]:
    section = ""
    for requirement in requirements:
        if requirement.section != section:
            yield from ([""] if section else [])
            section = requirement.section
            yield f"{section}  {catalogue.sections[section]}"
        untestable = "  (not testable)" if requirement.untestable else ""
        yield f"  {requirement.id:<7} {requirement.level:<8} {requirement.text}{untestable}"
    yield ""
    levels = [requirement.level for requirement in requirements]
    counts = ", ".join(f"{level} {levels.count(level)}" for level in Level)
    yield f"{len(requirements)} requirements: {counts}"


def _coverage(
    requirements: Sequence[Requirement], usual_s: Mapping[str, float]
) -> list[dict[str, Any]]:
    """How each requirement is judged; `experiments` of a check is null where it judges all."""
    experiments = all_experiments()
    by_name = {
        experiment.name: {
            "name": experiment.name,
            "profile": experiment.profile.key,
            "usual_s": usual_s.get(experiment.name),
        }
        for experiment in experiments
    }
    checks: dict[str, list[dict[str, Any]]] = {}
    for check in all_checks():
        names = None if check.is_oracle else experiments_of(check, experiments)
        looked_at = None if names is None else [by_name[name] for name in names]
        for name in check.requirements:
            judging = {"name": check.name, "experiments": looked_at}
            checks.setdefault(name, []).append(judging)
    return [
        {
            "id": requirement.id,
            "level": requirement.level.value,
            "untestable": requirement.untestable,
            "checks": checks.get(requirement.id, []),
        }
        for requirement in requirements
    ]


def _coverage_lines(found: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for each in found:
        yield f"{each['id']:<7} {each['level']}{'  (not testable)' if each['untestable'] else ''}"
        for check in each["checks"]:
            yield f"  {check['name']}"
            experiments = check["experiments"]
            if experiments is None:
                yield "    every exchange of every experiment"
                continue
            for experiment in experiments:
                usual_s = experiment["usual_s"]
                took = "" if usual_s is None else f", {usual_s:.1f} s"
                yield f"    {experiment['name']} ({experiment['profile']}{took})"
    tested = sum(bool(each["checks"]) for each in found)
    yield ""
    yield f"{tested} of {len(found)} requirements have a check"


def _check_lines(checks: Sequence[Check]) -> Iterator[str]:
    for check in checks:
        experiments = ", ".join(_experiment_names(check))
        yield check.name
        yield f"  judges     {', '.join(check.requirements)}"
        yield f"  looks at   {experiments or 'every exchange of every experiment'}"
    yield ""
    yield f"{len(checks)} checks"


def _check_json(check: Check) -> dict[str, Any]:
    return {
        "name": check.name,
        "requirements": list(check.requirements),
        "experiments": _experiment_names(check),
    }
