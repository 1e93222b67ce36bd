"""The command `hookproof learn`: find out the dialect of a target."""

import json
import os
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

import click

from hookproof.conformance.learning.learner import Learned, learn_target
from hookproof.conformance.learning.report import lines, rows, summary
from hookproof.conformance.learning.written_files import DIALECT, TARGET, write_files
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.reports.progress import step_progress
from hookproof.conformance.target.command_options import flags_of, profile_option, target_options
from hookproof.conformance.target.definition import Target
from hookproof.conformance.target.file import target_from
from hookproof.help_examples import examples
from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.process.folder_lock import locked_folder
from hookproof.process.messages import print_document, print_line, print_text
from hookproof.process.stop_signals import held_back
from hookproof.spec.completion import complete_dialect
from hookproof.target.masking.quotation_mask import plain_keys
from hookproof.target.settings import UNDECIDED_DIALECT, Flags

API_ALONE: Final = (
    "the files hold what the API alone shows, which is also what a run without --ca-dir learns"
)


@click.command(
    epilog=examples(
        (
            "hookproof learn http://127.0.0.1:5005 --project p1 --ca-dir ca",
            "Write the dialect of a server to hookproof/dialect.yaml.",
        ),
    )
)
@target_options
@click.option(
    "--extends",
    shell_complete=complete_dialect,
    help="Name or file of the dialect whose answers are kept where nothing else is seen."
    "  [default: undecided]",
)
@profile_option(
    "quick: the API and signatures; standard: deliveries and retries too; deep: what waits."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("hookproof"),
    show_default=True,
    help="Folder for dialect.yaml, target.yaml and learned.html.",
)
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
@click.pass_context
def learn(context: click.Context, /, **options: Any) -> None:
    """Find out the dialect of a target, from its URL, a key and a project.

    What is seen is written into dialect.yaml, each answer with what showed it; what the document
    states is never learned otherwise, so that `hookproof check` judges it. It creates endpoints and
    broadcasts events. Ctrl-C, SIGTERM and SIGHUP end it, and what was learned by then is written.
    Exit codes: 0 learned; 3 interrupted, the target stopped answering, or no delivery came; 4
    target unreachable; 64 usage, a target that does not trust the receiver's CA, or a file that
    cannot be written; 130 interrupted before anything was learned.
    """
    flags = flags_of(options)
    if flags.url is None and flags.file is None:
        raise click.UsageError("give the target's URL, or --target", context)
    if flags.dialect is not None:
        raise click.UsageError("give --extends in place of --dialect", context)
    extends = options["extends"] or UNDECIDED_DIALECT
    try:
        target = learnable_target(flags, extends)
        if said := plain_keys(target.projects, target.dialect):
            print_line(f"hookproof learn: {said}", err=True)
        with locked_folder(options["out"]) as out:
            with step_progress("hookproof learn", sys.stderr) as note:
                learned = learn_target(target, extends, Profile[options["profile"].upper()], note)
            with held_back():  # what was learned is written, whatever comes
                context.exit(
                    _reported(learned, target, out, flags.file, as_json=options["as_json"])
                )
    except CommandError as error:
        print_text(f"hookproof learn: {error}", err=True)
        context.exit(error.exit_code)


def _reported(
    learned: Learned, target: Target, out: Path, target_file: Path | None, *, as_json: bool
) -> int:
    """Show what was learned and write the files; the exit code. Raises CommandError."""
    if not as_json:
        for line in lines(learned):
            print_text(line)
    paths = write_files(learned, target, out, target_file=target_file)
    incomplete = _incomplete(learned)
    next_step = _next_step(out, target_file)
    if as_json:
        document = {
            "complete": not incomplete,
            "incomplete": incomplete,
            "answers": [asdict(row) for row in rows(learned.answers)],
            "summary": summary(learned),
            "files": list(map(str, paths)),
            "next": next_step,
        }
        print_document(json.dumps(document, indent=1))
    else:
        print_line(f"Written: {', '.join(map(str, paths))}")
        print_text(f"INCOMPLETE  {incomplete}" if incomplete else f"Next: {next_step}")
    return ExitCode.INCOMPLETE if incomplete else ExitCode.OK


def _incomplete(learned: Learned) -> str:
    """Why not all was learned that can be, or nothing."""
    if learned.interrupted or learned.outage:
        why = "learning was interrupted" if learned.interrupted else "the target stopped answering"
        return f"{why}; the files hold what was learned by then"
    return f"{learned.no_deliveries}; {API_ALONE}" if learned.no_deliveries else ""


def learnable_target(flags: Flags, extends: str) -> Target:
    """The target with the dialect that is extended; raises CommandError."""
    return target_from(replace(flags, dialect=extends), os.environ)


def _next_step(out: Path, target_file: Path | None) -> str:
    if target_file is not None:
        return f"hookproof check --target {target_file} --dialect {out / DIALECT}"
    return f"hookproof check --target {out / TARGET}"
