"""The formats of the reports: each renders run.jsonl alone, to a file of its own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hookproof.conformance.reports.badge import badge_text
from hookproof.conformance.reports.ci.annotations import annotations_text
from hookproof.conformance.reports.ci.ctrf import ctrf_text
from hookproof.conformance.reports.ci.junit import JUNIT, junit_text
from hookproof.conformance.reports.html import html_text
from hookproof.conformance.reports.json import report_text
from hookproof.conformance.reports.markdown import markdown_text
from hookproof.conformance.reports.sarif import sarif_text
from hookproof.conformance.results.run_file import Run
from hookproof.process.written_file import write_files


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A renderer and the name of its file; `always` is whether `hookproof check` writes it."""

    render: Callable[[Run], str]
    file: str
    always: bool


FORMATS: Final[Mapping[str, Format]] = {
    "html": Format(render=html_text, file="report.html", always=True),
    "junit": Format(render=junit_text, file=JUNIT, always=True),
    "sarif": Format(render=sarif_text, file="report.sarif", always=False),
    "ctrf": Format(render=ctrf_text, file="ctrf.json", always=False),
    "github": Format(render=annotations_text, file="annotations.txt", always=False),
    "markdown": Format(render=markdown_text, file="summary.md", always=True),
    "badge": Format(render=badge_text, file="badge.json", always=False),
    "json": Format(render=report_text, file="report.json", always=True),
}

# The files of all formats.
REPORTS: Final = tuple(format_.file for format_ in FORMATS.values())


def write_reports(run: Run, folder: Path) -> None:
    """Write the reports that every run gets; raises FileNotWritten when all have been tried."""
    write_files(
        {
            folder / format_.file: format_.render(run)
            for format_ in FORMATS.values()
            if format_.always
        }
    )
