"""`hookproof load`: prepares a run, has Locust processes carry it out, and writes the reports."""

import asyncio
import json
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any, Final

import click
import msgspec
from click.shell_completion import CompletionItem

from hookproof.help_examples import examples
from hookproof.load.broadcast_mark import marked_data
from hookproof.load.cli.distributed_options import (
    DistributedFlags,
    become_worker,
    distributed_options,
)
from hookproof.load.distributed.workers import Distribution
from hookproof.load.ledger.run_metrics import RunMetrics
from hookproof.load.metrics import serve_metrics
from hookproof.load.profile.load_profile import (
    HIGHEST_RATE,
    LONGEST_S,
    MOST_ENDPOINTS,
    MOST_USERS,
    LoadProfile,
    load_profile,
    shipped_profiles,
)
from hookproof.load.profile.thresholds import BadThreshold, Threshold
from hookproof.load.reports.comparison import REPORT
from hookproof.load.reports.html_page import page, series_csv
from hookproof.load.reports.summary import console_report, summary, trial_line
from hookproof.load.run.driver import Driver, command_errors, open_driver
from hookproof.load.run.judgement import complaints, is_undecided, own_limit
from hookproof.load.run.knee_search import Knee
from hookproof.load.run.outcome import LoadOutcome
from hookproof.load.single_process import InterruptForwarder
from hookproof.load.target.hook_calls import AFTER_ENDPOINT
from hookproof.load.target.settings import KEY_VARIABLE, TargetSettings, target_settings
from hookproof.process.exit_codes import CommandError
from hookproof.process.folder_lock import locked_folder
from hookproof.process.installed_version import installed_version
from hookproof.process.messages import print_document, print_line, print_text
from hookproof.process.standard_streams import output_to_standard_error
from hookproof.process.stop_signals import calling_each_time, held_back
from hookproof.process.written_file import write_files
from hookproof.receiver.http.address import Address
from hookproof.spec.completion import complete_dialect
from hookproof.spec.given_file import read_given
from hookproof.spec.strict_yaml.file_problem import FileProblems
from hookproof.target.settings import Flags

TABLE: Final = "series.csv"
PAGE: Final = "report.html"
LOCUST_TABLE: Final = "locust_stats.csv"
LOOK_EVERY_S: Final = 0.1
DISTRIBUTED_NAMES: Final = tuple(field.name for field in fields(DistributedFlags))


def complete_profile(_context: object, _parameter: object, incomplete: str) -> Sequence[Any]:
    """The shipped profiles; files where the text is like none of their names."""
    names = [name for name in shipped_profiles() if name.startswith(incomplete)]
    return names or [CompletionItem(incomplete, type="file")]


