"""Judges what the file of a run holds that was cut off by a kill or a full disk."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final

from hookproof.conformance.checks import all_checks
from hookproof.conformance.experiments import all_experiments
from hookproof.conformance.model.evidence import Evidence
from hookproof.conformance.model.ledger import Entry, RunVerdict
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.results.documented_fields import FieldCounter
from hookproof.conformance.results.run_file import CutOff, Footer, Header, Run, read_run, run_path
from hookproof.conformance.results.stored_evidence import Repetition, Unended, read_evidence
from hookproof.conformance.run.regrading import judged_again
from hookproof.conformance.run.selection import needed_experiments
from hookproof.process.exit_codes import ExitCode
from hookproof.spec.catalogue import Catalogue, Requirement, load_catalogue
from hookproof.spec.dialect.reader import load_dialect_mapping

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
