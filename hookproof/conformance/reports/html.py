"""report.html: one page that needs no network, no script and no other file.

Everything that comes from a target is escaped by the template, and its control characters are
written out, so that nothing in a hostile answer is executed.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import Final

from jinja2 import Environment
from markupsafe import Markup

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.ledger import Entry, Finding, RunVerdict
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.reports.summary import (
    HEADLINES,
    SHOWN_ORDER,
    flaky_words,
    hygiene_findings,
    notes,
)
from hookproof.conformance.reports.texts.difference import Part, marked
from hookproof.conformance.reports.texts.printable_text import (
    delivery_shown,
    request_shown,
    response_shown,
)
from hookproof.conformance.reports.texts.repeat_script import repeat_script
from hookproof.conformance.reports.timeline import experiments_timeline, timeline
from hookproof.conformance.results.defects import Defect, defects
from hookproof.conformance.results.run_file import Run
from hookproof.pages import StyleRules, page_source, page_templates, policy_element
from hookproof.process.terminal_text import printable_lines
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.catalogue import Level

MOST_EXCHANGES: Final = 8
MOST_DELIVERIES: Final = 8
MOST_EVENTS: Final = 40
# Where the policy and the style go, which are known once the page is rendered.
HEAD_MARK: Final = "<!-- policy and style -->"
# A sign for each verdict, so that readers need not distinguish colours (WCAG 1.4.1).
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
        return counted(self.entries)

    @property
    def is_open(self) -> bool:
        """Whether there is something to see in it: findings, or what could not be judged."""
        return any(entry.findings or entry.verdict is Verdict.ERROR for entry in self.entries)


def report_templates() -> Environment:
    return page_templates(
        "hookproof.conformance.reports.page", finalize=_without_control_characters
    )


def html_text(run: Run) -> str:
    templates = report_templates()
    style = page_source(templates, "report.css")
    script = page_source(templates, "filter.js", "report.js")
    run_defects, rules = defects(run.entries), StyleRules()
    page = templates.get_template("report.html").render(
        run=run,
        head_mark=HEAD_MARK,
        script=script,
        class_of=rules.class_of,
        headline=HEADLINES[run.footer.verdict],
        tone=TONES[run.footer.verdict],
        started=datetime.fromtimestamp(run.header.started_at, UTC).strftime(
            "%Y-%m-%d %H:%M:%S UTC"
        ),
        hygiene=len(hygiene_findings(run)),
        levels=[
            (
                level,
                counted(e for e in run.entries if e.requirement.level is level),
                run.ledger.consequences[level],
            )
            for level in Level
        ],
        notes=list(notes(run)),
        defects=run_defects,
        anchors=_anchors(run_defects),
        sections=_sections(run),
        verdicts=SHOWN_ORDER,
        signs=SIGNS,
        repeat_script=repeat_script,
        marked=marked,
        flaky=flaky_words,
        timeline=timeline,
        experiments=experiments_timeline(run),
        most_events=MOST_EVENTS,
        exchanges=_exchanges,
        deliveries=_deliveries,
    )
    style += rules.text()
    policy = policy_element(styles=[style], scripts=[script])
    # The first mark is the page's own: it precedes all that comes from a target.
    return page.replace(HEAD_MARK, f"{policy}\n<style>{style}</style>", 1)


def counted(entries: Iterable[Entry]) -> list[tuple[Verdict, int]]:
    """The verdicts that occur among entries, in the order in which they are shown."""
    counts = Counter(entry.verdict for entry in entries)
    return [(verdict, counts[verdict]) for verdict in SHOWN_ORDER if counts[verdict]]


def _without_control_characters(value: object) -> object:
    """What a template prints, without control characters; the page's own markup stays as it is."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return printable_lines(value)
    return value


def _sections(run: Run) -> list[Section]:
    grouped = groupby(run.entries, key=lambda entry: entry.requirement.section)
    titles = run.header.sections
    return [
        Section(number=name, title=titles.get(name, ""), entries=tuple(entries))
        for name, entries in grouped
    ]


def _anchors(run_defects: Sequence[Defect]) -> dict[str, list[int]]:
    """The numbers of the defects that break each requirement or entail its failure, from 1."""
    anchors: dict[str, list[int]] = {}
    for number, defect in enumerate(run_defects, 1):
        for broken in (*defect.all, *defect.follows):
            numbers = anchors.setdefault(broken.entry.requirement.id, [])
            if number not in numbers:
                numbers.append(number)
    return anchors


def _exchanges(exchanges: Sequence[Exchange]) -> list[tuple[Exchange, str, str]]:
    """The last exchanges of a proof with their requests and responses as text."""
    return [
        (exchange, request_shown(exchange), response_shown(exchange))
        for exchange in exchanges[-MOST_EXCHANGES:]
    ]


def _deliveries(finding: Finding) -> list[tuple[ReceivedDelivery, list[Part]]]:
    return [
        (delivery, delivery_shown(delivery, finding.marks))
        for delivery in finding.deliveries[:MOST_DELIVERIES]
    ]
