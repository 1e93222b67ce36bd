"""A finished run made by hand, written to a file and read back, for the tests of the file and of
the reports.
"""

from dataclasses import replace
from pathlib import Path

from hookproof.conformance.model.gathered_evidence import Gathered
from hookproof.conformance.model.ledger import Entry, Finding, Ledger
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.results.redaction import Mask
from hookproof.conformance.results.run_file import NAME, Header, Run, RunWriter, read_run
from hookproof.conformance.target.definition import Project
from hookproof.spec.catalogue import Level, Requirement
from hookproof.spec.dialect.writer import written_dialect
from tests.conformance.canned_evidence import context, delivery, exchange

PROJECTS = (Project(id="p1", api_key="key-one"), Project(id="p2", api_key="key-two"))


def requirement(name: str, level: Level = Level.STATED, text: str = "") -> Requirement:
    return Requirement(
        id=name,
        section=name.rpartition("-")[0],
        level=level,
        operations=("createEndpoint",),
        text=text or f"Requirement {name} holds.",
        gaps=(),
        untestable=None,
    )


def finding(name: str = "4.1-2") -> Finding:
    return Finding(
        requirement=name,
        check="what_was_sent_comes_back",
        message="The name that came back is another one",
        expected="'it'",
        actual="'\x1b[31mred' for key-one",
        exchanges=(
            exchange(request={"name": "it"}),
            exchange("fetch", "getEndpoint", path={"endpointID": "e1"}),
        ),
        deliveries=(delivery(),),
        count=3,
        experiment="round_trip",
        case="name",
    )


def passed(name: str = "4.1-1", level: Level = Level.STATED) -> Entry:
    return Entry(
        requirement=requirement(name, level),
        verdict=Verdict.PASS,
        exercised=12,
        checks=("a_check",),
    )


def failed(name: str = "4.1-2", level: Level = Level.STATED) -> Entry:
    return Entry(
        requirement=requirement(
            name, level, "The name of a new endpoint is the one that was sent."
        ),
        verdict=Verdict.FAIL,
        exercised=4,
        checks=("what_was_sent_comes_back",),
        findings=(finding(name),),
    )


def not_exercised(name: str = "4.4-1", level: Level = Level.STATED) -> Entry:
    reasons = ("The project has no portal link; make one.",)
    return Entry(
        requirement=requirement(name, level), verdict=Verdict.NOT_EXERCISED, reasons=reasons
    )


def header(*, everything: bool = True, strict: bool = False) -> Header:
    return Header(
        tool_version="0.1.0",
        target="http://target.invalid",
        embedded=False,
        dialect="reference",
        profile="standard",
        seed=7,
        strict=strict,
        everything=everything,
        started_at=1_800_000_000.0,
        sections={"4.1": "Create an endpoint", "4.4": "List portal links"},
        answers=written_dialect(context().dialect),
    )


def masked(entry: Entry) -> Entry:
    """The entry that the same evidence would give once it is masked."""
    mask = Mask(PROJECTS, context().dialect)
    findings = tuple(
        replace(
            each,
            actual=mask.text(each.actual),
            exchanges=tuple(map(mask.exchange, each.exchanges)),
        )
        for each in entry.findings
    )
    return replace(entry, findings=findings)


def finished_run(
    folder: Path,
    *entries: Entry,
    cut: str | None = None,
    faults: tuple[str, ...] = (),
    stale: tuple[str, ...] = (),
    run_header: Header | None = None,
) -> Run:
    """Write the run file of a run with these entries, and read it back."""
    run_header = run_header or header()
    ledger = Ledger(entries=tuple(map(masked, entries)), cut=cut, faults=faults, stale=stale)
    with (folder / NAME).open("wb", buffering=0) as stream:
        writer = RunWriter(stream, run_header)
        for name, began_s, duration_s in (("sweep", 1.5, 6.0), ("round_trip", 0.25, 2.0)):
            writer.experiment(
                Gathered(experiment=name, observations=(), began_s=began_s, duration_s=duration_s)
            )
        writer.ledger(ledger, strict=run_header.strict, duration_s=21.4)
    return read_run(folder / NAME)
