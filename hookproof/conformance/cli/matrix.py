"""The command `hookproof matrix`: many runs against all requirements, on one page."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import click

from hookproof.conformance.cli.stored_run import read_run_in
from hookproof.conformance.reports.badge import badge_text
from hookproof.conformance.reports.matrix.html import matrix_page
from hookproof.conformance.reports.matrix.json import matrix_json
from hookproof.conformance.reports.matrix.markdown import matrix_markdown
from hookproof.conformance.reports.matrix.table import Matrix, MatrixColumn, matrix_of
from hookproof.help_examples import examples
from hookproof.process.messages import print_document
from hookproof.process.written_file import FileNotWritten, write_file, write_files

FORMATS: Final[Mapping[str, Callable[[Matrix], str]]] = {
    "html": matrix_page,
    "markdown": matrix_markdown,
    "json": matrix_json,
}


@click.command(
    epilog=examples(
        (
            "hookproof matrix ours=runs/ours theirs=runs/theirs.zip -o matrix.html",
            "Write a page on which two servers stand side by side.",
        ),
    )
)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    default="html",
    show_default=True,
    help="Format to write.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="File to write; standard output by default.",
)
@click.option(
    "--badges",
    type=click.Path(path_type=Path),
    help="Folder that gets a badge for each run, NAME.json.",
)
@click.pass_context
def matrix(
    context: click.Context,
    /,
    *,
    runs: tuple[str, ...],
    form: str,
    output: Path | None,
    badges: Path | None,
) -> None:
    """Show the verdicts of many runs, such as those of several servers, side by side.

    A RUN is a folder that `hookproof check --out` wrote, or a packed run. Its name is that of its
    target, or what stands before it, as in NAME=DIR. Only its run.jsonl is read.

    What a run did not judge, or its version does not know, is shown as not known. Exit codes: 0
    written, whatever the verdicts; 64 a run cannot be read, or a file cannot be written.
    """
    named = [_named(each) for each in runs]
    read = [(name, read_run_in(context, path)) for name, path in named]
    names = _distinct([name or run.header.target for name, run in read])
    columns = [MatrixColumn(name=name, run=run) for name, (_, run) in zip(names, read, strict=True)]
    if badges is not None:
        _write_badges(badges, columns)
    text = FORMATS[form](matrix_of(columns))
    if output is not None:
        write_file(output, text)
    else:
        print_document(text, end="")


def _named(written: str) -> tuple[str, Path]:
    """The name that is given to a run, or none, and where it is."""
    name, sign, place = written.partition("=")
    if not sign or Path(written).exists():
        return "", Path(written)
    return name, Path(place)


def _distinct(names: Sequence[str]) -> list[str]:
    """The names, of which a second one like an earlier gets a number."""
    seen: Counter[str] = Counter()
    distinct: list[str] = []
    for name in names:
        seen[name] += 1
        wanted = name if seen[name] == 1 else f"{name} ({seen[name]})"
        while wanted in distinct:
            wanted = f"{wanted}*"
        distinct.append(wanted)
    return distinct


def _write_badges(folder: Path, columns: Sequence[MatrixColumn]) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileNotWritten(folder, error) from None
    files = _distinct(
        [re.sub(r"[^\w.-]+", "-", column.name).strip(".-") or "run" for column in columns]
    )
    write_files(
        {
            folder / f"{file}.json": badge_text(column.run)
            for file, column in zip(files, columns, strict=True)
        }
    )
