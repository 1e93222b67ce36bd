"""The command `hookproof list`: the requirements, or the checks, that selectors choose."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from hookproof.conformance.checks import all_checks
from hookproof.conformance.experiments import all_experiments
from hookproof.conformance.model.check_registry import Check
from hookproof.conformance.model.experiment_registry import experiments_of
from hookproof.conformance.results.durations import usual_durations
from hookproof.conformance.results.run_file import NAME
from hookproof.conformance.run.selection import LEVELS, Selection, selectors
from hookproof.help_examples import examples
from hookproof.process.exit_codes import CommandError
from hookproof.process.messages import print_document, print_text
from hookproof.spec.catalogue import Catalogue, Level, Requirement, load_catalogue
from hookproof.spec.completion import complete_requirement


@click.command(
    "list",
    epilog=examples(
        ("hookproof list 4.3", "List the requirements of a section."),
        ("hookproof list --level hygiene --json", "List those of a level, for programs."),
        ("hookproof list --coverage 4.7-9", "Show what `hookproof check --only 4.7-9` starts."),
    ),
)
@click.argument("chosen", nargs=-1, metavar="[SELECTOR]...", shell_complete=complete_requirement)
@click.option(
    "--exclude",
    multiple=True,
    metavar="SELECTOR",
    shell_complete=complete_requirement,
    help="Leave these out.",
)
@click.option(
    "--level", type=click.Choice([level.value for level in Level]), help="Only those of this level."
)
@click.option("--checks", is_flag=True, help="List the checks and what they judge.")
@click.option(
    "--coverage",
    is_flag=True,
    help="Show by which check each is judged, and what that looks at: experiments with their"
    " profile, and how long they took in the run of --run.",
)
@click.option(
    "--run",
    "folder",
    type=click.Path(path_type=Path),
    default=Path("hookproof-report"),
    show_default=True,
    help="For --coverage: the folder of a run, which need not be there.",
)
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
@click.pass_context
def list_(
    context: click.Context,
    /,
    chosen: tuple[str, ...],
    exclude: tuple[str, ...],
    level: str | None,
    checks: bool,
    coverage: bool,
    folder: Path,
    as_json: bool,
) -> None:
    """List the requirements that the SELECTORs choose: an id, a section, '4.3-*', or @FILE.

    Without a selector all requirements are listed.
    """
    if checks and coverage:
        raise click.UsageError("--checks and --coverage contradict each other", context)
    catalogue = load_catalogue()
    try:
        selection = Selection(only=selectors(chosen), exclude=selectors(exclude), level=LEVELS[-1])
        requirements = [
            requirement
            for requirement in selection.requirements(catalogue)
            if level in (None, requirement.level.value)
        ]
    except CommandError as error:
        print_text(f"hookproof list: {error}", err=True)
        context.exit(error.exit_code)
    if checks:
        bound = _checks_of(requirements)
        _write(map(_check_json, bound) if as_json else _check_lines(bound), as_json=as_json)
    elif coverage:
        found = _coverage(requirements, usual_durations(folder / NAME))
        _write(iter(found) if as_json else _coverage_lines(found), as_json=as_json)
    elif as_json:
        _write(map(requirement_json, requirements), as_json=True)
    else:
        _write(_requirement_lines(requirements, catalogue), as_json=False)


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


def _write(items: Iterator[Any], *, as_json: bool) -> None:
    if as_json:
        print_document(json.dumps(list(items), indent=1))
    else:
        print_text("\n".join(items))


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
