"""The console report: sections, what failed and how to reproduce it, what was not exercised, an
overview of the findings, and the verdict line.
"""

import os
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from itertools import groupby
from pathlib import Path
from typing import Final, TextIO

from rich.text import Text

from hookproof.conformance.model.disagreement import Disagreement
from hookproof.conformance.model.ledger import Entry, Finding, RunVerdict
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.reports.formats import FORMATS
from hookproof.conformance.reports.progress import STYLES
from hookproof.conformance.reports.summary import (
    SHOWN_ORDER,
    cut_words,
    hygiene_findings,
    notes,
    title,
    verdict_line,
    where,
    why_no_verdict,
)
from hookproof.conformance.reports.texts.repeat_script import repeat_commands
from hookproof.conformance.reports.timeline import timeline
from hookproof.conformance.results.defects import (
    BrokenRequirement,
    Defect,
    defects,
    explained_and_not,
)
from hookproof.conformance.results.run_file import Header, Run
from hookproof.process.message_console import MessageConsole
from hookproof.process.terminal_text import printable
from hookproof.spec.catalogue import Level

HEADLINE_STYLES: Final = {
    RunVerdict.CONFORMS: "bold green",
    RunVerdict.DOES_NOT_CONFORM: "bold red",
    RunVerdict.INCOMPLETE: "bold yellow",
    RunVerdict.ERROR: "bold magenta",
}
WORDS: Final = {
    Verdict.PASS: "pass",
    Verdict.FAIL: "FAIL",
    Verdict.ERROR: "ERROR",
    Verdict.NOT_EXERCISED: "not exercised",
    Verdict.NOT_APPLICABLE: "not applicable",
}
MOST_EVENTS: Final = 12
MOST_MEMBERS: Final = 6
# In columns; a narrower terminal wraps the lines itself.
NARROWEST: Final = 40
# In columns; from this width on there is room for the verdicts of a section beside its title.
WIDE: Final = 100
# In columns; the overview of the findings.
ID_WIDTH: Final = 9
OPERATION_WIDTH: Final = 22
TABLE_WIDTH: Final = 72
MOST_FINDINGS: Final = 20
MOST_REASONS: Final = 10
DELIVERIES: Final = "deliveries"
DIALECT: Final = "dialect"


class Detail(StrEnum):
    """How much the report shows: the overview and the verdict; what is wrong too; everything."""

    QUIET = "quiet"
    NORMAL = "normal"
    VERBOSE = "verbose"


def show(
    run: Run,
    stream: TextIO | None = None,
    environment: Mapping[str, str] = os.environ,
    *,
    detail: Detail = Detail.NORMAL,
    folder: Path | None = None,
) -> None:
    """Write the report of a run; `folder` is where the other reports are."""
    console = MessageConsole(stream, environment)
    width = max(NARROWEST, console.width) if console.is_terminal else None
    for line in lines(run, width=width, detail=detail, folder=folder):
        console.print(line, soft_wrap=True)


def lines(
    run: Run,
    *,
    width: int | None = None,
    detail: Detail = Detail.NORMAL,
    folder: Path | None = None,
) -> Iterator[Text]:
    """The report line by line, wrapped to `width` columns if that is given."""
    page = _Page(width)
    if detail is not Detail.QUIET:
        yield from page.block(title(run))
        yield Text()
        yield from _sections(run, page, every_requirement=detail is Detail.VERBOSE)
        if detail is Detail.VERBOSE and run.header.assumed:
            yield from page.block(f"Assumed of the dialect: {', '.join(run.header.assumed)}")
        yield from _failures(run, page)
        yield from _errors(run, page)
        yield from _not_exercised(run, page, every_requirement=detail is Detail.VERBOSE)
        yield from _notes(run, page)
    yield from _overview(run, page, folder)
    if detail is Detail.QUIET:
        yield from _why_no_verdict(run, page)
    for words in cut_words(run):
        yield from page.block(words, style=STYLES[Verdict.NOT_EXERCISED])
    yield from _verdict(run, page)


