"""The command `hookproof check`."""

import os
import textwrap
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Final

import click

from hookproof.conformance.model.experiment_registry import Experiment
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.reports.ci.junit import reported_failure
from hookproof.conformance.reports.console import Detail, show
from hookproof.conformance.reports.formats import write_reports
from hookproof.conformance.reports.json import report_text
from hookproof.conformance.results.baseline import (
    BASELINE,
    SCHEMA,
    all_accepted,
    baseline_text,
    read_baseline,
)
from hookproof.conformance.results.run_file import NAME, Run, new_run_id, usual_durations
from hookproof.conformance.run.composition_root import (
    Settings,
    embedded_subject,
    left_out,
    perform,
    planned,
)
from hookproof.conformance.run.schedule import ExperimentSchedule
from hookproof.conformance.run.selection import Selection, selectors
from hookproof.conformance.target.command_options import (
    flags_of,
    profile_option,
    refuse_target_options,
    target_options,
)
from hookproof.conformance.target.definition import Target
from hookproof.conformance.target.environment import Embedded
from hookproof.conformance.target.file import (
    asks_to_infer,
    budgets_from,
    named_dialect,
    target_from,
)
from hookproof.conformance.target.project_assignment import projects_needed
from hookproof.help_examples import examples
from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.process.folder_lock import locked_folder
from hookproof.process.installed_version import installed_version
from hookproof.process.messages import print_document, print_line, print_text
from hookproof.process.option_sections import CommonOptionsFirst
from hookproof.process.stop_signals import held_back, run_until_stopped
from hookproof.process.terminal_text import counted
from hookproof.process.written_file import FileNotWritten, write_file
from hookproof.spec.catalogue import Level
from hookproof.spec.completion import complete_requirement
from hookproof.spec.strict_yaml.editor_schema import write_schema_beside
from hookproof.target.first_answer import wait_for_answer
from hookproof.target.masking.quotation_mask import plain_keys
from hookproof.target.settings import DEFAULT_DIALECT, UNDECIDED_DIALECT, Flags, receiver_of

WIDTH: Final = 96
# From which part of the time budget on a run is near it.
NEAR: Final = 0.8


def plan_lines(schedule: ExperimentSchedule, budget_s: float, expected_s: float) -> Iterator[str]:
    """The plan of a run with this time budget that is expected to take so long."""
    experiments = counted(len(schedule.experiments), "experiment")
    used = {project.id for projects in schedule.projects.values() for project in projects}
    projects = counted(len(used), "project")
    yield f"{experiments} in {projects}, about {expected_s:.0f} s on an otherwise idle machine:"
    for when, alike in (
        ("before", schedule.senders if schedule.is_shared else ()),
        ("quietly", schedule.quiet),
        ("early", schedule.early),
        ("first", schedule.first),
        ("side by side", _others(schedule)),
        *(("later", late) for late in schedule.late),
        ("then alone", schedule.last),
    ):
        names = ", ".join(experiment.name for experiment in alike)
        yield from textwrap.wrap(
            names, WIDTH, initial_indent=f"  {when:<14}", subsequent_indent=" " * 16
        )
    confirmed = [each.name for each in schedule.experiments if schedule.is_confirmed(each)]
    if confirmed:
        words = (
            f"What speaks against the target is gathered again, alone: {', '.join(confirmed)}; and"
            " of the others what the document states, generated requests aside."
        )
        yield from textwrap.wrap(words, WIDTH)
    if schedule.is_shared:
        needed = projects_needed(len(schedule.experiments))
        yield f"With {needed} projects in the target file no two experiments share one."
    if too_long := budget_warning(schedule, budget_s, expected_s):
        yield from textwrap.wrap(f"{too_long[0].upper()}{too_long[1:]}.", WIDTH)


def budget_warning(schedule: ExperimentSchedule, budget_s: float, expected_s: float) -> str | None:
    """That the run is near its time budget or beyond it, if it is, and what is left out first."""
    if expected_s < budget_s * NEAR:
        return None
    late = ", ".join(experiment.name for experiment in (*chain(*schedule.late), *schedule.last))
    first_of_all = f" (first of all {late})" if late else ""
    return (
        f"the run takes about {expected_s:.0f} s, and its time budget is {budget_s:g} s: what is"
        f" not done by then is left out{first_of_all}; --budget gives more time"
    )


def _others(schedule: ExperimentSchedule) -> tuple[Experiment, ...]:
    before = schedule.senders if schedule.is_shared else ()
    return tuple(experiment for experiment in schedule.beside if experiment not in before)


# The options that `--help` shows first.
COMMON: Final = (
    "--target",
    "--api-key",
    "--project",
    "--dialect",
    "--ca-dir",
    "--receiver-url",
    "--only",
    "--exclude",
    "--profile",
    "--strict",
    "--baseline",
    "--out",
)
# In per cent.
WHOLE: Final = 100


