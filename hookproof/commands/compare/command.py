"""The command `hookproof compare`: two runs, many over time, or many side by side on a page."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import click

from hookproof.commands.compare.over_time import history_of, history_text
from hookproof.commands.compare.runs import named_places, read_check_runs, runs_in
from hookproof.commands.compare.two_runs import compared
from hookproof.conformance.reports.badge import badge_text
from hookproof.conformance.reports.matrix.formats import matrix_json, matrix_markdown, matrix_page
from hookproof.conformance.reports.matrix.table import Matrix, MatrixColumn, matrix_of
from hookproof.help_examples import examples
from hookproof.process.exit_codes import ExitCode
from hookproof.process.messages import print_document, print_text
from hookproof.process.written_file import FileNotWritten, write_file, write_files

PAGES: Final[Mapping[str, Callable[[Matrix], str]]] = {
    "html": matrix_page,
    "markdown": matrix_markdown,
    "json": matrix_json,
}


def columns_of(places: Sequence[tuple[str, Path]]) -> list[MatrixColumn]:
    """A column for each run at a named place; raises CommandError if one has no run."""
    read = [(name, run) for name, place in places for run in read_check_runs(place)]
    names = _distinct([name or run.header.target for name, run in read])
    return [MatrixColumn(name=name, run=run) for name, (_, run) in zip(names, read, strict=True)]


def write_badges(folder: Path, columns: Sequence[MatrixColumn]) -> None:
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


TWO: Final = 2
# The ways to compare, each with its formats, the first by default.
VIEWS: Final[Mapping[str, Sequence[str]]] = {
    "two runs": ("text", "json"),
    "--over-time": ("text", "json"),
    "--page": tuple(PAGES),
}


@click.command(
    epilog=examples(
        ("hookproof compare runs/old runs/new", "Show what got better and what got worse."),
        (
            "hookproof compare --behaviour runs/ours runs/theirs.zip",
            "Show what two servers do differently, too.",
        ),
        ("hookproof compare --over-time runs", "Show what changed from night to night."),
        (
            "hookproof compare --page ours=runs/ours theirs=runs/theirs.zip -o page.html",
            "Write a page on which two servers stand side by side.",
        ),
    )
)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option(
    "--behaviour",
    is_flag=True,
    help="Of two runs: compare what the two targets did, too: dialects, statuses, fields, times,"
    " order.",
)
@click.option(
    "--over-time",
    is_flag=True,
    help="Show all runs by time, those in folders too, and what changed from each to the next.",
)
@click.option(
    "--page",
    is_flag=True,
    help="Show the verdicts of all runs side by side, a column for each.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(list(dict.fromkeys(form for forms in VIEWS.values() for form in forms))),
    help="Format to write: text or json; html, markdown or json with --page.  [default: text, or"
    " html with --page]",
)
@click.option("--json", "form", flag_value="json", help="The same as --format json.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="File to write; standard output by default.",
)
@click.option(
    "--badges",
    type=click.Path(path_type=Path),
    help="With --page: folder that gets a badge for each run, NAME.json.",
)
@click.pass_context
def compare(
    context: click.Context,
    /,
    *,
    runs: tuple[str, ...],
    behaviour: bool,
    over_time: bool,
    page: bool,
    form: str | None,
    output: Path | None,
    badges: Path | None,
) -> None:
    """Report what got better and what got worse from one RUN to another.

    A RUN is a folder that `hookproof check --out` wrote, a packed run, or the folder of a run of
    `hookproof load`. With --behaviour, two targets can be compared beyond their verdicts, such as
    two versions of a service, by the stored exchanges and deliveries alone; nothing of that is
    judged.

    With --over-time and --page a RUN may also be a folder that holds runs. Over time, those of
    `check` are compared by target, those of `load` by target and profile.

    With --page the name of a RUN is that of its target, or what stands before it, as in NAME=DIR.
    What a run did not judge, or its version does not know, is shown as not known.

    Exit codes: 0 nothing got worse, or --over-time or --page was written; 1 something got worse
    between two runs of `check`; 64 a run cannot be read, or a file cannot be written.
    """
    view = _view(context, over_time=over_time, page=page, runs=len(runs))
    if form is None:
        form = VIEWS[view][0]
    elif form not in VIEWS[view]:
        raise click.UsageError(f"--format of {view} is {' or '.join(VIEWS[view])}", context)
    if (behaviour and view != "two runs") or (badges and not page):
        raise click.UsageError("--behaviour is for two runs, --badges for --page", context)
    places, worse = named_places(runs), False
    if page:
        columns = columns_of(places)
        if badges is not None:
            write_badges(badges, columns)
        text = PAGES[form](matrix_of(columns))
    elif over_time:
        history = history_of(each for _, place in places for each in runs_in(place))
        text = history_text(history, form, " ".join(runs))
    else:
        text, worse = compared([place for _, place in places], form, with_behaviour=behaviour)
    _write(text, form, output)
    context.exit(ExitCode.DOES_NOT_CONFORM if worse else ExitCode.CONFORMS)


def _view(context: click.Context, *, over_time: bool, page: bool, runs: int) -> str:
    if over_time and page:
        raise click.UsageError("--over-time and --page contradict each other", context)
    if not over_time and not page and runs != TWO:
        raise click.UsageError(
            f"it compares two runs, and this is {runs}: --over-time shows more than two, or those"
            " in a folder, by time, and --page side by side",
            context,
        )
    return "--over-time" if over_time else "--page" if page else "two runs"


def _write(text: str, form: str, output: Path | None) -> None:
    if output is not None:
        write_file(output, text)
    elif form == "text":
        print_text(text.removesuffix("\n"))
    else:
        print_document(text, end="")