class _Page:
    """Wraps blocks of text with a hanging indent."""

    def __init__(self, width: int | None):
        self._width = width
        self.is_narrow = width is not None and width < WIDE
        self.has_columns = width is None or width >= TABLE_WIDTH

    def block(
        self, text: str, *, first: str = "", indent: str = "", style: str = "", raw: bool = False
    ) -> list[Text]:
        """A text after `first`, each further line after `indent`; a raw text is not wrapped."""
        whole = printable(text)
        if self._width is None or raw:
            return [Text(first + whole, style=style)]
        wrapped = textwrap.wrap(whole, self._width, initial_indent=first, subsequent_indent=indent)
        return [Text(line, style=style) for line in wrapped or [first]]

    def member(self, name: str, text: str, *, style: str = "", raw: bool = False) -> list[Text]:
        """A text after its name, in the column that all members share."""
        return self.block(text, first=f"  {name:<10}", indent=" " * 12, style=style, raw=raw)


def _sections(run: Run, page: _Page, *, every_requirement: bool) -> Iterator[Text]:
    for section, entries in groupby(run.entries, key=lambda entry: entry.requirement.section):
        listed = list(entries)
        verdicts = [entry.verdict for entry in listed if not entry.follows_from]
        counts = [
            (f"{verdicts.count(verdict)} {WORDS[verdict]}", STYLES[verdict])
            for verdict in SHOWN_ORDER
            if verdict in verdicts
        ]
        if len(verdicts) < len(listed):
            counts.append((f"{len(listed) - len(verdicts)} as a consequence", "dim red"))
        if page.is_narrow:
            words = ", ".join(count for count, _ in counts)
            yield from page.block(
                f"{run.header.sections.get(section, '')}: {words}".removeprefix(": "),
                first=f"{section:<5}",
                indent=" " * 5,
                style=STYLES[max(entry.verdict for entry in listed)],
            )
        else:
            name = f"{section:<5}{run.header.sections.get(section, ''):<32.32}"
            yield Text.assemble(name, *((f"  {count}", style) for count, style in counts))
        for entry in listed if every_requirement else ():
            yield from _requirement(entry, page)


def _requirement(entry: Entry, page: _Page) -> Iterator[Text]:
    """A requirement with its verdict, and the exchange or delivery that shows a pass."""
    times = "once" if entry.exercised == 1 else f"{entry.exercised} times"
    exercised = f" · exercised {times}" if entry.exercised else ""
    shown = f" · {entry.shown_by}" if entry.shown_by else ""
    yield from page.block(
        f"{WORDS[entry.verdict]} · {entry.requirement.text}{exercised}{shown}",
        first=f"  {entry.requirement.id:<{ID_WIDTH}}",
        indent=" " * (ID_WIDTH + 2),
        style=STYLES[entry.verdict],
    )


def _failures(run: Run, page: _Page) -> Iterator[Text]:
    stated, others, explained = _ranked(run)
    for defect in stated:
        yield from _failure(run, defect, page)
    for disagreement in run.disagreements:
        yield Text()
        yield from _disagreement(disagreement, explained.get(disagreement.field, ()), page)
    for defect in others:
        yield from _failure(run, defect, page)


def _ranked(run: Run) -> tuple[list[Defect], list[Defect], dict[str, list[Defect]]]:
    """The stated defects, those of other levels, and those that a field of the dialect explains."""
    explained, others = explained_and_not(defects(run.entries), run.disagreements)
    stated = [each for each in others if each.lead.entry.requirement.level is Level.STATED]
    return stated, [each for each in others if each not in stated], explained


def _failure(run: Run, defect: Defect, page: _Page) -> Iterator[Text]:
    yield Text()
    yield from _sentence(run, defect.lead, page)
    yield from _finding(defect, page, run.header)


