"""The command `hookproof compare`: which verdicts changed between two finished runs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click

from hookproof.conformance.cli.stored_run import (
    FOLDER,
    difference_lines,
    read_run_in,
    verdict_line,
)
from hookproof.conformance.results.comparison import Change, differences
from hookproof.conformance.results.run_file import Run
from hookproof.process.exit_codes import ExitCode
from hookproof.process.terminal_text import printable

# Members of the header in which comparable runs agree.
SETTINGS: Final = ("target", "dialect", "profile", "seed", "strict")


@click.command()
@click.argument("before", type=FOLDER, metavar="BEFORE")
@click.argument("after", type=FOLDER, metavar="AFTER")
@click.pass_context
def compare(context: click.Context, /, before: Path, after: Path) -> None:
    """Report what got better and what got worse from the run in BEFORE to the run in AFTER.

    Exit codes: 0 nothing got worse; 1 something did; 64 there is no finished run.
    """
    runs = [read_run_in(context, folder) for folder in (before, after)]
    for words in _differing_conditions(*runs):
        click.echo(printable(f"Note: {words}."))
    changed = list(differences(runs[0].ledger, runs[1].ledger, strict=runs[1].header.strict))
    for line in difference_lines(changed):
        click.echo(printable(line))
    if not changed:
        click.echo("No requirement has another verdict.")
    for name, run in zip(("before", "after"), runs, strict=True):
        click.echo(f"{name:<7} {verdict_line(run.ledger, strict=run.header.strict)}")
    worse = any(difference.change is Change.WORSE for difference in changed)
    context.exit(ExitCode.DOES_NOT_CONFORM if worse else ExitCode.CONFORMS)


def _differing_conditions(before: Run, after: Run) -> Iterator[str]:
    for name in SETTINGS:
        values = [getattr(run.header, name) for run in (before, after)]
        # The embedded server listens at another port in each run.
        if name == "target" and before.header.embedded and after.header.embedded:
            continue
        if values[0] != values[1]:
            yield f"the {name} differs: {values[0]}, then {values[1]}"
    for name, run in (("first", before), ("second", after)):
        if run.footer.cut:
            yield f"the {name} run ended early: {run.footer.cut}"
