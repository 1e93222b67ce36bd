"""run.jsonl, the only truth of a run: every report is rendered from it alone.

    {"event": "header", ...}                 what was judged, and how
    {"event": "case", ...}                   the evidence: one line per case, as it came in
    {"event": "experiment", ...}             one line per experiment: how it ended
    {"event": "finding", ...}                one line per defect, with its smallest proof
    {"event": "requirement", ...}            one line per requirement: its verdict
    {"event": "footer", ...}                 the verdict of the run; a file without it is no run

Everything is masked before it is written.
"""

import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import Any, Final

from conformance.evidence import Case, Exchange
from conformance.gathered import Gathered
from conformance.ledger import Entry, Finding, Ledger, RunVerdict
from conformance.mask import Mask
from conformance.verdict import Verdict
from receiver.delivery import ReceivedDelivery
from spec.catalogue import Level, Requirement

FORMAT: Final = 1
NAME: Final = "run.jsonl"


class NotARun(Exception):
    """A file that holds no finished run; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What was judged, and how. `started_at` is in unix seconds; `everything` tells whether all requirements were.

    `sections` holds the titles of the document's sections.
    """

    tool_version: str
    target: str
    embedded: bool
    dialect: str
    profile: str
    seed: int
    strict: bool
    everything: bool
    started_at: float
    sections: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Footer:
    """How the run ended. `cut` says why it ended early; `faults` are hookproof's own."""

    verdict: RunVerdict
    exit_code: int
    duration_s: float
    exchanges: int
    deliveries: int
    cut: str | None
    faults: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A finished run as its file tells it."""

    header: Header
    entries: tuple[Entry, ...]
    footer: Footer

    @property
    def ledger(self) -> Ledger:
        """The entries as a ledger, which adds them up."""
        return Ledger(entries=self.entries, cut=self.footer.cut, faults=self.footer.faults)


class RunWriter:
    """Writes a run while it goes on; cases may come from another thread than the rest."""

    def __init__(self, stream: TextIOWrapper, mask: Mask, header: Header):
        self._stream = stream
        self._mask = mask
        self._lock = threading.Lock()
        self.exchanges = 0
        self.deliveries = 0
        self._write("header", {"format": FORMAT, **asdict(header)})

    def case(self, case: Case) -> None:
        """Write evidence; raises TypeError or ValueError if the case's facts are no JSON."""
        self._write("case", self._mask.case(case).to_json())
        self.exchanges += len(case.exchanges)
        self.deliveries += len(case.deliveries)

    def experiment(self, gathered: Gathered) -> None:
        """Write how an experiment ended."""
        self._write(
            "experiment",
            {
                "name": gathered.experiment,
                "ending": gathered.ending.value,
                "reason": self._mask.text(gathered.reason),
                "cases": len(gathered.cases),
                "duration_s": gathered.duration_s,
            },
        )

    def ledger(self, ledger: Ledger, *, strict: bool, duration_s: float) -> Footer:
        """Write the findings, the requirements and the footer."""
        for entry in ledger.entries:
            for finding in entry.findings:
                self._write("finding", _finding_json(self._mask.finding(finding)))
            self._write("requirement", _entry_json(entry, self._mask))
        verdict = ledger.verdict(strict=strict)
        footer = Footer(
            verdict=verdict,
            exit_code=int(verdict.exit_code),
            duration_s=round(duration_s, 3),
            exchanges=self.exchanges,
            deliveries=self.deliveries,
            cut=None if ledger.cut is None else self._mask.text(ledger.cut),
            faults=tuple(map(self._mask.text, ledger.faults)),
        )
        self._write("footer", asdict(footer))
        return footer

    def _write(self, event: str, members: Mapping[str, Any]) -> None:
        line = json.dumps({"event": event, **members}, separators=(",", ":"), allow_nan=False) + "\n"
        with self._lock:
            self._stream.write(line)
            self._stream.flush()


def read_run(path: Path) -> Run:
    """The finished run in a file; raises NotARun."""
    try:
        with path.open(encoding="utf-8") as stream:
            return _run(path, stream)
    except OSError as error:
        raise NotARun(f"{path} cannot be read: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise NotARun(f"{path} holds no run of hookproof: {type(error).__name__}: {error}") from None


def _run(path: Path, lines: Iterable[str]) -> Run:
    events: dict[str, list[Mapping[str, Any]]] = {}
    for line in lines:
        # Evidence makes up nearly all of the file, and no report needs it.
        if not line.startswith('{"event":"case"'):
            event = json.loads(line)
            events.setdefault(event.pop("event"), []).append(event)
    if len(events.get("header", ())) != 1 or events["header"][0].get("format") != FORMAT:
        raise NotARun(f"{path} holds no run of this version of hookproof: it has no header of format {FORMAT}")
    if len(events.get("footer", ())) != 1:
        raise NotARun(f"{path} has no footer: the run did not come to its end, so it says nothing")
    header = {name: value for name, value in events["header"][0].items() if name != "format"}
    footer = events["footer"][0]
    findings = [_finding_of(event) for event in events.get("finding", ())]
    return Run(
        header=Header(**header),
        entries=tuple(_entry_of(event, findings) for event in events.get("requirement", ())),
        footer=Footer(**{**footer, "verdict": RunVerdict(footer["verdict"]), "faults": tuple(footer["faults"])}),
    )


def _finding_json(finding: Finding) -> dict[str, Any]:
    return {
        "requirement": finding.requirement,
        "check": finding.check,
        "message": finding.message,
        "expected": finding.expected,
        "actual": finding.actual,
        "count": finding.count,
        "experiment": finding.experiment,
        "case": finding.case,
        "exchanges": [one.to_json() for one in finding.exchanges],
        "deliveries": [one.to_json() for one in finding.deliveries],
    }


def _finding_of(event: Mapping[str, Any]) -> Finding:
    exchanges = tuple(map(Exchange.from_json, event["exchanges"]))
    deliveries = tuple(map(ReceivedDelivery.from_json, event["deliveries"]))
    return Finding(**{**event, "exchanges": exchanges, "deliveries": deliveries})


def _entry_json(entry: Entry, mask: Mask) -> dict[str, Any]:
    requirement = entry.requirement
    return {
        "id": requirement.id,
        "section": requirement.section,
        "level": requirement.level.value,
        "operations": list(requirement.operations),
        "text": requirement.text,
        "gaps": list(requirement.gaps),
        "untestable": requirement.untestable,
        "verdict": entry.verdict.key,
        "exercised": entry.exercised,
        "checks": list(entry.checks),
        "reasons": [mask.text(reason) for reason in entry.reasons],
    }


def _entry_of(event: Mapping[str, Any], findings: Sequence[Finding]) -> Entry:
    return Entry(
        requirement=Requirement(
            id=event["id"],
            section=event["section"],
            level=Level(event["level"]),
            operations=tuple(event["operations"]),
            text=event["text"],
            gaps=tuple(event["gaps"]),
            untestable=event["untestable"],
        ),
        verdict=Verdict[event["verdict"].upper()],
        exercised=event["exercised"],
        checks=tuple(event["checks"]),
        findings=tuple(finding for finding in findings if finding.requirement == event["id"]),
        reasons=tuple(event["reasons"]),
    )
