"""One run from beginning to end: the composition root of `hookproof check`."""

import secrets
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from io import TextIOWrapper
from pathlib import Path
from typing import Final

import pytest

from hookproof.conformance.experiments.context import all_experiments
from hookproof.conformance.grading.grader import Grader
from hookproof.conformance.model.check_registry import CheckContext, all_checks
from hookproof.conformance.model.exit_codes import Refusal
from hookproof.conformance.model.gathered_evidence import Ending
from hookproof.conformance.model.ledger import Entry, Ledger
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.reports.formats import REPORTS, write_reports
from hookproof.conformance.reports.progress import Plan as Coming
from hookproof.conformance.reports.progress import progress, usual_durations
from hookproof.conformance.results.baseline import Expectation, weighed
from hookproof.conformance.results.redaction import Mask
from hookproof.conformance.results.run_file import NAME, Header, Run, RunWriter, read_run
from hookproof.conformance.run.recorder import Recorder
from hookproof.conformance.run.repetitions import merged
from hookproof.conformance.run.requirement_tests import RequirementPlugin, run_suite
from hookproof.conformance.run.runner import Plan, Runner
from hookproof.conformance.run.selection import Selection, needed_checks, needed_experiments
from hookproof.conformance.run.shrinking import Shrinking, with_smaller_proofs
from hookproof.conformance.run.working_folder import working_folder
from hookproof.conformance.target.capabilities import lacking
from hookproof.conformance.target.definition import Budgets, Profile, ReceiverSettings, Target
from hookproof.conformance.target.environment import Embedded, Environment
from hookproof.conformance.target.project_assignment import projects_needed
from hookproof.spec.catalogue import Catalogue, Requirement, load_catalogue
from hookproof.spec.contract.service_contract import contract_for
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.writer import written_dialect

SUITE_BROKE: Final = (
    pytest.ExitCode.INTERNAL_ERROR,
    pytest.ExitCode.USAGE_ERROR,
    pytest.ExitCode.NO_TESTS_COLLECTED,
)
INTERRUPTED: Final = "it was interrupted"


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
    repetitions: int = 1
    baseline: tuple[Expectation, ...] = ()


def embedded(
    dialect: Dialect, dialect_name: str, seed: int, receiver: ReceiverSettings, budgets: Budgets
) -> Embedded:
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
    coming = progress_of(settings, catalogue, requirements)
    run_path = _emptied(settings.out)
    with working_folder(settings.out), run_path.open("w", encoding="utf-8") as stream:
        rounds = Rounds(
            settings=settings,
            catalogue=catalogue,
            requirements=requirements,
            stream=stream,
            coming=coming,
        )
        writer, ledger = rounds.conducted()
        today = datetime.now(UTC).date()
        known = weighed(ledger.entries, settings.baseline, catalogue, today)
        ledger = replace(ledger, entries=known.entries, stale=known.stale)
        writer.ledger(ledger, strict=settings.strict, duration_s=time.monotonic() - started)
    run = read_run(run_path)
    write_reports(run, settings.out)
    return run


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounds:
    """The repetitions of a run, one after the other, with the same seed and into the same file."""

    settings: Settings
    catalogue: Catalogue
    requirements: Sequence[Requirement]
    stream: TextIOWrapper
    coming: Coming

    def conducted(self) -> tuple[RunWriter, Ledger]:
        """The writer of the file, and the ledger of all repetitions; raises Refusal if the first
        cannot begin.
        """
        writer: RunWriter | None = None
        ledgers: list[Ledger] = []
        for repetition in range(1, self.settings.repetitions + 1):
            try:
                writer, ledger = self._conducted_once(writer, repetition)
            except Refusal as refusal:
                if writer is None:
                    raise
                ledgers[-1] = replace(
                    ledgers[-1], cut=f"repetition {repetition} could not begin: {refusal}"
                )
                break
            ledgers.append(ledger)
            if ledger.cut == INTERRUPTED:
                break
        assert writer is not None
        return writer, merged(ledgers)

    def _conducted_once(
        self, writer: RunWriter | None, repetition: int
    ) -> tuple[RunWriter, Ledger]:
        plan = _plan(self.settings, self.requirements)
        with Runner(plan) as runner, progress(self.coming, runner.under_way, sys.stderr) as note:
            environment = runner.open()
            mask = Mask(environment.target.projects, plan.dialect)
            if writer is None:
                writer = RunWriter(
                    self.stream, mask, _header(self.settings, environment, self.catalogue)
                )
            writer.mask = mask  # the embedded server has other keys each time
            recorder = Recorder(writer, repetition)
            grader = self._grader(plan, runner, environment.target, recorder)

            def judge(requirement: Requirement) -> Entry:
                entry = grader.entry(requirement)
                note(mask.entry(entry))
                return entry

            ledger = _judged(
                self.requirements, judge, runner, recorder, max_fail=self.settings.max_fail
            )
            ledger = self._shrunk(ledger, plan, environment.target, runner, repetition, writer)
            for gathered in runner.all_gathered():
                writer.experiment(gathered, repetition)
        return writer, ledger

    def _grader(self, plan: Plan, runner: Runner, target: Target, recorder: Recorder) -> Grader:
        return Grader(
            checks=needed_checks(self.requirements, all_checks()),
            context=CheckContext(dialect=plan.dialect, contract=plan.contract),
            catalogue=self.catalogue,
            experiments=[one.name for one in plan.experiments],
            profile=plan.profile,
            gathered=runner.gathered,
            lacks=lacking(target.capabilities, self.catalogue),
            judge=recorder.judge,
            size=recorder.proof_size,
            meanwhile=runner.meanwhile,
        )

    def _shrunk(
        self,
        ledger: Ledger,
        plan: Plan,
        target: Target,
        runner: Runner,
        repetition: int,
        writer: RunWriter,
    ) -> Ledger:
        """The ledger with smaller proofs where they can be had; a run that was cut short is left as
        it is.
        """
        shrinking = Shrinking(
            checks=all_checks(),
            context=CheckContext(dialect=plan.dialect, contract=plan.contract),
            projects=target.projects,
        )
        work = None if ledger.cut else shrinking.work(ledger)
        if work is None:
            return ledger
        broke: str | None = None
        with suppress(KeyboardInterrupt):  # what was found before is whole without this
            broke = runner.afterwards(work)
        for one in shrinking.made:
            writer.shrunk(one.finding, one.requests, repetition)
        smaller = with_smaller_proofs(ledger, [one.finding for one in shrinking.made])
        return replace(
            smaller,
            faults=(*ledger.faults, *([f"The shrink pass broke: {broke}"] if broke else [])),
        )