def _share(_context: click.Context, _option: click.Parameter, value: str) -> float:
    """A number of per cent, with or without the sign."""
    with suppress(ValueError):
        share = float(value.removesuffix("%"))
        if 0 <= share <= WHOLE:
            return share
    raise click.BadParameter(f"{value!r} is no share such as 95%")


@click.command(
    cls=CommonOptionsFirst,
    common=COMMON,
    epilog=examples(
        ("hookproof check", "Judge the embedded reference server."),
        (
            "hookproof check http://127.0.0.1:5005 --project p1 --ca-dir ca",
            "Judge a server of yours; its key is in HOOKPROOF_API_KEY.",
        ),
        (
            "hookproof check --target target.yaml --profile quick --only 4.3",
            "Judge what section 4.3 says of the server in a target file, in little time.",
        ),
    ),
)
@target_options
@click.option(
    "--budget",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    envvar="HOOKPROOF_BUDGET",
    help="Time for the whole run; what was gathered by then is judged, within half as much more. "
    " [default: 120, and more for a target that answers slowly]",
)
@click.option(
    "--wait",
    "wait_s",
    type=click.FloatRange(0),
    metavar="SECONDS",
    envvar="HOOKPROOF_WAIT",
    help="How long to wait for the first answer of a target that is being started.",
)
@click.option(
    "--only",
    multiple=True,
    metavar="SELECTOR",
    shell_complete=complete_requirement,
    help="Judge only these: an id, a section, '4.3-*', or @FILE with one of these a line. What any"
    " exchange shows is looked at in a few experiments.",
)
@click.option(
    "--exclude",
    multiple=True,
    metavar="SELECTOR",
    shell_complete=complete_requirement,
    help="Leave these out. In a @FILE a reason may follow, after #.",
)
@click.option(
    "--level",
    type=click.Choice([level.value for level in Level]),
    default=Level.HYGIENE.value,
    show_default=True,
    help="Judge up to this level: stated, then open, then hygiene.",
)
@profile_option("How much to try.")
@click.option(
    "--requirements",
    "requirement_set",
    default="",
    metavar="SET",
    help="Judge what was in this set, such as 2026.11, and not what came later."
    "  [default: the newest]",
)
@click.option(
    "--require-coverage",
    callback=_share,
    default="0%",
    metavar="PERCENT",
    help="How much of the document's operations and fields must be seen, or the run is incomplete.",
)
@click.option("--strict", is_flag=True, help="Let hygiene count in the verdict.")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Seed of the random choices.",
)
@click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    help="File of known verdicts that are accepted.",
)
@click.option(
    "--write-baseline",
    type=click.Path(path_type=Path),
    help="Write a baseline that accepts what this run finds; the exit code is that of a run with"
    " it.",
)
@click.option(
    "--repeat",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Number of runs; requirements whose verdicts differ are reported as flaky.",
)
@click.option(
    "--max-fail",
    type=click.IntRange(min=0),
    default=0,
    help="End after this many failures; 0 means no limit.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("hookproof-report"),
    show_default=True,
    help="Folder for run.jsonl and the reports.",
)
@click.option(
    "--quiet",
    is_flag=True,
    help="Show nothing but findings, a line each, the verdict, and why there is none.",
)
@click.option(
    "--verbose", is_flag=True, help="Show every requirement: its verdict, and what shows it."
)
@click.option(
    "--json", "as_json", is_flag=True, help="Write the content of report.json in place of the text."
)
@click.option(
    "--plan", is_flag=True, help="Say what would be tried, in which order and how long; do nothing."
)
@click.pass_context
def check(context: click.Context, /, **options: Any) -> None:
    """Judge a server against the document and its dialect.

    Without URL and --target the embedded reference server is judged. The API key, the project and
    most other options can come from the environment too: HOOKPROOF_API_KEY, HOOKPROOF_PROJECT,
    HOOKPROOF_DIALECT, ...
    """
    try:
        if options["plan"]:
            settings = _settings(context, options)
            print_text("\n".join(plan_lines(*_times(settings))))
            return
        run_id = new_run_id()
        with locked_folder(options["out"], f"run {run_id}") as out:
            with reported_failure(out):
                settings = replace(_settings(context, options), run_id=run_id)
                if too_long := budget_warning(*_times(settings)):
                    print_line(f"hookproof check: {too_long}", err=True)
                if not settings.silent and (said := left_out(settings)):
                    print_line(f"hookproof check: {said}", err=True)
                subject = settings.subject
                if isinstance(subject, Target) and (
                    said := plain_keys(subject.projects, subject.dialect)
                ):
                    print_line(f"hookproof check: {said}", err=True)
            with held_back():  # what was gathered is judged and written, whatever comes
                with reported_failure(out):
                    run = perform(settings)
                code = _reported(run, settings, options)
    except CommandError as error:
        print_text(f"hookproof check: {error}", err=True)
        code = error.exit_code
    context.exit(code)


