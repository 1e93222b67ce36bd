"""The command `hookproof replay`."""

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import click

from hookproof.conformance.replay.differences import Differences
from hookproof.conformance.replay.recording import Recording, read_recording
from hookproof.conformance.replay.replaying import Replayed, replay, replayed_cases
from hookproof.conformance.reports.behaviour.json import behaviour_json
from hookproof.conformance.reports.behaviour.text import behaviour_lines
from hookproof.conformance.reports.summary import earlier_words, left_words
from hookproof.conformance.results.run_file import NotARun, run_path
from hookproof.conformance.run.composition_root import embedded_subject
from hookproof.conformance.target.command_options import (
    flags_of,
    refuse_target_options,
    target_options,
)
from hookproof.conformance.target.definition import Target
from hookproof.conformance.target.environment import Embedded
from hookproof.conformance.target.file import budgets_from, named_dialect, target_from
from hookproof.help_examples import examples
from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.process.messages import print_document, print_line, print_text
from hookproof.process.stop_signals import run_until_stopped
from hookproof.receiver.client.child_process import ChildFailed
from hookproof.target.settings import Flags, receiver_of

RUN: Final = click.Path(path_type=Path)


@click.command(
    name="replay",
    epilog=examples(
        (
            "hookproof replay hookproof-report http://127.0.0.1:5005 --project p1 --ca-dir ca",
            "Send what a run sent to a server; its key is in HOOKPROOF_API_KEY.",
        ),
        (
            "hookproof replay runs/old.zip --target target.yaml --format json",
            "Send a packed run to the server in a target file; show what differs as JSON.",
        ),
    ),
)
@click.argument("run", type=RUN, metavar="RUN")
@target_options
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Format to write.",
)
@click.option("--json", "form", flag_value="json", help="The same as --format json.")
@click.pass_context
def replay_command(context: click.Context, /, run: Path, form: str, **options: Any) -> None:
    """Send the requests of RUN again, in their order and at their times, and show what differs.

    RUN is a folder that `hookproof check --out` wrote, or a packed run. Identifiers, cursors,
    secrets, keys and projects are those of the target, and the receiver answers deliveries with
    the statuses that it answered then. Nothing is judged. Without URL and --target a run of the
    embedded server is sent to a new one.

    Exit codes: 0 nothing differs but times; 1 something does; 3 the replay ended early; 4 the
    target cannot be reached; 64 there is nothing to send, or nowhere to send it.
    """
    try:
        recording = read_recording(run_path(run))
        subject = _subject(context, recording, flags_of(options))
        begins = partial(_say_what_begins, recording)
        replayed = run_until_stopped(partial(replay, recording, subject, begins))
    except NotARun as error:
        print_text(f"hookproof replay: {error}", err=True)
        context.exit(ExitCode.USAGE)
    except (CommandError, ChildFailed) as refusal:
        print_text(f"hookproof replay: {refusal}", err=True)
        context.exit(refusal.exit_code or ExitCode.INTERNAL_ERROR)
    differences = Differences.of(*replayed_cases(recording, replayed))
    if form == "json":
        print_document(json.dumps(_document(recording, replayed, differences), indent=1))
    else:
        for line in _lines(recording, replayed, differences):
            print_line(line)
    if replayed.cut:
        context.exit(ExitCode.INCOMPLETE)
    context.exit(ExitCode.FAILED if differences.found else ExitCode.OK)


def _subject(context: click.Context, recording: Recording, flags: Flags) -> Target | Embedded:
    header = recording.header
    if flags.url is not None or flags.file is not None:
        return target_from(flags, os.environ)
    if not header.embedded:
        raise click.UsageError(
            f"give the URL of a target, or --target; the recorded one was {header.target}", context
        )
    refuse_target_options(context)
    name = flags.dialect or header.dialect
    embedded = embedded_subject(
        named_dialect(name), name, header.seed, receiver_of(flags), budgets_from(flags)
    )
    return replace(embedded, projects=len(header.projects))


def _say_what_begins(recording: Recording, target: str) -> None:
    count = f"{len(recording.requests):,} requests"
    print_line(
        f"hookproof replay: sending {count} to {target}, in about {recording.lasted_s:.0f} s",
        err=True,
    )


def _lines(recording: Recording, replayed: Replayed, differences: Differences) -> Iterator[str]:
    """What was sent, what differs, and a last line that sums it up."""
    yield (
        f"before: {recording.header.target}, {recording.lasted_s:.1f} s;"
        f" after: {replayed.target}, {replayed.took_s:.1f} s"
    )
    yield from _notes(recording, replayed)
    yield ""
    yield from behaviour_lines(differences.both)
    if differences.missing:
        yield "deliveries that did not arrive"
        yield from (f"  {words}" for words in differences.missing)
    yield ""
    sent = f"{len(replayed.answers):,} of {len(recording.requests):,} requests"
    yield f"{'CUT' if replayed.cut else 'REPLAYED'}  {sent}; {differences.words}"


def _notes(recording: Recording, replayed: Replayed) -> Iterator[str]:
    if replayed.cut:
        yield f"The replay ended early: {replayed.cut}."
    for reason, count in recording.left_out.items():
        yield f"Not sent: {count:,} requests {reason}."
    if replayed.problem:
        yield f"Deliveries are not compared: {replayed.problem}."
    for outage in replayed.outages:
        yield f"Note: {outage}."
    for failure in replayed.hooks:
        yield f"The provision hook {failure}."
    if not replayed.embedded:
        yield from left_words(replayed.left)
        yield from earlier_words(replayed.left)


def _document(recording: Recording, replayed: Replayed, differences: Differences) -> dict[str, Any]:
    return {
        "recorded": {
            "target": recording.header.target,
            "started_at": recording.header.started_at,
            "requests": len(recording.requests),
            "not_sent": dict(recording.left_out),
            "lasted_s": round(recording.lasted_s, 3),
        },
        "replayed": {
            "target": replayed.target,
            "requests": len(replayed.answers),
            "lasted_s": round(replayed.took_s, 3),
            "cut": replayed.cut,
            "outages": list(replayed.outages),
            "failed_hooks": list(replayed.hooks),
            "deliveries_compared": replayed.received,
        },
        "differs": differences.found,
        "missing_deliveries": list(differences.missing),
        "behaviour": behaviour_json(differences.both),
    }
