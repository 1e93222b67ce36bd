"""The commands that tell what is tested: `hookproof explain` and `hookproof list`."""

import json
import textwrap
from collections.abc import Iterator
from typing import Any, Final

import click

from hookproof.conformance.cli.explanation import Explanation, explained, known_faults
from hookproof.conformance.model.check_registry import Check, all_checks
from hookproof.conformance.model.experiment_registry import all_experiments, experiments_of
from hookproof.conformance.run.selection import LEVELS, Selection
from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.spec.catalogue import Catalogue, Level, Requirement, load_catalogue
from hookproof.spec.strict_yaml.schema_wording import did_you_mean

WIDTH: Final = 100
MOST_FAULTS: Final = 12


@click.command()
@click.argument("name", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Tell it as JSON.")
@click.pass_context
def explain(context: click.Context, /, name: str, as_json: bool) -> None:
    """Explain the requirement ID (such as 4.3-2), or all those of a section (such as 4.3).

    What it says, how it is tested, what servers usually get wrong, and which faults of the
    reference server break it.
    """
    catalogue = load_catalogue()
    found = catalogue.select(name)
    if not found:
        known = [*catalogue.requirements, *catalogue.sections]
        told = f"{name!r} is no requirement and no section{did_you_mean(name, known)}; `hookproof list` shows them all"
        click.echo(f"hookproof explain: {told}", err=True)
        context.exit(ExitCode.USAGE)
    explanations = [explained(requirement, catalogue, known_faults) for requirement in found]
    if as_json:
        click.echo(json.dumps([_json(one) for one in explanations], indent=1))
        return
    click.echo("\n\n".join("\n".join(_lines(one)) for one in explanations))


@click.command("list")
@click.argument("selectors", nargs=-1, metavar="[SELECTOR]...")
@click.option("--exclude", multiple=True, metavar="SELECTOR", help="Leave this out.")
@click.option(
    "--level", type=click.Choice([level.value for level in Level]), help="Only those of this level."
)
@click.option("--checks", is_flag=True, help="List the checks, with what they are bound to.")
@click.option("--json", "as_json", is_flag=True, help="Tell it as JSON.")
@click.pass_context
def list_(
    context: click.Context,
    /,
    selectors: tuple[str, ...],
    exclude: tuple[str, ...],
    level: str | None,
    checks: bool,
    as_json: bool,
) -> None:
    """List the requirements that the SELECTORs choose: an id, a section, or '4.3-*'; all of them
    without one.
    """
    catalogue = load_catalogue()
    try:
        selection = Selection(only=selectors, exclude=exclude, level=LEVELS[-1])
        chosen = [
            one for one in selection.requirements(catalogue) if level in (None, one.level.value)
        ]
    except CommandError as refusal:
        click.echo(f"hookproof list: {refusal}", err=True)
        context.exit(refusal.exit_code)
    bound = _bound(chosen)
    if as_json:
        told: object = (
            list(map(_check_json, bound)) if checks else [_requirement_json(one) for one in chosen]
        )
        click.echo(json.dumps(told, indent=1))
        return
    for line in _checks_listed(bound) if checks else _listed(chosen, catalogue):
        click.echo(line)


def _bound(chosen: list[Requirement]) -> list[Check]:
    names = {requirement.id for requirement in chosen}
    return [check for check in all_checks() if names.intersection(check.requirements)]


def _listed(chosen: list[Requirement], catalogue: Catalogue) -> Iterator[str]:
    section = ""
    for requirement in chosen:
        if requirement.section != section:
            yield from ([""] if section else [])
            section = requirement.section
            yield f"{section}  {catalogue.sections[section]}"
        untestable = "  (not testable)" if requirement.untestable else ""
        yield f"  {requirement.id:<7} {requirement.level:<8} {requirement.text}{untestable}"
    yield ""
    counts = [f"{level} {sum(one.level is level for one in chosen)}" for level in Level]
    yield f"{len(chosen)} requirements: {', '.join(counts)}"


def _looked_at(check: Check) -> str:
    if check.is_oracle:
        return "every exchange of every experiment"
    return ", ".join(experiments_of(check, all_experiments()))


def _checks_listed(checks: list[Check]) -> Iterator[str]:
    for check in checks:
        yield check.name
        yield f"  judges     {', '.join(check.requirements)}"
        yield f"  looks at   {_looked_at(check)}"
    yield ""
    yield f"{len(checks)} checks"


def _lines(found: Explanation) -> Iterator[str]:
    requirement = found.requirement
    yield click.style(
        f"{requirement.id} · {requirement.level} · section {requirement.section}, {found.section}",
        bold=True,
    )
    yield from _block(requirement.text)
    if requirement.operations:
        yield from _block(", ".join(requirement.operations), "operations")
    for gap in found.gaps:
        yield from _block(f"{gap.question} ({', '.join(gap.dialect)})", "dialect")
    if requirement.untestable:
        yield from _block(f"not at all: {requirement.untestable}", "tested")
    for test in found.tests:
        yield from _block(f"{test.check.name}: {test.words}", "tested")
        for experiment, words in test.experiments:
            yield from _block(
                f"{experiment.name} ({experiment.profile.key} profile): {words}", "  by"
            )
        if not test.experiments:
            yield from _block("every exchange of every experiment", "  by")
    for text in requirement.common_mistakes:
        yield from _block(text, "often wrong")
    for fault in found.faults[:MOST_FAULTS]:
        yield from _block(f"{fault.name}: {fault.broken}", "convicts")
    if len(found.faults) > MOST_FAULTS:
        yield from _block(f"and {len(found.faults) - MOST_FAULTS} more faults", "")


def _block(text: str, name: str = "") -> Iterator[str]:
    first = f"  {name:<12}" if name else "  "
    yield from textwrap.wrap(
        " ".join(text.split()), WIDTH, initial_indent=first, subsequent_indent=" " * len(first)
    )


def _requirement_json(requirement: Requirement) -> dict[str, Any]:
    checks = [check.name for check in all_checks() if requirement.id in check.requirements]
    return {
        "id": requirement.id,
        "section": requirement.section,
        "level": requirement.level.value,
        "text": requirement.text,
        "operations": list(requirement.operations),
        "gaps": list(requirement.gaps),
        "untestable": requirement.untestable,
        "checks": checks,
    }


def _check_json(check: Check) -> dict[str, Any]:
    return {
        "name": check.name,
        "requirements": list(check.requirements),
        "experiments": [] if check.is_oracle else list(experiments_of(check, all_experiments())),
    }


def _json(found: Explanation) -> dict[str, Any]:
    return {
        **_requirement_json(found.requirement),
        "section_title": found.section,
        "dialect": [{"question": gap.question, "fields": list(gap.dialect)} for gap in found.gaps],
        "tests": [
            {
                "check": test.check.name,
                "words": test.words,
                "experiments": [one.name for one, _ in test.experiments],
            }
            for test in found.tests
        ],
        "often_wrong": list(found.requirement.common_mistakes),
        "convicts": [{"name": fault.name, "broken": fault.broken} for fault in found.faults],
    }