@click.command(
    options_metavar="[OPTIONS]",
    epilog=examples(
        ("hookproof load", "Load the embedded server for ten seconds."),
        (
            "hookproof load ingest --target target.yaml --ca-dir ca --fail-if 'lost > 0'",
            "Load a server, and fail if a delivery is lost.",
        ),
        (
            "hookproof load http://127.0.0.1:5005 fanout --project p1 --ca-dir ca",
            "Load a server with many endpoints; its key is in HOOKPROOF_API_KEY.",
        ),
    ),
)
@click.argument("words", nargs=-1, metavar="[URL] [PROFILE]", shell_complete=complete_profile)
@click.option(
    "--target",
    "file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="target.yaml, as for check; a Python file that its provision names is run.",
)
@click.option(
    "--url",
    help="Base URL of the target, as URL; without one the embedded server is started.",
)
@click.option(
    "--api-key", envvar=KEY_VARIABLE, help="Key of the target's project (or HOOKPROOF_API_KEY)."
)
@click.option("--project", help="Project of the target.")
@click.option(
    "--dialect",
    shell_complete=complete_dialect,
    help="Name or file of the target's dialect; reference by default.",
)
@click.option(
    "--receiver-bind",
    metavar="H:P",
    help="Where deliveries arrive; 127.0.0.1 and any free port by default.",
)
@click.option("--receiver-url", metavar="URL", help="URL by which the target reaches the receiver.")
@click.option(
    "--receiver-http",
    is_flag=True,
    help="Receive plain HTTP from a proxy or tunnel that ends TLS at --receiver-url.",
)
@click.option(
    "--ca-dir", type=click.Path(path_type=Path), help="Folder of the CA that the target trusts."
)
@click.option(
    "--i-may-load", metavar="HOST", help="Allow a target on this host, which is not this machine."
)
@click.option(
    "--rate",
    type=click.FloatRange(0.1, HIGHEST_RATE),
    help="Slots a second, instead of the profile's.",
)
@click.option(
    "--duration",
    type=click.FloatRange(0.1, LONGEST_S),
    help="Seconds of sending, instead of the profile's.",
)
@click.option(
    "--users",
    type=click.IntRange(1, MOST_USERS),
    help="Most requests in flight, instead of the profile's.",
)
@click.option(
    "--endpoints",
    type=click.IntRange(1, MOST_ENDPOINTS),
    help="Endpoints that each broadcast reaches, instead of the profile's.",
)
@click.option(
    "--payload",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A JSON file with an object: the data of each broadcast, instead of the profile's.",
)
@click.option(
    "--drain",
    type=click.FloatRange(0, LONGEST_S),
    help="Seconds that deliveries may take to arrive after that.",
)
@click.option(
    "--drain-at-most",
    type=click.FloatRange(0, LONGEST_S),
    help="Seconds to wait for deliveries that still arrive then; five times --drain by default.",
)
@click.option(
    "--keep-up",
    type=click.FloatRange(0.001, LONGEST_S),
    help="How late the generator itself may send, in seconds.",
)
@click.option(
    "--fail-if",
    multiple=True,
    metavar="THRESHOLD",
    help="Fail in this case too, as in 'delivery_p99 > 2s'.",
)
@distributed_options
@click.option(
    "--out",
    default="hookproof-load",
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Write the content of report.json; all else goes to standard error.",
)
def load(
    *,
    words: tuple[str, ...],
    i_may_load: str | None,
    rate: float | None,
    duration: float | None,
    users: int | None,
    endpoints: int | None,
    payload: Path | None,
    drain: float | None,
    drain_at_most: float | None,
    keep_up: float | None,
    fail_if: tuple[str, ...],
    out: Path,
    as_json: bool,
    **further: Any,
) -> int:
    """Load a target by a profile and measure at the receiver what became of each delivery.

    PROFILE is a file, or one of: api-mix, chaos, fanout, ingest, ramp, rate-limit, roll-under-load,
    smoke, soak, spike; smoke by default. `hookproof compare A B` shows the figures of two runs
    side by side, each named by its --out folder.

    With --processes N, N workers on this machine share rate and users. With --master here and
    --worker on other machines, those do. Each worker has its own receiver (--receiver-bind,
    --receiver-url) and at least one endpoint.

    Ctrl-C stops sending, waits for the deliveries under way and still reports; a second one stops
    waiting; SIGTERM and SIGHUP do the same. Exit codes: 0 no threshold was crossed; 1 one was, the
    target fails (5xx) before the run, or the run proves nothing; 3 it was interrupted, and no
    threshold was crossed by then; 4 target unreachable; 64 usage, configuration, or a report that
    cannot be written; 70 internal error; 130 interrupted before anything was sent.
    """
    words, further["url"] = _profile_and_url(words, further["url"])
    if len(words) > 1:
        raise CommandError("one profile at a time; `hookproof compare A B` compares two runs")
    try:
        profile = load_profile(words[0] if words else "smoke").overridden(
            rate=rate,
            duration_s=duration,
            users=users,
            drain_s=drain,
            drain_at_most_s=drain_at_most,
            keep_up_s=keep_up,
            endpoints=endpoints,
            payload=None if payload is None else read_payload(payload),
            fail_if=tuple(Threshold.parse(text) for text in fail_if),
        )
        if profile.search is not None:
            profile.at_rate(profile.search.most)  # raises if the largest trial is too large
        flags = DistributedFlags(**{name: further.pop(name) for name in DISTRIBUTED_NAMES})
        settings = target_settings(Flags(**further), os.environ, for_worker=flags.worker)
        settings = flags.with_monitoring(settings)
        if flags.worker:
            _become_worker(settings, flags, i_may_load, words)
        distribution, web = flags.distribution(settings), flags.web_address()
        if distribution is not None:
            profile = profile.for_workers(distribution.workers)
    except (FileProblems, BadThreshold, ValueError) as problem:
        raise CommandError(str(problem)) from None
    if settings.host not in (None, i_may_load):
        raise CommandError(
            f"{settings.host} is not this machine;"
            f" if you may load it, say so: --i-may-load {settings.host}"
        )
    with locked_folder(out), held_back():  # what was measured is reported, whatever comes
        with output_to_standard_error() if as_json else nullcontext():
            if settings.provision.has(AFTER_ENDPOINT):
                count = profile.endpoints.count
                print_line(f"the hook {AFTER_ENDPOINT} is called for each endpoint ({count:,})")
            report, locust_table = _run(settings, profile, distribution, web, flags.metrics)
            print_text(console_report(report))
        if as_json:
            print_document(report_text(report))
        _write_reports(out, report, locust_table)
        print_line(f"reports in {out}", err=as_json)
        return int(report["exit_code"])