def _times(settings: Settings) -> tuple[ExperimentSchedule, float, float]:
    """What a run would do, the seconds that it gets, and those that it may well take."""
    schedule, budgets = planned(settings), settings.subject.budgets
    usual_s = usual_durations(settings.out / NAME)
    expected_s = schedule.expected_s(usual_s, budgets.sending_s(schedule.requests))
    return schedule, budgets.of_the_run(requests=schedule.requests), expected_s


def _reported(run: Run, settings: Settings, options: dict[str, Any]) -> int:
    """Write and show the reports of a run; the exit code.

    Raises CommandError for a file that cannot be written, when all else is written and shown.
    """
    try:
        write_reports(run, settings.out)
    finally:
        if options["as_json"]:
            print_document(report_text(run), end="")
        else:
            show(run, detail=_detail(options), folder=settings.out)
        if (baseline := options["write_baseline"]) is not None:
            _write_baseline(
                baseline, baseline_text(run.entries, settings.baseline, datetime.now(UTC).date())
            )
    if baseline is not None:
        accepted = all_accepted(run.ledger)
        return accepted.verdict(strict=run.header.strict).exit_code
    return run.footer.exit_code


def _detail(options: dict[str, Any]) -> Detail:
    if options["quiet"]:
        return Detail.QUIET
    return Detail.VERBOSE if options["verbose"] else Detail.NORMAL


def _settings(context: click.Context, options: dict[str, Any]) -> Settings:
    if options["quiet"] and options["verbose"]:
        raise click.UsageError("--quiet and --verbose contradict each other", context)
    if options["plan"] and options["as_json"]:
        raise click.UsageError("--plan has no JSON", context)
    flags, learned = flags_of(options), False
    if flags.url is None and flags.file is None:
        refuse_target_options(context)
        dialect = named_dialect(flags.dialect)
        subject: Target | Embedded = embedded_subject(
            dialect,
            flags.dialect or DEFAULT_DIALECT,
            options["seed"],
            receiver_of(flags),
            budgets_from(flags),
        )
    elif asks_to_infer(flags, os.environ):
        subject, learned = _with_learned_dialect(flags, options), True
    else:
        subject = _started(target_from(flags, os.environ), options)
    return Settings(
        subject=subject,
        profile=Profile[options["profile"].upper()],
        seed=options["seed"],
        strict=options["strict"],
        max_fail=options["max_fail"],
        selection=Selection(
            only=selectors(options["only"]),
            exclude=selectors(options["exclude"]),
            level=Level(options["level"]),
            requirement_set=options["requirement_set"],
        ),
        coverage=options["require_coverage"],
        out=options["out"],
        tool_version=installed_version(),
        repetitions=options["repeat"],
        silent=options["quiet"],
        baseline=() if options["baseline"] is None else read_baseline(options["baseline"]),
        learned=learned,
    )


def _started(target: Target, options: dict[str, Any]) -> Target:
    """The target once it answers, or does not within the time that it gets."""
    if options["wait_s"] is not None and not options["plan"]:
        wait = partial(wait_for_answer, target.base_url, target.connection, options["wait_s"])
        run_until_stopped(wait)
    return target


def _with_learned_dialect(flags: Flags, options: dict[str, Any]) -> Target:
    """The target with the dialect that is found out first, unless only the plan is asked for."""
    from hookproof.conformance.learning.learner import learn_target
    from hookproof.conformance.learning.report import summary
    from hookproof.conformance.learning.written_files import write_learned_dialect

    target = target_from(replace(flags, dialect=UNDECIDED_DIALECT), os.environ)
    if options["plan"]:
        return target
    _started(target, options)
    profile = Profile[options["profile"].upper()]
    learned = learn_target(
        target,
        UNDECIDED_DIALECT,
        profile,
        lambda what: print_line(f"hookproof check: learning the dialect: {what}", err=True),
    )
    path = write_learned_dialect(learned, target, options["out"])
    if learned.interrupted:
        raise CommandError(
            f"interrupted while the dialect was learned; what was learned by then is in {path}",
            ExitCode.INCOMPLETE,
        )
    print_text(f"hookproof check: the dialect is in {path}; {summary(learned)}", err=True)
    return replace(target, dialect=learned.answers.dialect)


def _write_baseline(path: Path, text: str) -> None:
    write_file(path, text)
    try:
        write_schema_beside(path, BASELINE, SCHEMA)
    except OSError as error:
        raise FileNotWritten(Path(error.filename or path), error) from None
    print_line(
        f"The baseline in {path} accepts what this run found: complete its reasons.", err=True
    )
