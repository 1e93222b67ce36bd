"""Judges a finished run again from its file: the same evidence, the checks of this version."""

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from hookproof.conformance.checks import all_checks
from hookproof.conformance.experiments import all_experiments
from hookproof.conformance.grading.disagreements import disagreements
from hookproof.conformance.grading.grader import Grader
from hookproof.conformance.model.check_registry import CheckContext
from hookproof.conformance.model.disagreement import Disagreement
from hookproof.conformance.model.evidence import Evidence
from hookproof.conformance.model.gathered_evidence import Ending
from hookproof.conformance.model.ledger import Entry, Ledger, RunVerdict
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.results.baseline import Expectation, apply_baseline
from hookproof.conformance.results.documented_fields import FieldCounter
from hookproof.conformance.results.run_file import (
    EVIDENCE,
    FIELDS,
    NAME,
    CutOff,
    Footer,
    Header,
    Run,
    RunWriter,
    open_run,
    read_run,
    run_path,
)
from hookproof.conformance.results.stored_evidence import Repetition, Unended, read_evidence
from hookproof.conformance.run.selection import needed_experiments
from hookproof.conformance.run.shrinking import reapply_shrinking
from hookproof.process.exit_codes import ExitCode
from hookproof.process.written_file import write_whole
from hookproof.spec.catalogue import Catalogue, Requirement, load_catalogue
from hookproof.spec.contract.service_contract import contract_for
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.reader import load_dialect_mapping

EXPERIMENT: Final = '{"event":"experiment"'


@dataclass(frozen=True, slots=True, kw_only=True)
class Regraded:
    """A stored run, and the ledger of its evidence under the present checks and `dialect`."""

    run: Run
    ledger: Ledger
    dialect: Dialect
    disagreements: tuple[Disagreement, ...] = ()


def regrade_run(folder: Path, dialect: Dialect | None = None) -> Regraded:
    """Judge the evidence in a folder or a pack again, by default under the dialect of the run.

    Raises NotARun, and FileProblems if the stored dialect can no longer be read.
    """
    path = run_path(folder)
    run = read_run(path)
    before = load_dialect_mapping(run.header.answers, f"{path}: answers")
    used = dialect or before
    repetitions = read_evidence(path)
    ledger = judged_again(run, repetitions, used, before)
    evidence = [each for repetition in repetitions for each in repetition.observations]
    found = disagreements(ledger.entries, evidence, used, before, all_checks())
    return Regraded(run=run, ledger=ledger, dialect=used, disagreements=found)


def judged_again(
    run: Run, repetitions: Iterable[Repetition], dialect: Dialect, examined_by: Dialect
) -> Ledger:
    """The ledger of a run's evidence under a dialect; that of the run has examined it."""
    catalogue = load_catalogue()
    ledger = merge_repetitions(
        [_ledger(run, each, dialect, examined_by, catalogue) for each in repetitions]
    )
    outcome = apply_baseline(
        ledger.entries,
        [Expectation.from_json(written) for written in run.header.baseline],
        catalogue,
        datetime.fromtimestamp(run.header.started_at, UTC).date(),
    )
    footer = run.footer
    return replace(
        ledger,
        entries=outcome.entries,
        stale=outcome.stale,
        cut=footer.cut,
        uncovered=footer.uncovered,
        hooks=footer.hooks,
    )


def write_regraded(regraded: Regraded, source: Path, out: Path, tool_version: str) -> Run:
    """Write a run.jsonl with the same evidence and the present verdicts.

    Raises OSError and FileNotWritten.
    """
    header = replace(regraded.run.header, tool_version=tool_version, dialect=regraded.dialect.name)
    part = out / f"{NAME}.part"
    with open_run(run_path(source)) as old, part.open("wb", buffering=0) as stream:
        writer = RunWriter(stream, header)
        for line in old:
            if line.startswith((*EVIDENCE, EXPERIMENT, FIELDS)):
                write_whole(stream, line.encode())
        writer.exchanges, writer.deliveries = (
            regraded.run.footer.exchanges,
            regraded.run.footer.deliveries,
        )
        writer.limited(regraded.run.footer.put_off, regraded.run.footer.waited_s)
        writer.left = regraded.run.left
        writer.cut_bodies = regraded.run.footer.cut_bodies
        writer.ledger(
            regraded.ledger,
            strict=header.strict,
            duration_s=regraded.run.footer.duration_s,
            disagreements=regraded.disagreements,
        )
        writer.confirm()
    shutil.move(part, out / NAME)
    return read_run(out / NAME)