def _profile_and_url(words: tuple[str, ...], url: str | None) -> tuple[tuple[str, ...], str | None]:
    """The words that are no URL, and the only URL among them and that of --url, if there is one."""
    urls = [*(word for word in words if "://" in word), *([] if url is None else [url])]
    if len(urls) > 1:
        raise CommandError("one target at a time: give one URL")
    return tuple(word for word in words if "://" not in word), next(iter(urls), None)


def read_payload(path: Path) -> Mapping[str, Any]:
    """The object in a file of JSON; raises ValueError."""
    try:
        content = msgspec.json.decode(read_given(path), type=dict[str, Any])
        marked_data(content, "run", 0, 0.0, "")
    except (OSError, ValueError, TypeError, RecursionError, msgspec.MsgspecError) as problem:
        raise ValueError(f"--payload: {path} cannot be sent: {problem}") from None
    return content


def _write_reports(out: Path, report: Mapping[str, Any], locust_table: str) -> None:
    """Write the files; raises FileNotWritten when all have been tried."""
    write_files(
        {
            out / REPORT: report_text(report),
            out / TABLE: series_csv(report),
            out / PAGE: page(report),
            out / LOCUST_TABLE: locust_table,
        }
    )


def report_text(report: Mapping[str, Any]) -> str:
    """The content of report.json."""
    return json.dumps(report, indent=1)


def _become_worker(
    settings: TargetSettings, flags: DistributedFlags, may_load: str | None, words: tuple[str, ...]
) -> None:
    if words:
        raise CommandError(
            "a --worker accepts no profile: its master decides what is sent"
            f" ({words[0]} is for the master)"
        )
    become_worker(settings, flags, may_load)


def _run(
    settings: TargetSettings,
    profile: LoadProfile,
    distribution: Distribution | None,
    web: str | None,
    metrics_at: str | None,
) -> tuple[Mapping[str, Any], str]:
    """Carry out the run and return its report and Locust's own table.

    Raises CommandError, and KeyboardInterrupt if it is interrupted before its sending begins.
    """
    try:
        with command_errors():
            return asyncio.run(_carry_out(settings, profile, distribution, web, metrics_at))
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


