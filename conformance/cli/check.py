"""The command `hookproof check`."""

import os
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from hookproof.conformance.cli.planned_run import budget_warning, plan_lines
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.reports.console import show
from hookproof.conformance.reports.progress import usual_durations
from hookproof.conformance.results.baseline import baseline_text, read_baseline
from hookproof.conformance.results.run_file import NAME
from hookproof.conformance.run.composition_root import Settings, embedded_subject, perform, planned
from hookproof.conformance.run.selection import Selection
from hookproof.conformance.target.command_options import flags_of, target_options
from hookproof.conformance.target.definition import Target
from hookproof.conformance.target.environment import Embedded
from hookproof.conformance.target.file import budgets_from, named_dialect, target_from
from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.process.installed_version import installed_version
from hookproof.spec.catalogue import Level
from hookproof.target.settings import DEFAULT_DIALECT, receiver_of


@click.command()
@target_options
@click.option(
    "--budget",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    envvar="HOOKPROOF_BUDGET",
    help="Time for the whole run; what was gathered by then is judged.  [default: 120]",
)
@click.option(
    "--only", multiple=True, metavar="SELECTOR", help="Judge only these: an id, a section, '4.3-*'."
)
@click.option("--exclude", multiple=True, metavar="SELECTOR", help="Leave these out.")
@click.option(
    "--level",
    type=click.Choice([level.value for level in Level]),
    default=Level.HYGIENE.value,
    show_default=True,
    help="Judge up to this level: stated, then open, then hygiene.",
)
@click.option(
    "--profile",
    type=click.Choice([profile.key for profile in Profile]),
    default=Profile.STANDARD.key,
    show_default=True,
    help="How much to try.",
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
    help="Write a baseline that accepts what this run finds.",
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
        settings = _settings(context, options)
        schedule, budget_s = planned(settings), settings.subject.budgets.total_s
        expected_s = schedule.expected_s(usual_durations(settings.out / NAME))
        if options["plan"]:
            click.echo("\n".join(plan_lines(schedule, budget_s, expected_s)))
            return
        if too_long := budget_warning(schedule, budget_s, expected_s):
            click.echo(f"hookproof check: {too_long}", err=True)
        run = perform(settings)
    except CommandError as error:
        click.echo(f"hookproof check: {error}", err=True)
        context.exit(error.exit_code)
    show(run)
    if options["write_baseline"] is not None:
        _write_baseline(
            context, options["write_baseline"], baseline_text(run.entries, settings.baseline)
        )
    context.exit(run.footer.exit_code)


def _settings(context: click.Context, options: dict[str, Any]) -> Settings:
    flags = flags_of(options)
    if flags.url is None and flags.file is None:
        _refuse_target_options(context)
        dialect = named_dialect(flags.dialect)
        subject: Target | Embedded = embedded_subject(
            dialect,
            flags.dialect or DEFAULT_DIALECT,
            options["seed"],
            receiver_of(flags),
            budgets_from(flags),
        )
    else:
        subject = target_from(flags, os.environ)
    return Settings(
        subject=subject,
        profile=Profile[options["profile"].upper()],
        seed=options["seed"],
        strict=options["strict"],
        max_fail=options["max_fail"],
        selection=Selection(
            only=options["only"], exclude=options["exclude"], level=Level(options["level"])
        ),
        out=options["out"],
        tool_version=installed_version(),
        repetitions=options["repeat"],
        baseline=() if options["baseline"] is None else read_baseline(options["baseline"]),
    )


def _write_baseline(context: click.Context, path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        click.echo(
            f"hookproof check: {path} cannot be written: {error.strerror or error}", err=True
        )
        context.exit(ExitCode.USAGE)
    click.echo(f"The baseline is in {path}: complete its reasons.", err=True)


def _refuse_target_options(context: click.Context) -> None:
    """Refuse a key or project for the embedded server, which has its own."""
    for name, option in (("api_keys", "--api-key"), ("projects", "--project")):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{option} is for a target: give its URL, or --target", context)
