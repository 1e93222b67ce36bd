"""The command `hookproof mutants`."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from hookproof.conformance.model.check_registry import all_checks
from hookproof.conformance.mutants.campaign import CLEAN, Docket, Settings, carried_out, docket
from hookproof.conformance.mutants.catalogue import DIALECTS
from hookproof.conformance.mutants.kill_matrix import RECORDED, kills_of, record, recorded
from hookproof.conformance.mutants.quick_pass import quick_campaign
from hookproof.conformance.mutants.reports.html import page
from hookproof.conformance.mutants.reports.json import report_text
from hookproof.conformance.mutants.reports.text import summary, told
from hookproof.conformance.mutants.results import Acquittal, Campaign, Outcome
from hookproof.conformance.mutants.schemathesis_baseline import (
    compare,
    record_stock,
    recorded_stock,
)
from hookproof.conformance.target.definition import Profile
from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.spec.strict_yaml.file_problem import FileProblems


@click.command()
@click.option(
    "--fault",
    "patterns",
    multiple=True,
    metavar="PATTERN",
    help="Only these faults or innocents; * is wild.",
)
@click.option(
    "--dialect",
    "dialects",
    multiple=True,
    metavar="NAME",
    help="Only under this dialect; repeatable.",
)
@click.option(
    "--profile",
    type=click.Choice([one.key for one in Profile]),
    default=Profile.STANDARD.key,
    show_default=True,
    help="How much is tried.",
)
@click.option(
    "--jobs", type=click.IntRange(min=1), default=2, show_default=True, help="Trials at a time."
)
@click.option(
    "--full",
    is_flag=True,
    help="Start every experiment, not only those that can matter for a fault.",
)
@click.option(
    "--without", multiple=True, metavar="CHECK", help="Leave a check out, to see who survives."
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="What varies with chance.",
)
@click.option(
    "--quick", is_flag=True, help="For every check the first fault that it is recorded to kill."
)
@click.option(
    "--stock",
    is_flag=True,
    help="Run plain schemathesis in place of the suites, and record what it finds.",
)
@click.option(
    "--record",
    "recording",
    is_flag=True,
    help="Write the kill matrix into the source tree, for the tests.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("hookproof-mutants"),
    show_default=True,
    help="Folder for mutants.json and mutants.html.",
)
@click.pass_context
def mutants(context: click.Context, /, **options: Any) -> None:
    """Prove that the suites convict every faulty server of its own fault, and acquit the innocent.

    Each fault of `hookproof serve --list-faults` is started and judged. It is killed when the
    requirements that it violates are convicted, and no others. The exit code is 0 if every fault is
    killed and nobody is accused falsely, 1 if not, and 3 if the campaign was interrupted before
    that could be said: what was tried until then is reported.
    """
    try:
        code = _campaign(options)
    except (CommandError, FileProblems) as refusal:
        click.echo(f"hookproof mutants: {refusal}", err=True)
        code = getattr(refusal, "exit_code", ExitCode.USAGE)
    context.exit(code)


def _campaign(options: dict[str, Any]) -> int:
    settings = Settings(
        patterns=options["patterns"],
        dialects=options["dialects"] or DIALECTS,
        profile=Profile[options["profile"].upper()],
        jobs=options["jobs"],
        full=options["full"],
        seed=options["seed"],
        without=options["without"],
    )
    asked = docket(settings)
    if options["stock"]:
        compare(asked, _tell_and_record)
        return ExitCode.CONFORMS
    out = _emptied(options["out"])
    campaign, missing = _tried(asked, quick=options["quick"])
    campaign = replace(campaign, stock=recorded_stock())
    checks = all_checks()
    (out / "mutants.json").write_text(report_text(campaign, checks), encoding="utf-8")
    (out / "mutants.html").write_text(page(campaign, checks), encoding="utf-8")
    if options["recording"] and not campaign.interrupted:
        record(kills_of(campaign), RECORDED, whole=campaign.whole)
    click.echo()
    for line in (*missing, *summary(campaign)):
        click.echo(line)
    if not campaign.outcomes and all(one.name == CLEAN for one in campaign.acquittals):
        return ExitCode.INCOMPLETE  # none of what was asked for can be seen under these dialects
    return ExitCode.DOES_NOT_CONFORM if missing else campaign.verdict.exit_code


def _tried(asked: Docket, *, quick: bool) -> tuple[Campaign, tuple[str, ...]]:
    """The campaign, and for a quick one what did not happen as it is recorded."""
    if not quick:
        return carried_out(asked, _tell), ()
    try:
        kills = recorded()
    except (OSError, ValueError) as problem:
        raise CommandError(f"there is no record to be quick with: {problem}") from None
    return quick_campaign(asked, kills, _tell)


def _tell(tried: Outcome | Acquittal) -> None:
    click.echo(told(tried))
    sys.stdout.flush()


def _tell_and_record(name: str, found: Sequence[str]) -> None:
    click.echo(f"{len(found):3} {name}")
    record_stock({name: found})


def _emptied(out: Path) -> Path:
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name in ("mutants.json", "mutants.html"):
            (out / name).unlink(missing_ok=True)
    except OSError as error:
        raise CommandError(f"--out {out} cannot be written to: {error.strerror or error}") from None
    return out
