"""annotations.txt: a workflow command of GitHub Actions for each defect, which its log shows as an
annotation once a step has printed it.

A defect that keeps the target from conforming is an error, another one is a warning. What the
baseline accepts has none.
"""

from collections.abc import Iterator
from typing import Final, Literal

from hookproof.conformance.model.ledger import counts
from hookproof.conformance.reports.summary import HEADLINES, why_no_verdict
from hookproof.conformance.results.defects import Defect, defects
from hookproof.conformance.results.run_file import Run
from hookproof.process.terminal_text import printable

Command = Literal["error", "warning"]

# GitHub shows ten annotations of each kind for a step.
MOST_OF_A_KIND: Final = 10
# One keeps its first 64 KiB; a text of a target is cut long before.
LONGEST_TEXT: Final = 1000

# What would end a command early, or a property of one; the percent sign begins an escape.
_IN_MESSAGES: Final = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_IN_PROPERTIES: Final = _IN_MESSAGES | str.maketrans({":": "%3A", ",": "%2C"})


def annotations_text(run: Run) -> str:
    return "".join(f"{line}\n" for line in annotations(run))


def annotations(run: Run) -> Iterator[str]:
    open_defects = [defect for defect in defects(run.entries) if not defect.accepted]
    errors = [defect for defect in open_defects if _counts(run, defect)]
    warnings = [defect for defect in open_defects if not _counts(run, defect)]
    of_the_run = list(_of_the_run(run))
    yield from of_the_run
    yield from _bounded("error", errors, MOST_OF_A_KIND - len(of_the_run))
    yield from _bounded("warning", warnings, MOST_OF_A_KIND)


def _of_the_run(run: Run) -> Iterator[str]:
    """Why the run has no verdict, or failed without a defect."""
    footer = run.footer
    words = [
        *([f"The run ended early: {footer.cut}."] if footer.cut else []),
        *why_no_verdict(run),
    ]
    if words:
        yield _command("error", f"Hookproof: {HEADLINES[footer.verdict]}", words)


def _counts(run: Run, defect: Defect) -> bool:
    """Whether the target fails for it."""
    return any(counts(broken.entry, strict=run.header.strict) for broken in defect.all)


def _bounded(command: Command, listed: list[Defect], most: int) -> Iterator[str]:
    shown = listed if len(listed) <= most else listed[: most - 1]
    yield from (_of_defect(command, defect) for defect in shown)
    if left := len(listed) - len(shown):
        title = f"Hookproof: {left} further {'defect' if left == 1 else 'defects'}"
        yield _command(command, title, ["They are in summary.md and report.html."])


def _of_defect(command: Command, defect: Defect) -> str:
    finding, requirement = defect.lead.finding, defect.lead.entry.requirement
    breaks = ", ".join(broken.entry.requirement.id for broken in defect.further)
    return _command(
        command,
        f"{requirement.id} {defect.lead.title}",
        [
            requirement.text,
            f"expected: {finding.expected}",
            f"actual: {finding.actual}",
            *([f"cause: {finding.cause}"] if finding.cause else []),
            *([f"also breaks: {breaks}"] if breaks else []),
        ],
    )


def _command(command: Command, title: str, lines: list[str]) -> str:
    message = "\n".join(map(_short, lines)).translate(_IN_MESSAGES)
    return f"::{command} title={_short(title).translate(_IN_PROPERTIES)}::{message}"


def _short(text: str) -> str:
    shown = printable(text)
    return shown if len(shown) <= LONGEST_TEXT else f"{shown[:LONGEST_TEXT]}..."
