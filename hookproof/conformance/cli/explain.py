"""The command `hookproof explain`: what is known of requirements, for people or as JSON."""

import importlib
import inspect
import json
import subprocess
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import click

from hookproof.conformance.checks import all_checks
from hookproof.conformance.cli.listing import Form, listed, requirement_json
from hookproof.conformance.experiments import all_experiments
from hookproof.conformance.model.check_registry import Check
from hookproof.conformance.model.experiment_registry import Experiment, experiments_of
from hookproof.conformance.run.selection import LEVELS, Selection, selectors
from hookproof.help_examples import examples
from hookproof.process.messages import print_document, print_line, print_text
from hookproof.receiver.client.child_process import HOOKPROOF
from hookproof.spec.catalogue import Catalogue, Gap, Level, Requirement, load_catalogue
from hookproof.spec.completion import complete_requirement

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


WIDTH: Final = 100
MOST_FAULTS: Final = 12


@click.command(
    epilog=examples(
        ("hookproof explain", "List all requirements, a line each."),
        ("hookproof explain 4.3-2", "Explain one requirement."),
        ("hookproof explain 4.3 --json", "Explain those of a section, for programs."),
        ("hookproof explain --brief 4.3 5", "List those of two sections."),
        ("hookproof explain --coverage 4.7-9", "Show what `hookproof check --only 4.7-9` starts."),
    )
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
@click.option("--brief", is_flag=True, help="Show a line for each, as without a selector.")
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
def explain(
    context: click.Context,
    /,
    *,
    chosen: tuple[str, ...],
    exclude: tuple[str, ...],
    level: str | None,
    brief: bool,
    checks: bool,
    coverage: bool,
    folder: Path,
    as_json: bool,
) -> None:
    """Explain the requirements that the SELECTORs choose: an id, a section, '4.3-*', or @FILE.

    Shows what a requirement says, how it is tested, what servers usually get wrong, and which
    faults of the reference server violate it. Without a selector all requirements are listed.
    """
    if checks and coverage:
        raise click.UsageError("--checks and --coverage contradict each other", context)
    catalogue = load_catalogue()
    selection = Selection(only=selectors(chosen), exclude=selectors(exclude), level=LEVELS[-1])
    requirements = [
        requirement
        for requirement in selection.requirements(catalogue)
        if level in (None, requirement.level.value)
    ]
    if brief or checks or coverage or not chosen:
        form = Form.CHECKS if checks else Form.COVERAGE if coverage else Form.BRIEF
        text = listed(requirements, catalogue, form, folder, as_json=as_json)
        (print_document if as_json else print_text)(text)
        return
    explanations = [
        explain_requirement(requirement, catalogue, list_faults) for requirement in requirements
    ]
    if as_json:
        print_document(json.dumps(list(map(_json, explanations)), indent=1))
        return
    for number, explanation in enumerate(explanations):
        if number:
            print_line()
        requirement = explanation.requirement
        place = f"section {requirement.section}, {explanation.section}"
        print_line(f"{requirement.id} · {requirement.level} · {place}", bold=True)
        print_text("\n".join(_lines(explanation)))


def _lines(explanation: Explanation) -> Iterator[str]:
    requirement = explanation.requirement
    yield from _block(requirement.text)
    if requirement.operations:
        yield from _block(", ".join(requirement.operations), "operations")
    for gap in explanation.gaps:
        yield from _block(f"{gap.question} ({', '.join(gap.dialect)})", "dialect")
    yield from _test_lines(explanation)
    for text in requirement.common_mistakes:
        yield from _block(text, "often wrong")
    for root in explanation.follows_from:
        words = f"from {root.id} where all that shows it violates that too: {root.text}"
        yield from _block(words, "follows")
    if explanation.consequences:
        names = ", ".join(each.id for each in explanation.consequences)
        yield from _block(f"{names} where all that shows it violates this too", "followed by")
    for fault in explanation.faults[:MOST_FAULTS]:
        yield from _block(f"{fault.name}: {fault.broken}", "faults")
    if len(explanation.faults) > MOST_FAULTS:
        yield from _block(f"and {len(explanation.faults) - MOST_FAULTS} more faults", "")


def _test_lines(explanation: Explanation) -> Iterator[str]:
    if explanation.requirement.untestable:
        yield from _block(f"not testable: {explanation.requirement.untestable}", "tested")
    for test in explanation.tests:
        yield from _block(f"{test.check.name}: {test.summary}", "tested")
        for experiment, summary in test.experiments:
            profile = f"{experiment.profile.key} profile"
            yield from _block(f"{experiment.name} ({profile}): {summary}", "  by")
        if not test.experiments:
            yield from _block("every exchange of every experiment", "  by")


def _block(text: str, label: str = "") -> Iterator[str]:
    first = f"  {label:<12}" if label else "  "
    yield from textwrap.wrap(
        " ".join(text.split()), WIDTH, initial_indent=first, subsequent_indent=" " * len(first)
    )


def _json(explanation: Explanation) -> dict[str, Any]:
    return {
        **requirement_json(explanation.requirement),
        "section_title": explanation.section,
        "dialect": [
            {"question": gap.question, "fields": list(gap.dialect)} for gap in explanation.gaps
        ],
        "tests": [
            {
                "check": test.check.name,
                "words": test.summary,
                "experiments": [experiment.name for experiment, _ in test.experiments],
            }
            for test in explanation.tests
        ],
        "often_wrong": list(explanation.requirement.common_mistakes),
        "follows_from": [root.id for root in explanation.follows_from],
        "consequences": [each.id for each in explanation.consequences],
        "convicts": [{"name": fault.name, "broken": fault.broken} for fault in explanation.faults],
    }