async def _carry_out(
    settings: TargetSettings,
    profile: LoadProfile,
    distribution: Distribution | None,
    web: str | None,
    metrics_at: str | None,
) -> tuple[Mapping[str, Any], str]:
    task = asyncio.current_task()
    assert task is not None
    interrupts, metrics = InterruptForwarder(cancel=task.cancel), RunMetrics()
    if metrics_at is not None:
        url = serve_metrics(Address.parse(metrics_at), metrics.figures, of_process=False)
        print_line(f"metrics at {url}")
    # From within the loop, which would go on waiting otherwise.
    interrupt = partial(asyncio.get_running_loop().call_soon_threadsafe, interrupts.interrupt)
    with calling_each_time(interrupt):
        async with open_driver(
            settings,
            profile,
            distribution,
            web=web,
            interrupts=interrupts,
            metrics=metrics,
        ) as ready:
            profile = ready.preparation.fitted(profile)
            if profile.search is not None:
                report, table = await _search(ready, profile, interrupts)
            else:
                outcome = await ready.run(profile)
                if outcome.is_empty:
                    raise asyncio.CancelledError
                wrong = complaints(outcome, profile)
                report = _summary(ready, profile, outcome, wrong, interrupted=outcome.interrupted)
                table = outcome.table
            count = interrupts.count
            # Another thread answers whoever asks.
            while metrics.is_awaited(time.monotonic()) and interrupts.count == count:  # noqa: ASYNC110
                await asyncio.sleep(LOOK_EVERY_S)
    hooks, embedded = ready.preparation.hooks, settings.base_url is None
    left = {
        "embedded": embedded,
        "left_at_target": {} if embedded else hooks.left_at_target(),
        "failed_hooks": hooks.failed_at_end(),
    }
    return {**report, **left}, table


async def _search(
    ready: Driver, profile: LoadProfile, interrupts: InterruptForwarder
) -> tuple[Mapping[str, Any], str]:
    """Search for the knee; the report is of the best trial, or of the last one if none passed."""
    assert profile.search is not None
    knee, trials = Knee(search=profile.search, first=profile.rate), list[dict[str, Any]]()
    shown: tuple[LoadProfile, LoadOutcome, list[str]] | None = None
    limits = dict[float, str]()
    while not interrupts.count and (rate := knee.next_rate()) is not None:
        trial = profile.at_rate(rate)
        outcome = await ready.run(trial)
        if outcome.is_empty:
            break
        wrong = complaints(outcome, profile)
        knee.note(rate, passed=not wrong)
        if wrong and (limit := own_limit(outcome, profile)) is not None:
            limits[rate] = limit
        trials.append({"rate": rate, "complaints": wrong, "figures": outcome.figures})
        print_text(trial_line(trials[-1]))
        if shown is None or shown[2] or not wrong or rate <= shown[0].rate:
            shown = (trial, outcome, wrong)
        if outcome.lost_workers:
            break  # with fewer workers the trials are not comparable
    if shown is None:
        raise asyncio.CancelledError
    trial, outcome, wrong = shown
    outcome.figures["knee"] = knee.good
    if interrupts.count and not outcome.interrupted:
        wrong = [*wrong, "interrupted before the end of the search"]
    report = _summary(
        ready,
        trial,
        outcome,
        wrong,
        interrupted=interrupts.count > 0,
        trials=trials,
        knee_limited_by=_limited_by(knee, limits),
        knee_spread=knee.spread,
    )
    return report, outcome.table


def _limited_by(knee: Knee, limits: Mapping[float, str]) -> str:
    """Whose the knee is; `limits` says of failed trials, by rate, that we ourselves were it."""
    if knee.bad is None:
        return "the most that the search may try"
    limit = limits.get(knee.bad)
    return "that of the target" if limit is None else f"not that of the target: {limit}"


def _summary(
    ready: Driver, profile: LoadProfile, outcome: LoadOutcome, wrong: list[str], **further: Any
) -> Mapping[str, Any]:
    settings = ready.preparation.settings
    return summary(
        profile=profile,
        target=settings.base_url or "",
        dialect=settings.dialect_name,
        version=installed_version(),
        outcome=outcome,
        wrong=wrong,
        undecided=is_undecided(outcome, profile),
        left_out=ready.preparation.left_out,
        warnings=settings.warnings,
        hooks=ready.preparation.hooks.counts,
        workers=len(ready.preparation.receivers),
        **further,
    )
