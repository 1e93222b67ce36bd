"""The console report: sections, what failed and how to see it again, what was not exercised, and the verdict line."""

import os
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final, TextIO

from rich.console import Console
from rich.text import Text

from conformance.ledger import Entry, Finding, Ledger, RunVerdict
from conformance.reproduction import curl
from conformance.run_file import Run
from conformance.verdict import Verdict
from spec.catalogue import Level

HEADLINES: Final = {
    RunVerdict.CONFORMS: ("CONFORMS", "bold green"),
    RunVerdict.DOES_NOT_CONFORM: ("DOES NOT CONFORM", "bold red"),
    RunVerdict.INCOMPLETE: ("INCOMPLETE", "bold yellow"),
    RunVerdict.ERROR: ("ERROR", "bold magenta"),
}
STYLES: Final = {
    Verdict.PASS: "green",
    Verdict.FAIL: "red",
    Verdict.ERROR: "magenta",
    Verdict.NOT_EXERCISED: "yellow",
    Verdict.NOT_APPLICABLE: "dim",
}
WORDS: Final = {
    Verdict.PASS: "pass",
    Verdict.FAIL: "FAIL",
    Verdict.ERROR: "ERROR",
    Verdict.NOT_EXERCISED: "not exercised",
    Verdict.NOT_APPLICABLE: "not applicable",
}
SHOWN_ORDER: Final = (Verdict.PASS, Verdict.FAIL, Verdict.ERROR, Verdict.NOT_EXERCISED, Verdict.NOT_APPLICABLE)
NARROWEST: Final = 40
"""In columns; a narrower terminal breaks lines by itself."""
WIDE: Final = 100
"""In columns; from here on there is room for the sections' titles."""


def show(run: Run, stream: TextIO = sys.stdout, environment: Mapping[str, str] = os.environ) -> None:
    """Write the report of a run; in colour and wrapped only where `stream` is a terminal (NO_COLOR is obeyed)."""
    console = Console(file=stream, highlight=False, markup=False, emoji=False, _environ=environment)
    width = max(NARROWEST, console.width) if console.is_terminal else None
    for line in lines(run, width=width):
        console.print(line, soft_wrap=True)


def lines(run: Run, *, width: int | None = None) -> Iterator[Text]:
    """The report line by line, wrapped to `width` columns if that is given."""
    page = _Page(width)
    header = run.header
    target = f"{header.target} (embedded)" if header.embedded else header.target
    yield from page.block(f"hookproof {header.tool_version} · {target} · dialect {header.dialect} · {header.profile}")
    yield Text()
    yield from _sections(run, page)
    yield from _failures(run, page)
    yield from _errors(run, page)
    yield from _not_exercised(run, page)
    yield from _notes(run, page)
    yield from _verdict(run, page)


class _Page:
    """Wraps blocks of text with a hanging indent."""

    def __init__(self, width: int | None):
        self._width = width
        self.is_narrow = width is not None and width < WIDE

    def block(self, text: str, *, first: str = "", indent: str = "", style: str = "", raw: bool = False) -> list[Text]:
        """A text after `first`, each further line after `indent`; a raw one keeps its lines as they are."""
        whole = printable(text)
        if self._width is None or raw:
            return [Text(first + whole, style=style)]
        wrapped = textwrap.wrap(whole, self._width, initial_indent=first, subsequent_indent=indent)
        return [Text(line, style=style) for line in wrapped or [first]]


def _sections(run: Run, page: _Page) -> Iterator[Text]:
    for section, entries in groupby(run.entries, key=lambda entry: entry.requirement.section):
        verdicts = [entry.verdict for entry in entries]
        counts = [
            (f"{verdicts.count(verdict)} {WORDS[verdict]}", STYLES[verdict])
            for verdict in SHOWN_ORDER
            if verdict in verdicts
        ]
        if page.is_narrow:
            told = ", ".join(count for count, _ in counts)
            yield from page.block(told, first=f"{section:<5}", indent=" " * 5, style=STYLES[max(verdicts)])
        else:
            title = f"{section:<5}{run.header.sections.get(section, ''):<32.32}"
            yield Text.assemble(title, *((f"  {count}", style) for count, style in counts))