def _disagreement(
    disagreement: Disagreement, explained: Sequence[Defect], page: _Page
) -> Iterator[Text]:
    """One finding in place of those that a field of the dialect explains."""
    names = ", ".join(disagreement.requirements)
    heading = f"{WORDS[Verdict.FAIL]} {names} · open · a field of the dialect"
    yield from page.block(heading, style=f"bold {STYLES[Verdict.FAIL]}")
    yield from page.member("found", disagreement.words)
    yield from page.member("change", disagreement.advice)
    stands = f"for {disagreement.findings} findings, which report.json and report.html have in full"
    yield from page.member("stands", stands, style="dim")
    for defect in explained:
        for broken in defect.consequences:
            yield from page.member("follows", _consequence(broken), style="dim")


def _sentence(run: Run, broken: BrokenRequirement, page: _Page) -> Iterator[Text]:
    entry, place = broken.entry, broken.operation or DELIVERIES
    accepted = " · accepted by the baseline" if entry.accepted else ""
    heading = (
        f"{WORDS[entry.verdict]} {entry.requirement.id} · {place} · {where(run, entry)}{accepted}"
    )
    yield from page.block(heading, style=f"bold {STYLES[entry.verdict]}")
    yield from page.block(entry.requirement.text, first="  ", indent="  ")


def _finding(defect: Defect, page: _Page, header: Header) -> Iterator[Text]:
    finding = defect.lead.finding
    yield from page.member("found", finding.message)
    if defect.operations:
        yield from page.member("also at", ", ".join(defect.operations))
    if defect.reason:
        yield from page.member("why", defect.reason, style="bold")
    yield from page.member("expected", finding.expected)
    yield from page.member("actual", finding.actual)
    if finding.cause:
        yield from page.member("cause", finding.cause)
    seen = f"{defect.lead.sightings} (check {finding.check})"
    yield from page.member("seen", seen, style="dim")
    yield from _members(defect, page)
    yield from _timeline(finding, page)
    for number, command in enumerate(repeat_commands(finding, header)):
        yield from page.member("" if number else "again", command, style="cyan", raw=True)


def _members(defect: Defect, page: _Page) -> Iterator[Text]:
    """What the defect breaks too, in which other words it was found, and what follows from it."""
    also = [broken.entry.requirement.id for broken in defect.further]
    if also:
        yield from page.member("breaks", f"{', '.join(also)} too")
    for broken in defect.members[:MOST_MEMBERS]:
        words = f"{broken.entry.requirement.id}: {broken.finding.message}"
        yield from page.member("also", words, style="dim")
    if (more := len(defect.members) - MOST_MEMBERS) > 0:
        yield from page.member("", f"and {more} more", style="dim")
    for broken in defect.consequences:
        yield from page.member("follows", _consequence(broken), style="dim")


def _timeline(finding: Finding, page: _Page) -> Iterator[Text]:
    events = timeline(finding) if finding.deliveries else []
    for number, event in enumerate(events[:MOST_EVENTS]):
        yield from page.member("" if number else "timeline", event.words, style="dim")
    if (left := len(events) - MOST_EVENTS) > 0:
        yield from page.member("", f"and {left} more", style="dim")


def _consequence(broken: BrokenRequirement) -> str:
    finding = broken.finding
    roots = ", ".join(finding.follows_from)
    return f"{finding.requirement} follows from {roots}: {finding.message}"


def _errors(run: Run, page: _Page) -> Iterator[Text]:
    broken = [entry for entry in run.entries if entry.verdict is Verdict.ERROR]
    yield from _by_reason(
        broken, "Not judged because of an error of hookproof:", Verdict.ERROR, page
    )


def _not_exercised(run: Run, page: _Page, *, every_requirement: bool) -> Iterator[Text]:
    """One line for each reason, unless every requirement is asked for."""
    idle = [entry for entry in run.entries if entry.verdict is Verdict.NOT_EXERCISED]
    if every_requirement or not idle:
        yield from _by_reason(idle, "Not exercised:", Verdict.NOT_EXERCISED, page)
        return
    groups: dict[str, list[str]] = {}
    for entry in idle:
        groups.setdefault(entry.reasons[0] if entry.reasons else "", []).append(
            entry.requirement.id
        )
    heading = f"{len(idle)} not exercised, by reason; --verbose has them all:"
    yield Text()
    yield from page.block(heading, style=f"bold {STYLES[Verdict.NOT_EXERCISED]}")
    for reason, ids in groups.items():
        first = f"  {len(ids):>3}  "
        yield from page.block(f"{reason} ({', '.join(ids)})", first=first, indent=" " * len(first))


