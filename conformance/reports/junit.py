"""junit.xml, in the format that CI systems read: a suite per section of the document, a case per
requirement.

`failure` is a failure of the target, `error` one of hookproof, and `skipped` is what was not
exercised, is not applicable, or does not count: a failure that the baseline accepts, one that only
follows from another, or one of hygiene without --strict. So a CI system that reads only this file
reaches the verdict of the exit code. A run that was cut short or broke has one more case, which is
an error.

The time of a case is that of what shows its verdict, from the first request to the last answer or
delivery. Experiments run side by side, so that the cases together may take longer than the run.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import groupby
from typing import Final
from xml.etree import ElementTree as ET

from hookproof.conformance.model.ledger import Entry, counts
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.reports.summary import flaky_words, where
from hookproof.conformance.reports.timeline import timeline
from hookproof.conformance.results.curl_command import curl
from hookproof.conformance.results.run_file import Run
from hookproof.process.terminal_text import printable, printable_lines

MOST_EVENTS: Final = 20
OUTCOMES: Final = ("failure", "error", "skipped")


def junit_text(run: Run) -> str:
    suites = ET.Element("testsuites", name="hookproof")
    for section, entries in groupby(run.entries, key=lambda entry: entry.requirement.section):
        name = f"{section} {run.header.sections.get(section, '')}".strip()
        _suite(suites, run, name, [_case(run, entry) for entry in entries])
    if run.footer.cut or run.footer.faults or run.footer.stale:
        _suite(suites, run, "the run as a whole", [_whole(run)])
    _count(suites, suites.iter("testcase"))
    suites.set("time", _seconds(run.footer.duration_s))
    ET.indent(suites, " ")
    return ET.tostring(suites, encoding="unicode", xml_declaration=False).join(
        ('<?xml version="1.0" encoding="UTF-8"?>\n', "\n")
    )


def _suite(suites: ET.Element, run: Run, name: str, cases: list[ET.Element]) -> None:
    began = datetime.fromtimestamp(run.header.started_at, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    suite = ET.SubElement(suites, "testsuite", name=printable(name))
    _count(suite, cases)
    suite.set("time", _seconds(sum(float(case.attrib["time"]) for case in cases)))
    suite.set("timestamp", began)
    suite.set("hostname", "localhost")
    properties = ET.SubElement(suite, "properties")
    header = run.header
    for key, value in (
        ("target", header.target),
        ("dialect", header.dialect),
        ("profile", header.profile),
    ):
        ET.SubElement(properties, "property", name=key, value=printable(value))
    ET.SubElement(properties, "property", name="seed", value=str(header.seed))
    suite.extend(cases)


def _seconds(seconds: float) -> str:
    return f"{seconds:.3f}"


def _count(element: ET.Element, cases: Iterable[ET.Element]) -> None:
    counted = list(cases)
    element.set("tests", str(len(counted)))
    for outcome, attribute in zip(OUTCOMES, ("failures", "errors", "skipped"), strict=True):
        element.set(attribute, str(sum(case.find(outcome) is not None for case in counted)))


def _case(run: Run, entry: Entry) -> ET.Element:
    requirement = entry.requirement
    name = printable(f"{requirement.id} {requirement.text}")
    case = ET.Element(
        "testcase",
        name=name,
        classname=f"hookproof.{requirement.level}.{requirement.section}",
        time=_seconds(entry.lasted_s),
    )
    outcome = _outcome(run, entry)
    if outcome:
        kind, message = outcome
        child = ET.SubElement(case, kind, message=printable(message))
        if kind != "skipped":
            child.set("type", kind)
        text = "\n".join(_details(run, entry))
        if text:
            child.text = printable_lines(text)
    return case


def _outcome(run: Run, entry: Entry) -> tuple[str, str] | None:
    """The child of a case, and its message; None for a requirement that passed."""
    reasons = " ".join(entry.reasons)
    match entry.verdict:
        case Verdict.PASS:
            return None
        case Verdict.ERROR:
            return "error", reasons or "hookproof could not judge it"
        case Verdict.FAIL:
            return _failure(run, entry)
        case _:
            accepted = f" The baseline accepts it: {entry.accepted}" if entry.accepted else ""
            return "skipped", f"{entry.verdict.words}: {reasons}{accepted}"


def _failure(run: Run, entry: Entry) -> tuple[str, str]:
    shown = entry.own_findings or entry.findings
    words = shown[0].message if shown else entry.requirement.text
    if entry.accepted:
        return "skipped", f"fails, and the baseline accepts it: {entry.accepted}"
    if entry.follows_from:
        return "skipped", f"fails, as follows from {', '.join(entry.follows_from)}: {words}"
    if not counts(entry, strict=run.header.strict):
        return "skipped", f"fails, and counts only with --strict: {words}"
    return "failure", words


def _details(run: Run, entry: Entry) -> Iterator[str]:
    if entry.findings:
        yield entry.requirement.text
        yield where(run, entry)
    if entry.seen:
        yield flaky_words(entry)
    for finding in entry.findings:
        yield ""
        yield f"found:    {finding.message}"
        yield f"expected: {finding.expected}"
        yield f"actual:   {finding.actual}"
        yield f"seen:     {finding.sightings} (check {finding.check})"
        if finding.follows_from:
            yield f"follows:  from {', '.join(finding.follows_from)}"
        yield from (event.words for event in timeline(finding)[:MOST_EVENTS])
        if finding.exchanges:
            yield curl(finding.exchanges)


def _whole(run: Run) -> ET.Element:
    """A case for what belongs to no requirement: the run ended early, or the baseline is stale."""
    case = ET.Element(
        "testcase", name="the run came to its end", classname="hookproof.run", time=_seconds(0)
    )
    stale = [f"The baseline is stale: {words}." for words in run.footer.stale]
    broken = [
        *([f"The run ended early: {run.footer.cut}."] if run.footer.cut else []),
        *run.footer.faults,
    ]
    kind = "error" if broken else "failure"
    child = ET.SubElement(case, kind, message=printable(" ".join([*broken, *stale])), type=kind)
    child.text = printable_lines("\n".join([*broken, *stale]))
    return case
