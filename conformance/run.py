"""One run from beginning to end: the composition root of `hookproof check`."""

import secrets
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from conformance.allotment import projects_needed
from conformance.capability import lacking
from conformance.checks.registry import Yardstick, all_checks
from conformance.experiments.bench import all_experiments
from conformance.gathered import Ending
from conformance.judging import Judging
from conformance.ledger import Entry, Ledger
from conformance.mask import Mask
from conformance.plugin import RequirementPlugin, run_suite
from conformance.refusal import Refusal
from conformance.reports.progress import progress
from conformance.reports.report_json import report_text
from conformance.run_file import NAME, Header, Run, RunWriter, read_run
from conformance.runner import Plan, Runner
from conformance.selection import Selection, needed_experiments
from conformance.target import Budgets, Profile, ReceiverSettings, Target
from conformance.venue import Embedded, Venue
from conformance.verdict import Verdict
from spec.catalogue import Catalogue, Requirement, load_catalogue
from spec.contract import contract_for
from spec.dialect import Dialect

REPORT: Final = "report.json"
SUITE_BROKE: Final = (pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the command line asks for. `max_fail` of 0 means no limit."""

    subject: Target | Embedded
    profile: Profile
    seed: int
    strict: bool
    max_fail: int
    selection: Selection
    out: Path
    tool_version: str


def embedded(dialect: Dialect, dialect_name: str, seed: int, receiver: ReceiverSettings, budgets: Budgets) -> Embedded:
    """The embedded server with a project for each experiment."""
    projects = projects_needed(len(all_experiments()))
    return Embedded(
        dialect=dialect,
        dialect_name=dialect_name,
        seed=seed,
        projects=projects,
        receiver=receiver,
        budgets=budgets,
    )


def perform(settings: Settings) -> Run:
    """Judge the target and write the reports; raises Refusal if the run cannot begin."""
    started = time.monotonic()
    catalogue = load_catalogue()
    requirements = settings.selection.requirements(catalogue)
    plan = _plan(settings, requirements)
    run_path = _emptied(settings.out)
    with Runner(plan) as runner, progress(runner.under_way, sys.stderr):
        venue = runner.open()
        mask = Mask(venue.target.projects, plan.dialect)
        with run_path.open("w", encoding="utf-8") as stream:
            writer = RunWriter(stream, mask, _header(settings, venue, catalogue))
            judging = _judging(plan, catalogue, runner, venue.target)
            ledger = _judged(requirements, judging, runner, writer, max_fail=settings.max_fail)
            for gathered in runner.all_gathered():
                writer.experiment(gathered)
            writer.ledger(ledger, strict=settings.strict, duration_s=time.monotonic() - started)
    run = read_run(run_path)
    (settings.out / REPORT).write_text(report_text(run), encoding="utf-8")
    return run


def _plan(settings: Settings, requirements: Sequence[Requirement]) -> Plan:
    dialect, experiments = settings.subject.dialect, all_experiments()
    return Plan(
        subject=settings.subject,
        experiments=needed_experiments(requirements, all_checks(), experiments, settings.profile),
        every_experiment=[one.name for one in experiments],
        dialect=dialect,
        contract=contract_for(dialect),
        profile=settings.profile,
        seed=settings.seed,
        nonce=secrets.token_hex(3),
    )


def _emptied(out: Path) -> Path:
    """Where run.jsonl goes; what an earlier run left there is removed, so that nobody takes it for this one's."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name in (NAME, REPORT):
            (out / name).unlink(missing_ok=True)
        (out / NAME).touch()
    except OSError as error:
        raise Refusal(f"--out {out} cannot be written to: {error.strerror or error}") from None
    return out / NAME


def _header(settings: Settings, venue: Venue, catalogue: Catalogue) -> Header:
    return Header(
        tool_version=settings.tool_version,
        target=venue.target.base_url,
        embedded=venue.embedded,
        dialect=settings.subject.dialect.name,
        profile=settings.profile.key,
        seed=settings.seed,
        strict=settings.strict,
        everything=settings.selection.is_everything,
        started_at=time.time(),
        sections=dict(catalogue.sections),
    )


def _judging(plan: Plan, catalogue: Catalogue, runner: Runner, target: Target) -> Judging:
    return Judging(
        checks=all_checks(),
        yardstick=Yardstick(dialect=plan.dialect, contract=plan.contract),
        catalogue=catalogue,
        experiments=[one.name for one in plan.experiments],
        profile=plan.profile,
        gathered=runner.gathered,
        lacks=lacking(target.capabilities, catalogue),
    )


def _judged(
    requirements: Sequence[Requirement], judging: Judging, runner: Runner, writer: RunWriter, *, max_fail: int
) -> Ledger:
    plugin = RequirementPlugin(requirements, judging.entry)
    try:
        runner.begin(writer.case)
        code = run_suite(plugin, max_fail=max_fail)
    except KeyboardInterrupt:  # pytest catches it only while tests run
        code = pytest.ExitCode.INTERRUPTED
    missing = [requirement for requirement in requirements if requirement.id not in plugin.entries]
    if code is pytest.ExitCode.INTERRUPTED:
        runner.stop("it was interrupted")
        plugin.entries.update((requirement.id, judging.entry(requirement)) for requirement in missing)
    elif missing:
        reason = f"it ended after {max_fail} failures, as --max-fail asks"
        runner.stop(reason)
        plugin.entries.update((requirement.id, _not_judged(requirement, reason)) for requirement in missing)
    faults = [one.reason for one in runner.all_gathered() if one.ending is Ending.CRASHED]
    if code in SUITE_BROKE:
        faults.append(f"The pytest host ended with {code.name}.")
    entries = tuple(plugin.entries[requirement.id] for requirement in requirements)
    return Ledger(entries=entries, cut=runner.cut, faults=tuple(faults))


def _not_judged(requirement: Requirement, reason: str) -> Entry:
    return Entry(
        requirement=requirement, verdict=Verdict.NOT_EXERCISED, reasons=(f"The run was not completed: {reason}.",)
    )
