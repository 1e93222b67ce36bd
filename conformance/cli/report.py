"""The command `hookproof report`: render a finished run in another format."""

import sys
from pathlib import Path

import click

from hookproof.conformance.cli.stored_run import FOLDER, end_with_error, read_run_in
from hookproof.conformance.reports.formats import FORMATS


@click.command()
@click.argument("folder", type=FOLDER, metavar="DIR", default="hookproof-report")
@click.option(
    "--format", "name", type=click.Choice(list(FORMATS)), required=True, help="Format to write."
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="File to write; standard output by default.",
)
@click.pass_context
def report(context: click.Context, /, folder: Path, name: str, output: Path | None) -> None:
    """Render the run in DIR, a folder that `hookproof check --out` wrote.

    Only its run.jsonl is read. Exit codes: 0 written, whatever the verdict of the run; 64 there is
    no finished run, or the file cannot be written.
    """
    text = FORMATS[name].render(read_run_in(context, folder))
    if output is None:
        sys.stdout.write(text)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        end_with_error(context, f"{output} cannot be written: {error.strerror or error}")