def _ledger(
    run: Run, repetition: Repetition, dialect: Dialect, examined_by: Dialect, catalogue: Catalogue
) -> Ledger:
    context = CheckContext(dialect=dialect, contract=contract_for(dialect), examined_by=examined_by)
    grader = Grader(
        checks=all_checks(),
        context=context,
        catalogue=catalogue,
        experiments=list(repetition.gathered),
        every_experiment=all_experiments(),
        profile=Profile[run.header.profile.upper()],
        gathered=repetition.gathered.__getitem__,
        reported=[entry.requirement.id for entry in run.entries if entry.judged],
    )
    endings = repetition.gathered.values()
    crashed = [gathered.reason for gathered in endings if gathered.ending is Ending.CRASHED]
    faults = dict.fromkeys([*crashed, *run.footer.faults])
    entries = tuple(_entry(grader, entry, catalogue) for entry in run.entries)
    return reapply_shrinking(
        Ledger(entries=entries, faults=tuple(faults)), repetition.shrunk, all_checks(), context
    )


def _entry(grader: Grader, entry: Entry, catalogue: Catalogue) -> Entry:
    """The present entry of a requirement.

    What the run did not judge, and what is not a requirement any more, keeps its stored entry.
    """
    requirement = catalogue.requirements.get(entry.requirement.id)
    return entry if requirement is None or not entry.judged else grader.entry(requirement)


ENDS_HERE: Final = "the file of the run is cut off here"


def read_whole_or_partial_run(folder: Path) -> Run:
    """The run in a folder or a pack; one that was cut off is judged by what its file holds.

    Raises NotARun, and FileProblems if the stored dialect can no longer be read.
    """
    path = run_path(folder)
    try:
        return read_run(path)
    except CutOff as cut_off:
        return _partial_run(path, cut_off.header)


def _partial_run(path: Path, header: Header) -> Run:
    requirements = _selected(header, load_catalogue())
    profile = Profile[header.profile.upper()]
    experiments = needed_experiments(
        requirements, all_checks(), all_experiments(), profile, light=header.light
    )
    unended = Unended(experiments=[each.name for each in experiments], reason=ENDS_HERE)
    repetitions = read_evidence(path, unended)
    run = Run(
        header=header,
        entries=tuple(Entry(requirement=each, verdict=Verdict.PASS) for each in requirements),
        footer=_footer(header, repetitions),
        fields=_fields(repetitions).counts(),
    )
    dialect = load_dialect_mapping(header.answers, f"{path}: answers")
    ledger = judged_again(run, repetitions, dialect, dialect)
    verdict = ledger.verdict(strict=header.strict)
    footer = replace(
        run.footer,
        verdict=verdict,
        exit_code=int(verdict.exit_code),
        faults=ledger.faults,
        stale=ledger.stale,
    )
    return replace(run, entries=ledger.entries, footer=footer)


def _selected(header: Header, catalogue: Catalogue) -> list[Requirement]:
    known = catalogue.requirements
    return [known[name] for name in header.selected or known if name in known]


def _footer(header: Header, repetitions: tuple[Repetition, ...]) -> Footer:
    """The footer before anything is judged; the run lasted until its last exchange or delivery."""
    evidence = [each for repetition in repetitions for each in repetition.observations]
    return Footer(
        verdict=RunVerdict.INCOMPLETE,
        exit_code=int(ExitCode.INCOMPLETE),
        duration_s=round(max(0.0, _ended_at(evidence) - header.started_at), 3),
        exchanges=sum(len(each.exchanges) for each in evidence),
        deliveries=sum(len(each.deliveries) for each in evidence),
        cut=ENDS_HERE,
        faults=(),
    )


def _ended_at(evidence: Iterable[Evidence]) -> float:
    """When the last of it ended, in Unix seconds."""
    ends = [
        exchange.sent_at + exchange.duration_s for each in evidence for exchange in each.exchanges
    ]
    ends += [one.arrived_at + one.lasted_s for each in evidence for one in each.deliveries]
    return max(ends, default=0.0)


def _fields(repetitions: tuple[Repetition, ...]) -> FieldCounter:
    counter = FieldCounter()
    for repetition in repetitions:
        for observation in repetition.observations:
            for exchange in observation.exchanges:
                counter.add(exchange)
    return counter


def merge_repetitions(ledgers: Sequence[Ledger]) -> Ledger:
    """Merge ledgers that hold the same requirements in the same order."""
    rows = zip(*(ledger.entries for ledger in ledgers), strict=True)
    return Ledger(
        entries=tuple(map(_worst, rows)),
        cut=next((ledger.cut for ledger in ledgers if ledger.cut), None),
        faults=tuple(dict.fromkeys(fault for ledger in ledgers for fault in ledger.faults)),
        hooks=tuple(dict.fromkeys(hook for ledger in ledgers for hook in ledger.hooks)),
    )


def _worst(entries: Sequence[Entry]) -> Entry:
    verdicts = tuple(entry.verdict for entry in entries)
    # What only follows from another failure in one repetition may stand for itself in the next.
    worst = max(entries, key=lambda entry: (entry.verdict, bool(entry.own_findings)))
    seen = verdicts if len(set(verdicts)) > 1 else ()
    return replace(worst, exercised=sum(entry.exercised for entry in entries), seen=seen)
