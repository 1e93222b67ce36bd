"""The command `hookproof mutants`."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from hookproof.conformance.checks import all_checks
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.mutants.campaign import (
    CLEAN,
    CampaignPlan,
    CampaignSettings,
    plan_campaign,
    run_campaign,
)
from hookproof.conformance.mutants.catalogue import DIALECTS, find_dialect
from hookproof.conformance.mutants.generated import (
    AT,
    GeneratedOrder,
    plan_generated,
    summarize_operators,
)
from hookproof.conformance.mutants.hiding.measurement import (
    Loss,
    measure_hiding,
    record_losses,
    spoiled_servers,
)
from hookproof.conformance.mutants.kill_matrix import (
    RECORDED,
    read_kills,
    record_kills,
    run_quick_campaign,
)
from hookproof.conformance.mutants.reports.html import render_page
from hookproof.conformance.mutants.reports.json import render_json
from hookproof.conformance.mutants.reports.text import (
    render_hiding,
    render_loss,
    render_operators,
    render_outcome,
    render_summary,
)
from hookproof.conformance.mutants.results import Campaign, FaultOutcome, VariantOutcome
from hookproof.conformance.mutants.schemathesis_baseline import (
    read_baseline,
    record_baseline,
    run_schemathesis_baseline,
)
from hookproof.help_examples import examples
from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.process.folder_lock import locked_folder
from hookproof.process.messages import print_line, print_text
from hookproof.process.stop_signals import held_back
from hookproof.process.written_file import write_files
from hookproof.spec.completion import complete_dialect
from hookproof.spec.strict_yaml.file_problem import FileProblems


@click.command(
    epilog=examples(
        ("hookproof mutants --quick --jobs 4", "Try the first fault that each check kills."),
        ("hookproof mutants --fault 'cursor_*'", "Try some faults."),
        (
            "hookproof mutants --generated 40 --seed 7",
            "Try a sample of the faults that operators make.",
        ),
    )
)
@click.option(
    "--fault",
    "patterns",
    multiple=True,
    metavar="PATTERN",
    help="Only these faults or variants; * is a wildcard.",
)
@click.option(
    "--dialect",
    "dialects",
    multiple=True,
    metavar="NAME",
    shell_complete=complete_dialect,
    help="Only under this dialect; repeatable.",
)
@click.option(
    "--profile",
    type=click.Choice([profile.key for profile in Profile]),
    help="How much is tried.  [default: standard]",
)
@click.option(
    "--jobs", type=click.IntRange(min=1), default=2, show_default=True, help="Runs at a time."
)
@click.option(
    "--full",
    is_flag=True,
    help="Run every experiment, not only those that are relevant for a fault.",
)
@click.option(
    "--without", multiple=True, metavar="CHECK", help="Leave a check out, to see what survives."
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The random seed."
)
@click.option(
    "--quick",
    is_flag=True,
    help="For every check only the first fault that it is recorded to kill.",
)
@click.option(
    "--schemathesis-baseline",
    "schemathesis_baseline",
    is_flag=True,
    help="Run plain schemathesis in place of the suites, and record what it reports.",
)
@click.option("--stock", "stock", is_flag=True, hidden=True)  # the option's former name
@click.option(
    "--hiding",
    is_flag=True,
    help="Measure what servers that are wrong in one way, or two, keep the suites from seeing;"
    " --fault then names these servers, and --generated asks for a sample of others. The default"
    " profile is quick.",
)
@click.option(
    "--generated",
    type=click.IntRange(min=1),
    metavar="N",
    help="A sample of N faults that operators make, by --seed, under the reference dialect.",
)
@click.option(
    "--operator",
    "operators",
    multiple=True,
    metavar="PATTERN",
    help="Only generated faults by these operators; * is a wildcard.",
)
@click.option(
    "--place",
    "places",
    multiple=True,
    metavar="PATTERN",
    help="Only generated faults at these places, as in '*.stored.name'; * is a wildcard.",
)
@click.option(
    "--compound",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="K",
    help="Generated faults in each server.",
)
@click.option(
    "--list-operators",
    is_flag=True,
    help="List the operators with the number of faults that each makes, then exit.",
)
@click.option(
    "--record",
    "recording",
    is_flag=True,
    help="Write the kills of the faults that ran, or what servers hid, into the source tree.",
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
    """Prove that the suites detect the fault of every faulty server, and pass conforming variants.

    Each fault of `hookproof serve --list-faults` is started and judged. It is killed when the
    requirements that it violates are detected, and no others. The exit code is 0 if every fault is
    killed without false positives, 1 if not, and 3 if the campaign was interrupted before that
    was known; what ran until then is reported. It is 130 if nothing had run by then.
    """
    try:
        code = _run(options)
    except (CommandError, FileProblems) as refusal:
        print_text(f"hookproof mutants: {refusal}", err=True)
        code = getattr(refusal, "exit_code", ExitCode.USAGE)
    context.exit(code)


def _run(options: dict[str, Any]) -> int:
    generated = _generated_order(options)
    if options["hiding"]:
        return _run_hiding(options, generated)
    if options["list_operators"]:
        return _list_operators(options, generated)
    plan = _plan(options, generated)
    if options["schemathesis_baseline"] or options["stock"]:
        on_report = _print_report if plan.generated else _print_and_record_report
        run_schemathesis_baseline(plan, on_report)
        return ExitCode.CONFORMS
    with locked_folder(options["out"]) as out:
        return _run_and_report(plan, options, out)


def _run_and_report(plan: CampaignPlan, options: dict[str, Any], out: Path) -> int:
    _clear_folder(out)
    campaign, missing = _run_campaign(plan, quick=options["quick"])
    if campaign.interrupted and not campaign.outcomes and not campaign.variants:
        raise KeyboardInterrupt  # there is nothing to report
    with held_back():  # what ran is reported, whatever comes
        print_line()
        for line in (*missing, *render_summary(campaign)):
            print_line(line)
        _write_reports(campaign, out)
        if options["recording"] and not campaign.interrupted:
            record_kills(campaign, RECORDED)
    if not campaign.outcomes and all(variant.name == CLEAN for variant in campaign.variants):
        return ExitCode.INCOMPLETE  # nothing that was asked for applies under these dialects
    return ExitCode.DOES_NOT_CONFORM if missing else campaign.verdict.exit_code


def _generated_order(options: dict[str, Any]) -> GeneratedOrder:
    """What is asked for of the generated faults; raises CommandError for what does not fit."""
    order = GeneratedOrder(
        names=tuple(pattern for pattern in options["patterns"] if AT in pattern),
        operators=options["operators"],
        places=options["places"],
        size=options["generated"],
        at_once=options["compound"],
    )
    if not order.asks_for_faults:
        if order.at_once > 1:
            raise CommandError("--compound is for generated faults; --generated N asks for them")
        return order
    if len(order.names) < len(options["patterns"]):
        raise CommandError("--fault names faults of the catalogue or generated ones, not both")
    for option, word in (("quick", "--quick"), ("recording", "--record")):
        if options[option]:
            raise CommandError(f"{word} is for faults of the catalogue, not for generated ones")
    return order


def _list_operators(options: dict[str, Any], order: GeneratedOrder) -> int:
    for word in options["dialects"] or DIALECTS[:1]:
        dialect = find_dialect(word)
        for line in render_operators(summarize_operators(dialect, order), dialect.name):
            print_line(line)
    return ExitCode.CONFORMS


def _plan(options: dict[str, Any], generated: GeneratedOrder) -> CampaignPlan:
    first_alone = generated.asks_for_faults or options["hiding"]
    profile = Profile.QUICK if options["hiding"] else Profile.STANDARD
    settings = CampaignSettings(
        patterns=() if options["hiding"] else options["patterns"],
        dialects=options["dialects"] or (DIALECTS[:1] if first_alone else DIALECTS),
        profile=Profile[(options["profile"] or profile.key).upper()],
        jobs=options["jobs"],
        full=options["full"],
        seed=options["seed"],
        without=options["without"],
    )
    if not generated.asks_for_faults:
        return plan_campaign(settings)
    plan = plan_generated(settings, generated)
    count = sum(map(len, plan.faults.values()))
    print_line(
        f"{count} servers, faults by operators in each: {generated.at_once}, seed {settings.seed}"
    )
    return plan


def _run_hiding(options: dict[str, Any], generated: GeneratedOrder) -> int:
    plan = _plan(options, generated)
    servers = spoiled_servers(plan, options["patterns"])
    picked = bool(options["patterns"])
    outcome = replace(measure_hiding(plan, servers, _print_loss), picked=picked)
    if outcome.interrupted and not outcome.losses:
        raise KeyboardInterrupt
    if options["recording"]:
        record_losses(outcome)
    print_line()
    print_text(render_hiding(outcome))
    if outcome.interrupted:
        return ExitCode.INCOMPLETE
    return ExitCode.CONFORMS if outcome.is_within_bounds else ExitCode.DOES_NOT_CONFORM


def _print_loss(loss: Loss) -> None:
    for line in render_loss(loss):
        print_line(line)


def _run_campaign(plan: CampaignPlan, *, quick: bool) -> tuple[Campaign, tuple[str, ...]]:
    """The campaign, and for a quick one the recorded kills that did not happen."""
    if not quick:
        return run_campaign(plan, _print_outcome), ()
    try:
        kills = read_kills()
    except (OSError, ValueError) as problem:
        raise CommandError(f"--quick needs a recorded kill matrix: {problem}") from None
    return run_quick_campaign(plan, kills, _print_outcome)


def _write_reports(campaign: Campaign, out: Path) -> None:
    campaign = replace(campaign, schemathesis_baseline=read_baseline())
    checks = all_checks()
    write_files(
        {
            out / "mutants.json": render_json(campaign, checks),
            out / "mutants.html": render_page(campaign, checks),
        }
    )


def _print_outcome(outcome: FaultOutcome | VariantOutcome) -> None:
    print_text(render_outcome(outcome))


def _print_and_record_report(name: str, reported: Sequence[str]) -> None:
    _print_report(name, reported)
    record_baseline({name: reported})


def _print_report(name: str, reported: Sequence[str]) -> None:
    print_line(f"{len(reported):3} {name}")


def _clear_folder(out: Path) -> None:
    """Delete the reports of an earlier campaign; raises CommandError."""
    try:
        for name in ("mutants.json", "mutants.html"):
            (out / name).unlink(missing_ok=True)
    except OSError as error:
        raise CommandError(f"--out {out} cannot be written to: {error.strerror or error}") from None
