"""junit.xml, in the format that CI systems read: a suite per section of the document, a case per
requirement.

A failure that does not count is skipped (`outcome.py`), so a CI system that reads only this file
reaches the verdict of the exit code. A run that was cut short or broke has one more case, which is
an error.

The time of a case is that of what shows its verdict, from the first request to the last answer or
delivery. Experiments run side by side, so that the cases together may take longer than the run.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

import click

from hookproof.conformance.model.ledger import Entry
from hookproof.conformance.reports.ci.outcome import (
    THE_RUN,
    CaseOutcome,
    outcome_of,
    outcome_of_the_run,
)
from hookproof.conformance.results.run_file import Run
from hookproof.process.terminal_text import printable, printable_lines
from hookproof.process.written_file import FileNotWritten, write_file

JUNIT: Final = "junit.xml"
OUTCOMES: Final = ("failure", "error", "skipped")


def junit_text(run: Run) -> str:
    suites = ET.Element("testsuites", name="hookproof")
    for section, entries in groupby(run.entries, key=lambda entry: entry.requirement.section):
        name = f"{section} {run.header.sections.get(section, '')}".strip()
        _suite(suites, run, name, [_case(run, entry) for entry in entries])
    if (whole := outcome_of_the_run(run)) is not None:
        _suite(suites, run, "the run as a whole", [_whole(whole)])
    _count(suites, suites.iter("testcase"))
    suites.set("time", _seconds(run.footer.duration_s))
    return _xml(suites)


@contextmanager
def reported_failure(out: Path) -> Iterator[None]:
    """Write the error that keeps a run from beginning into the junit.xml of its folder, for a CI
    system that reads nothing else; where it cannot be written the error is raised alone.
    """
    try:
        yield
    except click.ClickException as error:
        with suppress(FileNotWritten):
            write_file(out / JUNIT, failure_text(error.format_message()))
        raise


def failure_text(message: str) -> str:
    """The file of a run that did not begin: one case, which is an error."""
    suites = ET.Element("testsuites", name="hookproof")
    case = _whole(CaseOutcome(kind="error", message=message, details=message))
    _count(suites, [case])
    suite = ET.SubElement(suites, "testsuite", name="the run as a whole")
    _count(suite, [case])
    suite.append(case)
    return _xml(suites)


def _xml(suites: ET.Element) -> str:
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
    outcome = outcome_of(run, entry)
    if outcome is not None:
        _add(case, outcome)
    return case


def _whole(outcome: CaseOutcome) -> ET.Element:
    case = ET.Element("testcase", name=THE_RUN, classname="hookproof.run", time=_seconds(0))
    _add(case, outcome)
    return case


def _add(case: ET.Element, outcome: CaseOutcome) -> None:
    child = ET.SubElement(case, outcome.kind, message=printable(outcome.message))
    if outcome.kind != "skipped":
        child.set("type", outcome.kind)
    if outcome.details:
        child.text = printable_lines(outcome.details)
