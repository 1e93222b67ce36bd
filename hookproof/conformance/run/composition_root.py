"""Performs one run from beginning to end: the composition root of `hookproof check`."""

import gc
import secrets
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from io import FileIO
from pathlib import Path
from typing import Final, Protocol

from hookproof.conformance.checks import all_checks
from hookproof.conformance.experiments import all_experiments
from hookproof.conformance.grading.disagreements import disagreements
from hookproof.conformance.grading.grader import Grader
from hookproof.conformance.model.check_registry import CheckContext
from hookproof.conformance.model.evidence import Evidence
from hookproof.conformance.model.experiment_registry import Experiment
from hookproof.conformance.model.gathered_evidence import Ending, Gathered
from hookproof.conformance.model.judgement import quoting
from hookproof.conformance.model.ledger import Entry, Ledger
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.reports.progress import EntryListener, ProgressPlan, progress
from hookproof.conformance.results.baseline import Expectation, apply_baseline
from hookproof.conformance.results.redaction import Mask
from hookproof.conformance.results.run_file import (
    NAME,
    Header,
    Run,
    RunWriter,
    new_run_id,
    read_run,
    usual_durations,
)
from hookproof.conformance.run.intake import Intake
from hookproof.conformance.run.plan import RunPlan
from hookproof.conformance.run.regrading import merge_repetitions
from hookproof.conformance.run.runner import Runner
from hookproof.conformance.run.schedule import ExperimentSchedule, schedule_of
from hookproof.conformance.run.selection import Selection, needed_checks, needed_experiments
from hookproof.conformance.run.shrinking import Shrinking, replace_proofs
from hookproof.conformance.run.working_folder import clear_folder, working_folder
from hookproof.conformance.target.capabilities import lacking, signed_by_service, unseen
from hookproof.conformance.target.definition import Budgets, Project, Target
from hookproof.conformance.target.environment import Embedded, Environment
from hookproof.conformance.target.hooks.noted_calls import noted_calls
from hookproof.conformance.target.project_assignment import projects_needed
from hookproof.process.exit_codes import CommandError
from hookproof.process.messages import print_line
from hookproof.process.stop_signals import calling
from hookproof.process.written_file import FileNotWritten, unfinished_file
from hookproof.spec.catalogue import Catalogue, Requirement, load_catalogue
from hookproof.spec.contract.service_contract import contract_for
from hookproof.spec.dialect.assumptions import is_wholly_assumed
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.writer import written_dialect
from hookproof.target.settings import ReceiverSettings

# How long the thread of the experiments waits for the one that judges, in seconds; so long is an
# answer or a delivery noted too late.
SWITCH_S: Final = 0.0005
# After how many new objects garbage is looked for. Evidence stays, so that it is looked at in vain.
COLLECT_AFTER: Final = 20_000


@contextmanager
def shared_interpreter() -> Iterator[None]:
    """Let the thread of the experiments come first, as far as an interpreter can."""
    interval_s, threshold = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(SWITCH_S)
    gc.set_threshold(COLLECT_AFTER, *threshold[1:])
    try:
        yield
    finally:
        sys.setswitchinterval(interval_s)
        gc.set_threshold(*threshold)


INTERRUPTED: Final = "it was interrupted"


