"""The command `hookproof explain`: what is known of a requirement, for people or as JSON."""

import json
import textwrap
from collections.abc import Iterator
from typing import Any, Final

import click

from hookproof.conformance.cli.explanation import Explanation, explain_requirement, list_faults
from hookproof.conformance.cli.list import requirement_json
from hookproof.help_examples import examples
from hookproof.process.exit_codes import ExitCode
from hookproof.process.messages import print_document, print_line, print_text
from hookproof.spec.catalogue import load_catalogue
from hookproof.spec.completion import complete_requirement
from hookproof.spec.strict_yaml.schema_wording import did_you_mean

WIDTH: Final = 100
MOST_FAULTS: Final = 12


@click.command(
    epilog=examples(
        ("hookproof explain 4.3-2", "Explain one requirement."),
        ("hookproof explain 4.3 --json", "Explain those of a section, for programs."),
    )
)
@click.argument("name", metavar="ID", shell_complete=complete_requirement)
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
@click.pass_context
def explain(context: click.Context, /, name: str, as_json: bool) -> None:
    """Explain the requirement ID (such as 4.3-2), or all those of a section (such as 4.3).

    Shows what the requirement says, how it is tested, what servers usually get wrong, and which
    faults of the reference server violate it.
    """
    catalogue = load_catalogue()
    requirements = catalogue.select(name)
    if not requirements:
        nearest = did_you_mean(name, [*catalogue.requirements, *catalogue.sections])
        print_line(
            f"hookproof explain: {name!r} is not a requirement or a section{nearest};"
            " `hookproof list` shows them all",
            err=True,
        )
        context.exit(ExitCode.USAGE)
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