def progress_of(
    settings: Settings, catalogue: Catalogue, requirements: Sequence[Requirement]
) -> Coming:
    """What is about to come; how long experiments usually take is known from the run that is in the
    folder already.
    """
    usual_s = usual_durations(settings.out / NAME)
    return Coming(requirements=requirements, sections=catalogue.sections, usual_s=usual_s)


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
    """Where run.jsonl goes; what an earlier run left there is removed, so that nobody takes it for
    this one's.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name in (NAME, *REPORTS):
            (out / name).unlink(missing_ok=True)
        (out / NAME).touch()
    except OSError as error:
        raise Refusal(f"--out {out} cannot be written to: {error.strerror or error}") from None
    return out / NAME


def _header(settings: Settings, environment: Environment, catalogue: Catalogue) -> Header:
    return Header(
        tool_version=settings.tool_version,
        target=environment.target.base_url,
        embedded=environment.embedded,
        dialect=settings.subject.dialect.name,
        profile=settings.profile.key,
        seed=settings.seed,
        strict=settings.strict,
        everything=settings.selection.is_everything,
        started_at=time.time(),
        sections=dict(catalogue.sections),
        answers=written_dialect(settings.subject.dialect),
        repetitions=settings.repetitions,
        baseline=[one.to_json() for one in settings.baseline],
    )


def _judged(
    requirements: Sequence[Requirement],
    judge: Callable[[Requirement], Entry],
    runner: Runner,
    recorder: Recorder,
    *,
    max_fail: int,
) -> Ledger:
    plugin = RequirementPlugin(requirements, judge)
    try:
        runner.begin(recorder.keep, held=True)
        code = run_suite(plugin, max_fail=max_fail)
    except KeyboardInterrupt:  # pytest catches it only while tests run
        code = pytest.ExitCode.INTERRUPTED
    missing = [requirement for requirement in requirements if requirement.id not in plugin.entries]
    if code is pytest.ExitCode.INTERRUPTED:
        runner.stop(INTERRUPTED)
        plugin.entries.update((requirement.id, judge(requirement)) for requirement in missing)
    elif missing:
        reason = f"it ended after {max_fail} failures, as --max-fail asks"
        runner.stop(reason)
        plugin.entries.update(
            (requirement.id, _not_judged(requirement, reason)) for requirement in missing
        )
    faults = [one.reason for one in runner.all_gathered() if one.ending is Ending.CRASHED]
    if code in SUITE_BROKE:
        faults.append(f"The pytest host ended with {code.name}.")
    entries = tuple(plugin.entries[requirement.id] for requirement in requirements)
    return Ledger(entries=entries, cut=runner.cut, faults=tuple(faults))


def _not_judged(requirement: Requirement, reason: str) -> Entry:
    return Entry(
        requirement=requirement,
        verdict=Verdict.NOT_EXERCISED,
        reasons=(f"The run was not completed: {reason}.",),
        judged=False,
    )