class Interruption:
    """Is called by an interrupt; raises KeyboardInterrupt as long as nothing can be gathered."""

    def __init__(self) -> None:
        self.requested = False
        self._stop: Callable[[str], object] | None = None

    def __call__(self) -> None:
        self.requested = True
        if self._stop is None:
            raise KeyboardInterrupt
        self._stop(INTERRUPTED)

    def calls(self, stop: Callable[[str], object]) -> None:
        """Let an interrupt end the gathering by this from now on, with the reason."""
        self._stop = stop


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The options of a run. A `max_fail` of 0 means no limit; a silent run shows no progress;
    `learned` is whether the dialect was found out from the target. `coverage` is how much of the
    operations and fields of the document the run has to see, in per cent.
    """

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
    learned: bool = False
    silent: bool = False
    coverage: float = 0.0
    run_id: str = field(default_factory=new_run_id)


def embedded_subject(
    dialect: Dialect, dialect_name: str, seed: int, receiver: ReceiverSettings, budgets: Budgets
) -> Embedded:
    """The embedded server, with a project for each experiment."""
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
    """Judge the target, and return the run that its file holds.

    Raises CommandError if it cannot begin, and FileNotWritten if its file cannot be written. The
    first interrupt ends the gathering.
    """
    started = time.monotonic()
    catalogue = load_catalogue()
    requirements = settings.selection.requirements(catalogue)
    progress_plan = _progress_plan(settings, catalogue, requirements)
    run_path = clear_folder(settings.out)
    interruption = Interruption()
    with calling(interruption), _run_file(run_path) as stream, working_folder(settings.out):
        repeated_run = RepeatedRun(
            settings=settings,
            catalogue=catalogue,
            requirements=requirements,
            stream=stream,
            progress_plan=progress_plan,
            interruption=interruption,
            mask=Mask((), settings.subject.dialect),
        )
        writer, ledger = repeated_run.run_all()
        mask = repeated_run.mask
        today = datetime.now(UTC).date()
        outcome = apply_baseline(ledger.entries, settings.baseline, catalogue, today)
        ledger = replace(ledger, entries=outcome.entries, stale=outcome.stale)
        coverage = writer.coverage()
        if coverage.percent < settings.coverage:
            words = f"{coverage.words}, where {settings.coverage:g} % are required"
            ledger = replace(ledger, uncovered=words)
        dialect = settings.subject.dialect
        explained = disagreements(
            ledger.entries, repeated_run.evidence, dialect, dialect, all_checks()
        )
        writer.ledger(
            mask.ledger(ledger),
            strict=settings.strict,
            duration_s=time.monotonic() - started,
            disagreements=[
                replace(each, example=mask.quotation(each.example)) for each in explained
            ],
        )
        writer.confirm()
        run = read_run(run_path)
        if run.header.run_id != settings.run_id:
            raise CommandError(
                f"{run_path} is of another run now, {run.header.run_id}: give each a folder"
            )
        return run


@contextmanager
def _run_file(path: Path) -> Iterator[FileIO]:
    """The file of a run, open for writing; it is removed if nothing was written to it."""
    if path.exists() and not path.is_file():  # a pipe would wait for its reader
        raise CommandError(f"{path} is not a regular file; remove it, or name another --out")
    unfinished_file(path).unlink(missing_ok=True)  # of a run that was killed
    with path.open("wb", buffering=0) as stream:
        try:
            yield stream
        finally:
            if not stream.tell():
                path.unlink()


def planned(settings: Settings) -> ExperimentSchedule:
    """What `perform` would do, and when; raises CommandError for a selector of nothing."""
    subject = settings.subject
    plan = _run_plan(settings, settings.selection.requirements(load_catalogue()))
    needed = projects_needed(len(plan.experiments))
    names = [f"p{number}" for number in range(1, needed + 1)]
    fresh = isinstance(subject, Target) and subject.provision.has("fresh_project")
    if isinstance(subject, Target) and not fresh:
        return schedule_of(plan, subject.projects, fresh=False)
    return schedule_of(plan, [Project(id=name, api_key="") for name in names], fresh=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedRun:
    """The repetitions of a run, one after the other, with the same seed and into the same file.

    `evidence` is what all of them have gathered so far, `mask` knows the credentials of all.
    """

    settings: Settings
    catalogue: Catalogue
    requirements: Sequence[Requirement]
    stream: FileIO
    progress_plan: ProgressPlan
    interruption: Interruption
    mask: Mask
    evidence: list[Evidence] = field(default_factory=list)

    def run_all(self) -> tuple[RunWriter, Ledger]:
        """Return the writer of the file and the ledger of all repetitions.

        Raises CommandError if the first repetition cannot begin.
        """
        writer: RunWriter | None = None
        ledgers: list[Ledger] = []
        for repetition in range(1, self.settings.repetitions + 1):
            try:
                writer, ledger = self._run_once(writer, repetition)
            except FileNotWritten:
                raise
            except CommandError as refusal:
                if writer is None:
                    raise
                ledgers[-1] = replace(
                    ledgers[-1], cut=f"repetition {repetition} could not begin: {refusal}"
                )
                break
            ledgers.append(ledger)
            if self.interruption.requested:
                if repetition < self.settings.repetitions:
                    ledgers[-1] = replace(ledger, cut=ledger.cut or INTERRUPTED)
                break
        assert writer is not None
        return writer, merge_repetitions(ledgers)

    def _run_once(self, writer: RunWriter | None, repetition: int) -> tuple[RunWriter, Ledger]:
        plan = _run_plan(self.settings, self.requirements)
        with (
            shared_interpreter(),
            quoting(self.mask.quoted),
            Runner(plan, mask=self.mask) as runner,
            self._progress(runner) as note,
        ):
            self.interruption.calls(runner.stop)
            environment = runner.open()
            if environment.waited and not self.settings.silent:
                print_line(f"hookproof check: {environment.waited}", err=True)
            if writer is None:
                header = self._header(environment, plan.nonce)
                writer = RunWriter(self.stream, header)
                writer.confirm()
            keep = partial(self._keep, writer, repetition, runner)
            intake = Intake(self.mask, plan.dialect, keep)
            grader = self._grader(plan, runner, environment.target)

            def judge(requirement: Requirement) -> Entry:
                entry = grader.entry(requirement)
                note(self.mask.entry(entry))
                return entry

            runner.begin(intake, keep_open=True)
            runner.wait_for_busy_ones()
            ledger = judge_all(self.requirements, judge, runner, max_fail=self.settings.max_fail)
            shrinking = Shrinking(
                checks=all_checks(),
                context=_check_context(plan),
                projects=environment.target.projects,
                quoted=self.mask.quoted,
            )
            ledger = _shrink_proofs(ledger, shrinking, runner)
            everything = runner.all_gathered()
            writer.replace_evidence(intake.shown_early(), repetition)
            for shrunk in shrinking.shrunk:
                writer.shrunk(self.mask.finding(shrunk.finding), shrunk.requests, repetition)
            for gathered in everything:
                writer.experiment(gathered, repetition)
                self.evidence.extend(gathered.observations)
        # Hooks are called until the runner has ended.
        runner.hook_failures.mask(self.mask.quotation)
        ledger = replace(ledger, hooks=runner.hook_failures.words)
        writer.limited(runner.pacing.put_off, runner.pacing.waited_s)
        left = runner.endpoints.left_behind().masked(self.mask.text)
        writer.left = left if repetition == 1 else writer.left.with_those_of(left)
        writer.confirm()
        return writer, ledger

    @staticmethod
    def _keep(writer: RunWriter, repetition: int, runner: Runner, evidence: Evidence) -> None:
        """Write evidence; a file that cannot be written ends the run."""
        writer.evidence(evidence, repetition)
        if writer.failure is not None:
            runner.stop(str(writer.failure))

    def _header(self, environment: Environment, nonce: str) -> Header:
        settings = self.settings
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
            sections=dict(self.catalogue.sections),
            answers=written_dialect(settings.subject.dialect),
            repetitions=settings.repetitions,
            learned=settings.learned,
            baseline=[expectation.to_json() for expectation in settings.baseline],
            selected=[requirement.id for requirement in self.requirements],
            light=settings.selection.is_light,
            verified=environment.target.is_verified,
            round_trip_s=environment.round_trip_s,
            excluded=settings.selection.excluded(self.catalogue),
            requirement_set=settings.selection.requirement_set,
            newer=[requirement.id for requirement in settings.selection.newer(self.catalogue)],
            projects=[project.id for project in environment.target.projects],
            nonce=nonce,
            receiver_url=environment.answering_url.rpartition("/")[0],
            given=not is_wholly_assumed(settings.subject.dialect),
            hooks=sorted(environment.target.provision.hooks),
            hook_calls=noted_calls(environment.target.provision, self.mask.quotation),
            run_id=settings.run_id,
        )

    def _progress(self, runner: Runner) -> AbstractContextManager[EntryListener]:
        if self.settings.silent:
            return nullcontext(lambda _entry: None)
        return progress(self.progress_plan, runner.under_way, sys.stderr)

    def _grader(self, plan: RunPlan, runner: Runner, target: Target) -> Grader:
        return Grader(
            checks=needed_checks(self.requirements, all_checks()),
            context=_check_context(plan),
            catalogue=self.catalogue,
            experiments=[experiment.name for experiment in plan.experiments],
            every_experiment=all_experiments(),
            profile=plan.profile,
            gathered=runner.gathered,
            lacks={
                **unseen(target.receiver),
                **signed_by_service(plan.dialect, self.catalogue),
                **lacking(target.capabilities, self.catalogue),
            },
            meanwhile=runner.meanwhile,
            reported=[requirement.id for requirement in self.requirements],
        )


def _check_context(plan: RunPlan) -> CheckContext:
    return CheckContext(dialect=plan.dialect, contract=plan.contract)


def _shrink_proofs(ledger: Ledger, shrinking: Shrinking, runner: Runner) -> Ledger:
    """The ledger with smaller proofs where possible; that of a run that was cut is unchanged."""
    follow_up = None if ledger.cut else shrinking.follow_up(ledger)
    if follow_up is None:
        return ledger
    error: str | None = None
    with suppress(KeyboardInterrupt):  # the ledger is complete without smaller proofs
        error = runner.run_follow_up(follow_up)
    smaller = replace_proofs(ledger, [shrunk.finding for shrunk in shrinking.shrunk])
    errors = [f"The shrink pass broke: {error}"] if error else []
    return replace(smaller, faults=(*ledger.faults, *errors))


def _progress_plan(
    settings: Settings, catalogue: Catalogue, requirements: Sequence[Requirement]
) -> ProgressPlan:
    # An earlier run in the folder shows how long the experiments usually take.
    usual_s = usual_durations(settings.out / NAME)
    return ProgressPlan(requirements=requirements, sections=catalogue.sections, usual_s=usual_s)


def left_out(settings: Settings) -> str:
    """What a selection of requirements leaves out; empty if nothing, or if nothing is selected."""
    if not settings.selection.is_light:
        return ""
    requirements = settings.selection.requirements(load_catalogue())
    some, every = (_experiments(settings, requirements, light=light) for light in (True, False))
    if len(some) == len(every):
        return ""
    return (
        f"{len(some)} of the {len(every)} experiments that could show a violation of these"
        " requirements run, as --only is given; without it all of them do"
    )


def _experiments(
    settings: Settings, requirements: Sequence[Requirement], *, light: bool
) -> tuple[Experiment, ...]:
    checks, experiments = all_checks(), all_experiments()
    return needed_experiments(requirements, checks, experiments, settings.profile, light=light)


def _run_plan(settings: Settings, requirements: Sequence[Requirement]) -> RunPlan:
    dialect = settings.subject.dialect
    return RunPlan(
        subject=settings.subject,
        experiments=_experiments(settings, requirements, light=settings.selection.is_light),
        every_experiment=all_experiments(),
        dialect=dialect,
        contract=contract_for(dialect),
        profile=settings.profile,
        seed=settings.seed,
        nonce=secrets.token_hex(3),
    )


class StoppableRun(Protocol):
    """The part of a runner that judging needs."""

    @property
    def cut(self) -> str | None: ...

    def too_late(self) -> str | None: ...

    def stop(self, reason: str) -> None: ...

    def all_gathered(self) -> Sequence[Gathered]: ...


def judge_all(
    requirements: Sequence[Requirement],
    judge: Callable[[Requirement], Entry],
    run: StoppableRun,
    *,
    max_fail: int,
) -> Ledger:
    """Judge one requirement after the other, until `max_fail` have failed; 0 means no limit.

    What is left when it is too late for that is not judged. After an interrupt the rest is judged
    by the evidence that is there.
    """
    entries: dict[str, Entry] = {}
    failures = 0
    try:
        for requirement in requirements:
            if reason := run.too_late():
                run.stop(reason)
                entries |= {
                    left.id: _not_judged(left, reason)
                    for left in requirements
                    if left.id not in entries
                }
                break
            entry = entries[requirement.id] = judge(requirement)
            failures += entry.verdict in (Verdict.FAIL, Verdict.ERROR)
            if max_fail and failures >= max_fail and len(entries) < len(requirements):
                reason = f"it ended after {max_fail} failures, as --max-fail asks"
                run.stop(reason)
                for left in requirements[len(entries) :]:
                    entries[left.id] = _not_judged(left, reason)
                break
    except KeyboardInterrupt:
        run.stop(INTERRUPTED)
        for left in requirements:
            if left.id not in entries:
                entries[left.id] = judge(left)
    crashes = [
        gathered.reason for gathered in run.all_gathered() if gathered.ending is Ending.CRASHED
    ]
    return Ledger(entries=tuple(entries.values()), cut=run.cut, faults=tuple(crashes))


def _not_judged(requirement: Requirement, reason: str) -> Entry:
    return Entry(
        requirement=requirement,
        verdict=Verdict.NOT_EXERCISED,
        reasons=(f"The run was not completed: {reason}.",),
        judged=False,
    )
