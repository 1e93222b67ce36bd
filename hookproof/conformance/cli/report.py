"""The command `hookproof report`: render a finished run in another format."""

from pathlib import Path

import click

from hookproof.conformance.cli.stored_run import FOLDER, end_with_error
from hookproof.conformance.reports.formats import FORMATS
from hookproof.conformance.results.run_file import NotARun, read_run, run_path
from hookproof.conformance.run.partial_run import read_whole_or_partial_run
from hookproof.help_examples import examples
from hookproof.process.exit_codes import CommandError
from hookproof.process.messages import print_document
from hookproof.process.written_file import write_file
from hookproof.spec.strict_yaml.file_problem import FileProblems


@click.command(
    epilog=examples(
        (
            "hookproof report hookproof-report --format sarif -o findings.sarif",
            "Write the findings for a code scanner.",
        ),
        (
            "hookproof report hookproof-report --format markdown --partial",
            "Show what was gathered by a run that was cut off.",
        ),
    )
)
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
@click.option(
    "--partial",
    is_flag=True,
    help="Render a run that was cut off, too: what it gathered is judged, as an incomplete run.",
)
@click.pass_context
def report(
    context: click.Context, /, folder: Path, name: str, output: Path | None, *, partial: bool
) -> None:
    """Render the run in DIR, a folder that `hookproof check --out` wrote, or a packed run.

    Only its run.jsonl is read. It is cut off if the run was killed, or the disk was full. Exit
    codes: 0 written, whatever the verdict of the run; 64 there is no finished run (with --partial:
    nothing was gathered), or the file cannot be written.
    """
    try:
        run = read_whole_or_partial_run(folder) if partial else read_run(run_path(folder))
        text = FORMATS[name].render(run)
        if output is not None:
            write_file(output, text)
    except (NotARun, CommandError, FileProblems) as error:
        end_with_error(context, str(error))
    if output is None:
        print_document(text, end="")
