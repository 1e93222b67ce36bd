"""The commands that read what a run left behind: `hookproof report`, `regrade` and `compare`."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import click

from hookproof.conformance.model.ledger import Ledger
from hookproof.conformance.reports.formats import FORMATS, write_reports
from hookproof.conformance.reports.printable_text import printable
from hookproof.conformance.reports.summary import HEADLINES, tallies
from hookproof.conformance.results.comparison import Change, Difference, differences
from hookproof.conformance.results.run_file import NAME, NotARun, Run, read_run
from hookproof.conformance.run.regrading import regrade_run, write_regraded
from hookproof.conformance.target.file import named_dialect
from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.process.installed_version import installed_version
from hookproof.spec.strict_yaml.file_problem import FileProblems

FOLDER: Final = click.Path(path_type=Path)
ORDER: Final = (Change.WORSE, Change.BETTER, Change.OTHER)


@click.command()
@click.argument("folder", type=FOLDER, metavar="DIR", default="hookproof-report")
@click.option(
    "--format",
    "name",
    type=click.Choice(list(FORMATS)),
    required=True,
    help="What to make of the run.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="File to write; without it, standard output.",
)
@click.pass_context
def report(context: click.Context, /, folder: Path, name: str, output: Path | None) -> None:
    """Render the run in DIR, the folder that `hookproof check --out` wrote, from its run.jsonl
    alone.

    Exit codes: 0 written, whatever the run's verdict; 64 no finished run, or the file cannot be
    written.
    """
    text = FORMATS[name].render(_run(context, folder))
    if output is None:
        sys.stdout.write(text)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        _refuse(context, f"{output} cannot be written: {error.strerror or error}")


@click.command()
@click.argument("folder", type=FOLDER, metavar="DIR", default="hookproof-report")
@click.option("--dialect", help="Name or file of another dialect to judge against.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder for the run and its reports as they are now.",
)
@click.pass_context
def regrade(context: click.Context, /, folder: Path, dialect: str | None, out: Path | None) -> None:
    """Judge the evidence in DIR again, and say whether the verdicts are the same.

    Nothing is sent to any target. The dialect is the one that the run was judged against, unless
    another is named; what the experiments tried stays what it was. Exit codes are those of
    `hookproof check`.
    """
    try:
        found = regrade_run(folder, named_dialect(dialect) if dialect else None)
        if out is not None:
            write_reports(write_regraded(found, folder, out, installed_version()), out)
    except (NotARun, CommandError, FileProblems) as wrong:
        _refuse(context, str(wrong))
    except OSError as error:
        _refuse(context, f"--out {out} cannot be written to: {error.strerror or error}")
    strict = found.run.header.strict
    changed = list(differences(found.run.ledger, found.ledger, strict=strict))
    for line in _told(changed):
        click.echo(line)
    verdict = found.ledger.verdict(strict=strict)
    same = not changed and verdict is found.run.footer.verdict
    click.echo(
        f"{'The same verdicts.' if same else 'Other verdicts than before.'} {_line(found.ledger, strict=strict)}"
    )
    context.exit(verdict.exit_code)


@click.command()
@click.argument("before", type=FOLDER, metavar="BEFORE")
@click.argument("after", type=FOLDER, metavar="AFTER")
@click.pass_context
def compare(context: click.Context, /, before: Path, after: Path) -> None:
    """Say what got better and what got worse from the run in BEFORE to the run in AFTER.

    Exit codes: 0 nothing got worse; 1 something did; 64 no finished run.
    """
    runs = [_run(context, folder) for folder in (before, after)]
    for words in _unlike(*runs):
        click.echo(f"Mind: {words}.")
    changed = list(differences(runs[0].ledger, runs[1].ledger, strict=runs[1].header.strict))
    for line in _told(changed):
        click.echo(line)
    if not changed:
        click.echo("No requirement has another verdict.")
    for name, run in zip(("before", "after"), runs, strict=True):
        click.echo(f"{name:<7} {_line(run.ledger, strict=run.header.strict)}")
    worse = any(one.change is Change.WORSE for one in changed)
    context.exit(ExitCode.DOES_NOT_CONFORM if worse else ExitCode.CONFORMS)


def _run(context: click.Context, folder: Path) -> Run:
    try:
        return read_run(folder / NAME)
    except NotARun as wrong:
        _refuse(context, str(wrong))
        raise AssertionError from wrong


def _refuse(context: click.Context, message: str) -> None:
    click.echo(f"{context.command_path}: {message}", err=True)
    context.exit(ExitCode.USAGE)


def _told(changed: Iterable[Difference]) -> Iterator[str]:
    found = list(changed)
    for change in ORDER:
        group = [one for one in found if one.change is change]
        if group:
            yield f"{change.value}:"
        for one in group:
            requirement = one.entry.requirement
            yield f"  {requirement.id:<7} {one.words}  {requirement.text} ({requirement.level})"
            for finding in one.after.findings if one.after and change is Change.WORSE else ():
                told = f"{finding.message}; expected {finding.expected}; actual: {finding.actual}"
                yield f"          {printable(told)}"


def _unlike(before: Run, after: Run) -> Iterator[str]:
    """What makes two runs hard to compare."""
    for name in ("target", "dialect", "profile", "seed", "strict"):
        values = [getattr(run.header, name) for run in (before, after)]
        if values[0] != values[1] and not (
            name == "target" and before.header.embedded and after.header.embedded
        ):
            yield f"the {name} is another one: {values[0]}, then {values[1]}"
    for name, run in (("first", before), ("second", after)):
        if run.footer.cut:
            yield f"the {name} run ended early: {run.footer.cut}"


def _line(ledger: Ledger, *, strict: bool) -> str:
    return f"{HEADLINES[ledger.verdict(strict=strict)]}  {' · '.join(tallies(ledger))}"
