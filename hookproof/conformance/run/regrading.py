"""Judges a finished run again from its file: the same evidence, the checks of this version."""

import shutil
from collections.abc import Iterable
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
from hookproof.conformance.model.gathered_evidence import Ending
from hookproof.conformance.model.ledger import Entry, Ledger
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.results.baseline import Expectation, apply_baseline
from hookproof.conformance.results.run_file import (
    EVIDENCE,
    FIELDS,
    NAME,
    Run,
    RunWriter,
    open_run,
    read_run,
    run_path,
)
from hookproof.conformance.results.stored_evidence import Repetition, read_evidence
from hookproof.conformance.run.repetitions import merge_repetitions
from hookproof.conformance.run.shrinking import reapply_shrinking
from hookproof.process.written_file import write_whole
from hookproof.spec.catalogue import Catalogue, load_catalogue
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
