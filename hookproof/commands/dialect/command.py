"""The command `hookproof dialect`: what dialects ask, what they answer, and how they differ."""

import json

import click

from hookproof.commands.dialect.listing import (
    UnknownSelector,
    dialect_text,
    difference_lines,
    field_json,
    field_lines,
    select_fields,
)
from hookproof.help_examples import examples
from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.process.messages import print_document, print_line, print_text
from hookproof.spec.completion import complete_dialect, complete_field
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.reader import load_dialect
from hookproof.spec.dialect.writer import written_dialect
from hookproof.spec.differing_fields import difference_json, differing_fields
from hookproof.spec.strict_yaml.file_problem import FileProblems

NAME_OR_FILE = "NAME|FILE"


@click.group(
    epilog=examples(
        ("hookproof dialect fields retry", "List the questions about retries."),
    )
)
def dialect() -> None:
    """Show and compare dialects, which answer what the document leaves open.

    A dialect is named, as in `reference`, or given as a file, as in `ours.yaml`.
    """


@dialect.command(
    epilog=examples(
        ("hookproof dialect show reference", "Show what the reference server answers."),
    )
)
@click.argument("name", metavar=NAME_OR_FILE, shell_complete=complete_dialect)
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
def show(*, name: str, as_json: bool) -> None:
    """Show every answer of a dialect, inherited ones too, as the text of a dialect file."""
    loaded = loaded_dialect(name)
    if as_json:
        print_document(json.dumps(written_dialect(loaded), indent=1))
    else:
        print_document(dialect_text(loaded), end="")


@dialect.command(
    epilog=examples(
        (
            "hookproof dialect fields retry 4.3",
            "List the fields of a group, and those of a section.",
        ),
    )
)
@click.argument("selectors", nargs=-1, metavar="[SELECTOR]...", shell_complete=complete_field)
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
def fields(*, selectors: tuple[str, ...], as_json: bool) -> None:
    """List the fields of a dialect: the question, the possible answers, the default.

    A SELECTOR is a field, a group or a section of the document, such as retry.attempts, retry,
    'delivery.*_header' or 4.3; without one all fields are listed. The default is the answer of the
    dialect undecided, which a dialect of one's own extends.
    """
    try:
        groups = select_fields(selectors)
    except UnknownSelector as problem:
        raise CommandError(
            f"{problem} (`hookproof dialect fields` without a selector lists them all)"
        ) from None
    if as_json:
        listed = [field_json(field, group) for group in groups for field in group.fields]
        print_document(json.dumps(listed, indent=1))
    else:
        print_text("\n".join(field_lines(groups)))


@dialect.command(
    epilog=examples(
        (
            "hookproof dialect diff reference ours.yaml",
            "Show in what a service differs from the reference server.",
        ),
    )
)
@click.argument("first", metavar="A", shell_complete=complete_dialect)
@click.argument("second", metavar="B", shell_complete=complete_dialect)
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
@click.pass_context
def diff(context: click.Context, /, *, first: str, second: str, as_json: bool) -> None:
    """Show what the dialects A and B answer differently; each is a name or a file.

    Exit codes: 0 they answer all the same; 1 they differ; 64 one of them cannot be read.
    """
    differences = list(
        differing_fields(*(written_dialect(loaded_dialect(each)) for each in (first, second)))
    )
    if as_json:
        print_document(json.dumps([difference_json(each) for each in differences], indent=1))
    else:
        for difference in differences:
            print_text("\n".join(difference_lines(difference, first, second)))
        print_line(_counted(len(differences)))
    context.exit(ExitCode.FAILED if differences else ExitCode.OK)


def loaded_dialect(name: str) -> Dialect:
    try:
        return load_dialect(name)
    except FileProblems as problems:
        raise CommandError(str(problems)) from None


def _counted(differences: int) -> str:
    if not differences:
        return "Both give the same answers."
    return "1 answer differs." if differences == 1 else f"{differences} answers differ."
