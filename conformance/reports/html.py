"""report.html: one page that needs no network, no script and no other file.

Everything that comes from a target goes through the template's escaping and has its control
characters written out, so that a hostile answer is read and not obeyed.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.ledger import Entry, RunVerdict
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.reports.printable_text import (
    delivery_shown,
    printable_lines,
    request_shown,
    response_shown,
)
from hookproof.conformance.reports.summary import HEADLINES, SHOWN_ORDER, flaky_words, notes
from hookproof.conformance.reports.timeline import timeline
from hookproof.conformance.results.curl_command import curl
from hookproof.conformance.results.defects import Defect, defects
from hookproof.conformance.results.run_file import Run
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.catalogue import Level

MOST_EXCHANGES: Final = 8
MOST_DELIVERIES: Final = 8
MOST_MOMENTS: Final = 40
# A sign for each verdict, so that nobody has to tell colours apart.
SIGNS: Final = {
    Verdict.PASS: "✓",
    Verdict.FAIL: "✗",
    Verdict.ERROR: "!",
    Verdict.NOT_EXERCISED: "○",
    Verdict.NOT_APPLICABLE: "·",
}

# The verdict whose colour a run's verdict has.
TONES: Final = {
    RunVerdict.CONFORMS: Verdict.PASS,
    RunVerdict.DOES_NOT_CONFORM: Verdict.FAIL,
    RunVerdict.INCOMPLETE: Verdict.NOT_EXERCISED,
    RunVerdict.ERROR: Verdict.ERROR,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A section of the document with its entries, and how many of them have each verdict."""

    number: str
    title: str
    entries: tuple[Entry, ...]

    @property
    def counts(self) -> list[tuple[Verdict, int]]:
        """The verdicts that occur, with their numbers."""
        return counted(self.entries)


def html_text(run: Run) -> str:
    """The page of a run."""
    page = Environment(
        loader=PackageLoader("hookproof.conformance.reports", "page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_harmless,
    ).get_template("report.html")
    found = defects(run.entries)
    return page.render(
        run=run,
        headline=HEADLINES[run.footer.verdict],
        tone=TONES[run.footer.verdict],
        started=datetime.fromtimestamp(run.header.started_at, UTC).strftime(
            "%Y-%m-%d %H:%M:%S UTC"
        ),
        levels=[
            (level, counted(e for e in run.entries if e.requirement.level is level))
            for level in Level
        ],
        notes=list(notes(run)),
        defects=found,
        anchors=_anchors(found),
        sections=_sections(run),
        verdicts=SHOWN_ORDER,
        signs=SIGNS,
        curl=curl,
        flaky=flaky_words,
        moments=timeline,
        most_moments=MOST_MOMENTS,
        exchanges=_exchanges,
        deliveries=_deliveries,
    )


def counted(entries: Iterable[Entry]) -> list[tuple[Verdict, int]]:
    """The verdicts that occur among entries, in the order in which they are shown."""
    counts = Counter(entry.verdict for entry in entries)
    return [(verdict, counts[verdict]) for verdict in SHOWN_ORDER if counts[verdict]]


def _harmless(value: object) -> object:
    """What a template prints, without control characters; the page's own markup stays as it is."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return printable_lines(value)
    return value


def _sections(run: Run) -> list[Section]:
    grouped = groupby(run.entries, key=lambda entry: entry.requirement.section)
    titles = run.header.sections
    return [
        Section(number=name, title=titles.get(name, ""), entries=tuple(found))
        for name, found in grouped
    ]


def _anchors(found: Sequence[Defect]) -> dict[str, list[int]]:
    """The numbers of the defects that break each requirement, from 1."""
    anchors: dict[str, list[int]] = {}
    for number, defect in enumerate(found, 1):
        for one in defect.all:
            numbers = anchors.setdefault(one.entry.requirement.id, [])
            if number not in numbers:
                numbers.append(number)
    return anchors


def _exchanges(exchanges: Sequence[Exchange]) -> list[tuple[Exchange, str, str]]:
    """The last exchanges of a proof, at which it ends, as they went over the wire."""
    return [(one, request_shown(one), response_shown(one)) for one in exchanges[-MOST_EXCHANGES:]]


def _deliveries(deliveries: Sequence[ReceivedDelivery]) -> list[tuple[ReceivedDelivery, str]]:
    return [(one, delivery_shown(one)) for one in deliveries[:MOST_DELIVERIES]]