def _by_reason(
    entries: Sequence[Entry], heading: str, verdict: Verdict, page: _Page
) -> Iterator[Text]:
    """Requirements grouped by their reasons, since one cause often keeps many of them from being
    judged.
    """
    groups: dict[tuple[str, ...], list[Entry]] = {}
    for entry in entries:
        groups.setdefault(entry.reasons, []).append(entry)
    if groups:
        yield Text()
        yield Text(heading, style=f"bold {STYLES[verdict]}")
    for reasons, group in groups.items():
        for reason in reasons:
            yield from page.block(reason, first="  ", indent="  ")
        for entry in group:
            yield from page.block(
                f"{entry.requirement.text} ({entry.requirement.level})",
                first=f"    {entry.requirement.id:<7} ",
                indent=" " * 12,
                style="dim",
            )


def _notes(run: Run, page: _Page) -> Iterator[Text]:
    yield Text()
    # The fields of the dialect have blocks of their own, and a cut is named beside the verdict.
    shown = replace(run, disagreements=(), footer=replace(run.footer, cut=None))
    noted = list(notes(shown))
    for note in noted:
        yield from page.block(note, style="yellow")
    if noted and any(not defect.accepted for defect in defects(run.entries)):
        yield Text()


def _overview(run: Run, page: _Page, folder: Path | None) -> Iterator[Text]:
    """The findings that the baseline does not accept, a line for each, and where the rest is."""
    stated, others, _ = _ranked(run)
    first, then = ([each for each in found if not each.accepted] for found in (stated, others))
    count = len(first) + len(run.disagreements) + len(then)
    if not count:
        return
    style = f"bold {STYLES[Verdict.FAIL]}"
    yield from page.block("1 finding:" if count == 1 else f"{count} findings:", style=style)
    rows = [
        *map(_overview_row, first),
        *((each.requirements[0], DIALECT, each.words) for each in run.disagreements),
        *map(_overview_row, then),
    ]
    for name, place, message in rows[:MOST_FINDINGS]:
        yield from _overview_line(name, place, message, page)
    if len(rows) > MOST_FINDINGS:
        yield from page.block(f"and {len(rows) - MOST_FINDINGS} more", first="  ", indent="  ")
    if folder is not None:
        yield from page.block(
            f"All of it is in {folder / FORMATS['html'].file}; `hookproof explain ID` says more."
        )
    yield Text()


def _why_no_verdict(run: Run, page: _Page) -> Iterator[Text]:
    reasons = why_no_verdict(run)
    for reason in reasons[:MOST_REASONS]:
        yield from page.block(reason, indent="  ", style=STYLES[Verdict.NOT_EXERCISED])
    if len(reasons) > MOST_REASONS:
        left = len(reasons) - MOST_REASONS
        yield from page.block(f"and {left} more reasons, which a run without --quiet shows")


def _overview_row(defect: Defect) -> tuple[str, str, str]:
    """The requirement, the place and what was found there."""
    return defect.lead.entry.requirement.id, defect.lead.operation or DELIVERIES, defect.summary


def _overview_line(name: str, place: str, message: str, page: _Page) -> Iterator[Text]:
    first = f"  {name:<{ID_WIDTH}}"
    if page.has_columns:
        first = f"{first}{place:<{OPERATION_WIDTH}}"
        yield from page.block(message, first=first, indent=" " * len(first))
    else:
        yield from page.block(f"{place}: {message}", first=first, indent=" " * len(first))


def _verdict(run: Run, page: _Page) -> Iterator[Text]:
    style = HEADLINE_STYLES[run.footer.verdict]
    if hygiene_findings(run):
        style = HEADLINE_STYLES[RunVerdict.INCOMPLETE]
    yield from page.block(verdict_line(run), style=style)
