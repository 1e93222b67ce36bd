"""The command `hookproof compare`: what changed between two finished runs."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import click

from hookproof.conformance.cli.stored_run import (
    FOLDER,
    difference_lines,
    end_with_error,
    read_run_in,
    verdict_line,
)
from hookproof.conformance.reports.behaviour.json import behaviour_json, change_json, run_json
from hookproof.conformance.reports.behaviour.text import behaviour_lines, dialect_lines
from hookproof.conformance.reports.behaviour.two_runs import TwoBehaviours
from hookproof.conformance.results.behaviour.behaviour import read_behaviour
from hookproof.conformance.results.comparison import (
    Change,
    Difference,
    differences,
    differing_settings,
)
from hookproof.conformance.results.run_file import NotARun, Run, run_path
from hookproof.help_examples import examples
from hookproof.process.exit_codes import ExitCode
from hookproof.process.messages import print_document, print_line
from hookproof.spec.differing_fields import DifferingField, difference_json, differing_fields

# Members of the header in which comparable runs agree.
SETTINGS: Final = ("target", "dialect", "profile", "seed", "strict")


@click.command(
    epilog=examples(
        ("hookproof compare runs/old runs/new", "Show what got better and what got worse."),
        (
            "hookproof compare --behaviour runs/ours runs/theirs.zip",
            "Show what two servers do differently, too.",
        ),
    )
)
@click.argument("before", type=FOLDER, metavar="BEFORE")
@click.argument("after", type=FOLDER, metavar="AFTER")
@click.option(
    "--behaviour",
    "with_behaviour",
    is_flag=True,
    help="Compare what the two targets did, too: dialects, statuses, fields, times, order.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Format to write.",
)
@click.pass_context
def compare(
    context: click.Context, /, *, before: Path, after: Path, with_behaviour: bool, form: str
) -> None:
    """Report what got better and what got worse from the run in BEFORE to the run in AFTER.

    Each is a folder that `hookproof check --out` wrote, or a packed run. With --behaviour, two
    targets can be compared beyond their verdicts, such as two versions of a service, by the stored
    exchanges and deliveries alone; nothing of that is judged.

    Exit codes: 0 nothing got worse; 1 something did; 64 there is no finished run.
    """
    runs = [read_run_in(context, folder) for folder in (before, after)]
    changed = list(differences(runs[0].ledger, runs[1].ledger, strict=runs[1].header.strict))
    both = _behaviours(context, before, after) if with_behaviour else None
    if form == "json":
        print_document(json.dumps(_document(runs, changed, both), indent=1))
    else:
        for line in _lines(runs, changed, both):
            print_line(line)
    worse = any(difference.change is Change.WORSE for difference in changed)
    context.exit(ExitCode.DOES_NOT_CONFORM if worse else ExitCode.CONFORMS)


def _behaviours(context: click.Context, before: Path, after: Path) -> TwoBehaviours:
    try:
        first, second = (read_behaviour(run_path(folder)) for folder in (before, after))
    except NotARun as error:
        end_with_error(context, str(error))
    return TwoBehaviours(before=first, after=second)


def _lines(
    runs: Sequence[Run], changed: Sequence[Difference], both: TwoBehaviours | None
) -> Iterator[str]:
    for words in _differing_conditions(*runs):
        yield f"Note: {words}."
    yield from difference_lines(changed)
    if not changed:
        yield "No requirement has another verdict."
    for name, run in zip(("before", "after"), runs, strict=True):
        yield f"{name:<7} {verdict_line(run.ledger, strict=run.header.strict)}"
    if both is not None:
        yield ""
        yield from dialect_lines(_differing_answers(runs))
        yield from behaviour_lines(both)


def _document(
    runs: Sequence[Run], changed: Sequence[Difference], both: TwoBehaviours | None
) -> dict[str, Any]:
    return {
        "before": run_json(runs[0]),
        "after": run_json(runs[1]),
        "notes": list(_differing_conditions(*runs)),
        "verdicts": [change_json(difference) for difference in changed],
        "dialects": [difference_json(difference) for difference in _differing_answers(runs)],
        "behaviour": None if both is None else behaviour_json(both),
    }


def _differing_answers(runs: Sequence[Run]) -> list[DifferingField]:
    return list(differing_fields(runs[0].header.answers, runs[1].header.answers))


def _differing_conditions(before: Run, after: Run) -> Iterator[str]:
    # The embedded server listens at another port in each run.
    both_embedded = before.header.embedded and after.header.embedded
    yield from differing_settings(before, after, SETTINGS[1:] if both_embedded else SETTINGS)
    for name, run in (("first", before), ("second", after)):
        if run.footer.cut:
            yield f"the {name} run ended early: {run.footer.cut}"
