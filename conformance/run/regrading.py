"""A run judged again from its file: the same evidence, today's checks."""

import shutil
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from hookproof.conformance.grading.grader import Grader
from hookproof.conformance.model.check_registry import CheckContext, all_checks
from hookproof.conformance.model.experiment_registry import all_experiments
from hookproof.conformance.model.gathered_evidence import Ending
from hookproof.conformance.model.ledger import Entry, Ledger
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.results.baseline import Expectation, weighed
from hookproof.conformance.results.run_file import EVIDENCE, NAME, Run, RunWriter, read_run
from hookproof.conformance.results.stored_evidence import Repetition, read_evidence
from hookproof.conformance.run.repetitions import merged
from hookproof.conformance.run.shrinking import shrunk_again
from hookproof.spec.catalogue import Catalogue, load_catalogue
from hookproof.spec.contract.service_contract import contract_for
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.reader import load_dialect_mapping

EXPERIMENT: Final = '{"event":"experiment"'


@dataclass(frozen=True, slots=True, kw_only=True)
class Regraded:
    """A run as its file told it, and the ledger that its evidence makes today, under `dialect`."""

    run: Run
    ledger: Ledger
    dialect: Dialect


def regraded(folder: Path, dialect: Dialect | None = None) -> Regraded:
    """Judge the evidence in a folder again; raises NotARun, and FileProblems if its dialect can be
    read no more.

    Without a dialect it is judged against the one that the run was judged against.
    """
    run = read_run(folder / NAME)
    before = load_dialect_mapping(run.header.answers, f"{folder / NAME}: answers")
    used = dialect or before
    catalogue = load_catalogue()
    ledger = merged(
        [
            _ledger(run, repetition, used, before, catalogue)
            for repetition in read_evidence(folder / NAME)
        ]
    )
    known = weighed(
        ledger.entries,
        [Expectation.from_json(one) for one in run.header.baseline],
        catalogue,
        datetime.fromtimestamp(run.header.started_at, UTC).date(),
    )
    ledger = replace(ledger, entries=known.entries, stale=known.stale, cut=run.footer.cut)
    return Regraded(run=run, ledger=ledger, dialect=used)


def write_regraded(found: Regraded, source: Path, out: Path, tool_version: str) -> Run:
    """Write run.jsonl anew with the same evidence and today's verdicts; raises OSError."""
    out.mkdir(parents=True, exist_ok=True)
    header = replace(found.run.header, tool_version=tool_version, dialect=found.dialect.name)
    part = out / f"{NAME}.part"
    with (source / NAME).open(encoding="utf-8") as old, part.open("w", encoding="utf-8") as stream:
        writer = RunWriter(stream, header)
        for line in old:
            if line.startswith((*EVIDENCE, EXPERIMENT)):
                stream.write(line)
        writer.exchanges, writer.deliveries = (
            found.run.footer.exchanges,
            found.run.footer.deliveries,
        )
        writer.ledger(found.ledger, strict=header.strict, duration_s=found.run.footer.duration_s)
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
    )
    crashed = [one.reason for one in repetition.gathered.values() if one.ending is Ending.CRASHED]
    faults = dict.fromkeys([*crashed, *run.footer.faults])
    entries = tuple(_entry(grader, entry, catalogue) for entry in run.entries)
    return shrunk_again(
        Ledger(entries=entries, faults=tuple(faults)), repetition.shrunk, all_checks(), context
    )


def _entry(grader: Grader, entry: Entry, catalogue: Catalogue) -> Entry:
    """The entry of today; what the run did not come to, and what is no requirement any more, stays
    as it was.
    """
    requirement = catalogue.requirements.get(entry.requirement.id)
    return entry if requirement is None or not entry.judged else grader.entry(requirement)
