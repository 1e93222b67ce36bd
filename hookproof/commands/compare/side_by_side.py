"""Runs as the columns of one page, each under a name of its own, and with a badge."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from hookproof.commands.compare.runs import read_check_runs
from hookproof.conformance.reports.badge import badge_text
from hookproof.conformance.reports.matrix.html import matrix_page
from hookproof.conformance.reports.matrix.json import matrix_json
from hookproof.conformance.reports.matrix.markdown import matrix_markdown
from hookproof.conformance.reports.matrix.table import Matrix, MatrixColumn
from hookproof.process.written_file import FileNotWritten, write_files

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