def _failures(run: Run, page: _Page) -> Iterator[Text]:
    failed = [entry for entry in run.entries if entry.findings]
    for entry in failed:
        yield Text()
        yield from _sentence(run, entry, page)
        for finding in entry.findings:
            yield from _finding(finding, page)


def _sentence(run: Run, entry: Entry, page: _Page) -> Iterator[Text]:
    requirement = entry.requirement
    where = f"{requirement.level} · section {requirement.section}, {run.header.sections.get(requirement.section, '')}"
    title = f"{WORDS[entry.verdict]} {requirement.id} · {where}"
    yield from page.block(title, style=f"bold {STYLES[entry.verdict]}")
    yield from page.block(requirement.text, first="  ", indent="  ")


def _finding(finding: Finding, page: _Page) -> Iterator[Text]:
    times = "once" if finding.count == 1 else f"{finding.count} times"
    yield from page.block(finding.message, first="  found     ", indent=" " * 12)
    yield from page.block(finding.expected, first="  expected  ", indent=" " * 12)
    yield from page.block(finding.actual, first="  actual    ", indent=" " * 12)
    seen = f"{times}, first in {finding.experiment}: {finding.case} (check {finding.check})"
    yield from page.block(seen, first="  seen      ", indent=" " * 12, style="dim")
    for number, command in enumerate(curl(finding.exchanges).splitlines()):
        yield from page.block(command, first="  again     " if number == 0 else " " * 12, style="cyan", raw=True)


def _errors(run: Run, page: _Page) -> Iterator[Text]:
    broken = [entry for entry in run.entries if entry.verdict is Verdict.ERROR]
    yield from _by_reason(broken, "Not judged, through a fault of hookproof:", Verdict.ERROR, page)


def _not_exercised(run: Run, page: _Page) -> Iterator[Text]:
    idle = [entry for entry in run.entries if entry.verdict is Verdict.NOT_EXERCISED]
    yield from _by_reason(idle, "Not exercised:", Verdict.NOT_EXERCISED, page)


def _by_reason(entries: Sequence[Entry], title: str, verdict: Verdict, page: _Page) -> Iterator[Text]:
    """Requirements under what they have in common, since one cause often keeps many of them from being judged."""
    groups: dict[tuple[str, ...], list[Entry]] = {}
    for entry in entries:
        groups.setdefault(entry.reasons, []).append(entry)
    if groups:
        yield Text()
        yield Text(title, style=f"bold {STYLES[verdict]}")
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
    notes = [f"A fault of hookproof itself: {fault}" for fault in run.footer.faults]
    if run.footer.cut:
        notes.append(f"The run ended before all was tried: {run.footer.cut}.")
    if not run.header.everything:
        count = len(run.entries)
        selected = "1 requirement was" if count == 1 else f"{count} requirements were"
        notes.append(f"Only {selected} selected; the others were not judged.")
    if run.header.embedded and any(entry.findings for entry in run.entries):
        notes.append("The embedded server has ended; to repeat a command, start `hookproof serve` and use its address.")
    yield Text()
    for note in notes:
        yield from page.block(note, style="yellow")


def _verdict(run: Run, page: _Page) -> Iterator[Text]:
    headline, style = HEADLINES[run.footer.verdict]
    parts = [*tallies(run.ledger), f"seed {run.header.seed}", f"{run.footer.duration_s:.1f} s"]
    yield from page.block(f"{headline}  {' · '.join(parts)}", style=style)


def tallies(ledger: Ledger) -> list[str]:
    """How many requirements of each level passed, out of those that apply, and how many were not exercised."""
    told = []
    for level in Level:
        counts = ledger.totals[level]
        applicable = sum(counts.values()) - counts[Verdict.NOT_APPLICABLE]
        if applicable:
            told.append(f"{level} {counts[Verdict.PASS]}/{applicable}")
    idle = sum(counts[Verdict.NOT_EXERCISED] for counts in ledger.totals.values())
    return [*told, f"not exercised {idle}"]


def printable(text: str) -> str:
    """A text without control characters: what a target answers must not steer the reader's terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
