"""summary.md: the summary of a CI step, in GitHub's Markdown."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from hookproof.conformance.model.ledger import Entry
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.reports.summary import SHOWN_ORDER, notes, title, verdict_line, where
from hookproof.conformance.reports.texts.repeat_script import repeat_script
from hookproof.conformance.reports.timeline import timeline
from hookproof.conformance.results.defects import Defect, defects
from hookproof.conformance.results.run_file import Run
from hookproof.process.terminal_text import printable, printable_lines
from hookproof.spec.catalogue import Level

# GitHub limits the summary of a step to 1 MiB; further findings are counted, and are in the other
# reports.
MOST_FINDINGS: Final = 25

MOST_EVENTS: Final = 20
MOST_MEMBERS: Final = 6

_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]<>()#+!|~&@-])")


def markdown_text(run: Run) -> str:
    return "\n".join(_lines(run)) + "\n"


def _lines(run: Run) -> Iterator[str]:
    run_defects = defects(run.entries)
    yield f"## {escaped(verdict_line(run))}"
    yield ""
    yield escaped(title(run))
    yield ""
    yield from _totals(run)
    for note in notes(run):
        yield f"- {escaped(note)}"
    for number, defect in enumerate(run_defects[:MOST_FINDINGS], 1):
        yield ""
        yield from _defect(run, number, defect)
    if len(run_defects) > MOST_FINDINGS:
        yield ""
        yield f"{len(run_defects) - MOST_FINDINGS} further findings are in report.html."
    yield from _not_exercised(run)
    yield from _fields(run)


def _totals(run: Run) -> Iterator[str]:
    yield f"| level | {' | '.join(verdict.words for verdict in SHOWN_ORDER)} |"
    yield f"|---|{'---:|' * len(SHOWN_ORDER)}"
    for level in Level:
        counts = run.ledger.totals[level]
        if any(counts.values()):
            yield f"| {level} | {' | '.join(str(counts[verdict]) for verdict in SHOWN_ORDER)} |"
    yield ""


def _defect(run: Run, number: int, defect: Defect) -> Iterator[str]:
    finding, entry = defect.lead.finding, defect.lead.entry
    yield f"### {number}. {escaped(defect.lead.title)}"
    yield ""
    sentence = escaped(entry.requirement.text)
    yield f"**{entry.requirement.id}** {sentence} ({escaped(where(run, entry))})"
    yield ""
    if defect.operations:
        yield f"- also at: {', '.join(defect.operations)}"
    if defect.reason:
        yield f"- **why**: {escaped(defect.reason)}"
    yield f"- expected: {escaped(finding.expected)}"
    yield f"- actual: {escaped(finding.actual)}"
    if finding.cause:
        yield f"- cause: {escaped(finding.cause)}"
    yield f"- seen: {escaped(f'{defect.lead.sightings} ({finding.check})')}"
    if defect.further:
        ids = [broken.entry.requirement.id for broken in defect.further]
        yield f"- also breaks: {', '.join(ids)}"
    for broken in defect.members[:MOST_MEMBERS]:
        yield f"- also: {broken.entry.requirement.id} {escaped(broken.finding.message)}"
    if (more := len(defect.members) - MOST_MEMBERS) > 0:
        yield f"- and {more} more in report.html"
    for broken in defect.consequences:
        roots = ", ".join(broken.finding.follows_from)
        message = escaped(broken.finding.message)
        yield f"- {broken.finding.requirement} follows from {roots}: {message}"
    events = [event.words for event in timeline(finding)]
    if len(events) > 1:
        yield from _block("Timeline", "text", events[:MOST_EVENTS])
    if finding.exchanges:
        yield from _block("See it again", "sh", repeat_script(defect.lead, run.header).splitlines())


def _block(name: str, language: str, lines: Sequence[str]) -> Iterator[str]:
    """A collapsible block; its fence is longer than any run of backticks in it."""
    text = printable_lines("\n".join(lines))
    fence = "`" * max(3, 1 + max((len(row) for row in re.findall("`+", text)), default=0))
    yield ""
    yield f"<details><summary>{name}</summary>"
    yield ""
    yield f"{fence}{language}"
    yield text
    yield fence
    yield ""
    yield "</details>"


def _not_exercised(run: Run) -> Iterator[str]:
    idle = [entry for entry in run.entries if entry.verdict is Verdict.NOT_EXERCISED]
    if idle:
        yield ""
        yield f"<details><summary>{len(idle)} not exercised</summary>"
        yield ""
        yield from map(_idle, idle)
        yield ""
        yield "</details>"


def _fields(run: Run) -> Iterator[str]:
    """How many documented fields were shown with a value, and the names of the others."""
    absent = [count.name for count in run.fields if not count.shown]
    if run.fields:
        seen = len(run.fields) - len(absent)
        yield ""
        yield (
            f"<details><summary>{seen} of {len(run.fields)} documented fields were shown with a"
            " value</summary>"
        )
        yield ""
        yield f"Never: {escaped(', '.join(absent))}" if absent else "All of them."
        yield ""
        yield "</details>"


def _idle(entry: Entry) -> str:
    requirement, reasons = entry.requirement, escaped(" ".join(entry.reasons))
    return f"- **{requirement.id}** ({requirement.level}) {reasons}"


def escaped(text: str) -> str:
    """A text in one line, without anything that Markdown or HTML interpret."""
    return _SPECIAL.sub(r"\\\1", printable(text)).replace("://", ":\u200b//")
