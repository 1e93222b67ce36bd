"""run.jsonl, the only truth of a run: every report is rendered from it alone.

    {"event": "header", ...}                 what was judged, and how {"event": "case", ...}
    the evidence: one line per case, as it came in {"event": "judgements", ...}             what a
    check said of a case that it cannot judge again from this file {"event": "experiment", ...}
    one line per experiment: how it ended {"event": "shrunk", ...}                 a finding whose
    proof is a smaller request that was tried afterwards {"event": "finding", ...}
    one line per defect, with its smallest proof {"event": "requirement", ...}            one line
    per requirement: its verdict {"event": "footer", ...}                 the verdict of the run; a
    file without it is no run

Everything is masked before it is written. `stored_evidence.py` reads the evidence back, the reports
need none of it.
"""

import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from io import TextIOWrapper
from pathlib import Path
from typing import Any, Final

from hookproof.conformance.model.evidence import Case
from hookproof.conformance.model.gathered_evidence import Gathered
from hookproof.conformance.model.ledger import Entry, Finding, Ledger, RunVerdict
from hookproof.conformance.model.verdict import Judgement
from hookproof.conformance.results.compression import packed_case
from hookproof.conformance.results.finding_records import (
    entry_json,
    entry_of,
    finding_json,
    finding_of,
    judgement_json,
)
from hookproof.conformance.results.redaction import Mask, Masked

FORMAT: Final = 2
NAME: Final = "run.jsonl"


class NotARun(Exception):
    """A file that holds no finished run; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What was judged, and how. `started_at` is in unix seconds; `everything` tells whether all
    requirements were.

    `sections` holds the titles of the document's sections, `answers` the dialect whole, so that the
    evidence can be judged again when its file has changed, `baseline` the entries of the baseline
    as they stand in its file.
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
    answers: Mapping[str, Any]
    repetitions: int = 1
    baseline: list[Mapping[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Footer:
    """How the run ended. `cut` says why it ended early; `faults` are hookproof's own.

    `stale` names the entries of the baseline that are no longer right.
    """

    verdict: RunVerdict
    exit_code: int
    duration_s: float
    exchanges: int
    deliveries: int
    cut: str | None
    faults: tuple[str, ...]
    stale: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A finished run as its file tells it."""

    header: Header
    entries: tuple[Entry, ...]
    footer: Footer

    @property
    def ledger(self) -> Ledger:
        """The entries as a ledger, which adds them up."""
        return Ledger(
            entries=self.entries,
            cut=self.footer.cut,
            faults=self.footer.faults,
            stale=self.footer.stale,
        )


class RunWriter:
    """Writes a run while it goes on; cases may come from another thread than the rest.

    `mask` may be replaced between two repetitions.
    """

    def __init__(self, stream: TextIOWrapper, mask: Mask, header: Header):
        self._stream = stream
        self.mask = mask
        self._lock = threading.Lock()
        self.exchanges = 0
        self.deliveries = 0
        self._write("header", {"format": FORMAT, **asdict(header)})

    def case(self, case: Case, repetition: int = 1) -> Masked:
        """Write evidence and give it as it was written; raises TypeError or ValueError if its facts
        are no JSON.
        """
        masked = self.mask.masked(case)
        self._write("case", {**packed_case(masked.case.to_json()), "repetition": repetition})
        self.exchanges += len(case.exchanges)
        self.deliveries += len(case.deliveries)
        return masked

    def judgements(
        self,
        experiment: str,
        place: int,
        check: str,
        judgements: Sequence[Judgement],
        repetition: int = 1,
    ) -> None:
        """Write what a check said of a case of which it would say something else after masking.

        `place` is that of the case among those of its experiment, from 0.
        """
        kept = [judgement_json(self.mask.judgement(one)) for one in judgements]
        where = {"experiment": experiment, "place": place, "repetition": repetition}
        self._write("judgements", {**where, "check": check, "judgements": kept})

    def experiment(self, gathered: Gathered, repetition: int = 1) -> None:
        """Write how an experiment ended."""
        self._write(
            "experiment",
            {
                "name": gathered.experiment,
                "repetition": repetition,
                "ending": gathered.ending.value,
                "reason": self.mask.text(gathered.reason),
                "cases": len(gathered.cases),
                "duration_s": gathered.duration_s,
            },
        )

    def shrunk(self, finding: Finding, requests: int, repetition: int = 1) -> None:
        """Write a finding with its smaller proof, which took so many requests."""
        self._write(
            "shrunk",
            {
                **finding_json(self.mask.finding(finding)),
                "requests": requests,
                "repetition": repetition,
            },
        )

    def ledger(self, ledger: Ledger, *, strict: bool, duration_s: float) -> Footer:
        """Write the findings, the requirements and the footer."""
        for entry in ledger.entries:
            for finding in entry.findings:
                self._write("finding", finding_json(self.mask.finding(finding)))
            self._write("requirement", entry_json(entry, self.mask))
        verdict = ledger.verdict(strict=strict)
        footer = Footer(
            verdict=verdict,
            exit_code=int(verdict.exit_code),
            duration_s=round(duration_s, 3),
            exchanges=self.exchanges,
            deliveries=self.deliveries,
            cut=None if ledger.cut is None else self.mask.text(ledger.cut),
            faults=tuple(map(self.mask.text, ledger.faults)),
            stale=ledger.stale,
        )
        self._write("footer", asdict(footer))
        return footer

    def _write(self, event: str, members: Mapping[str, Any]) -> None:
        line = (
            json.dumps({"event": event, **members}, separators=(",", ":"), allow_nan=False) + "\n"
        )
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
        raise NotARun(
            f"{path} holds no run of hookproof: {type(error).__name__}: {error}"
        ) from None


def _run(path: Path, lines: Iterable[str]) -> Run:
    events: dict[str, list[Mapping[str, Any]]] = {}
    for line in lines:
        # Evidence makes up nearly all of the file, and no report needs it.
        if not line.startswith(('{"event":"case"', '{"event":"judgements"', '{"event":"shrunk"')):
            event = json.loads(line)
            events.setdefault(event.pop("event"), []).append(event)
    if len(events.get("header", ())) != 1 or events["header"][0].get("format") != FORMAT:
        raise NotARun(
            f"{path} holds no run of this version of hookproof: it has no header of format {FORMAT}"
        )
    if len(events.get("footer", ())) != 1:
        raise NotARun(f"{path} has no footer: the run did not come to its end, so it says nothing")
    header = {name: value for name, value in events["header"][0].items() if name != "format"}
    footer = events["footer"][0]
    findings = [finding_of(event) for event in events.get("finding", ())]
    return Run(
        header=Header(**header),
        entries=tuple(entry_of(event, findings) for event in events.get("requirement", ())),
        footer=Footer(
            **{
                **footer,
                "verdict": RunVerdict(footer["verdict"]),
                "faults": tuple(footer["faults"]),
                "stale": tuple(footer["stale"]),
            }
        ),
    )
