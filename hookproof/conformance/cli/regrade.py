"""The command `hookproof regrade`: judge the evidence of a finished run again."""

import json
from pathlib import Path

import click

from hookproof.conformance.cli.stored_run import (
    FOLDER,
    difference_lines,
    end_with_error,
    verdict_line,
)
from hookproof.conformance.reports.behaviour.json import change_json, run_json
from hookproof.conformance.reports.formats import write_reports
from hookproof.conformance.results.comparison import differences
from hookproof.conformance.results.run_file import NotARun
from hookproof.conformance.run.regrading import regrade_run, write_regraded
from hookproof.conformance.target.file import named_dialect
from hookproof.help_examples import examples
from hookproof.process.exit_codes import CommandError
from hookproof.process.folder_lock import locked_folder
from hookproof.process.installed_version import installed_version
from hookproof.process.messages import print_document, print_line
from hookproof.spec.completion import complete_dialect
from hookproof.spec.strict_yaml.file_problem import FileProblems


@click.command(
    epilog=examples(
        (
            "hookproof regrade hookproof-report",
            "Judge the evidence again, such as with a newer version.",
        ),
        (
            "hookproof regrade hookproof-report --dialect ours.yaml --out regraded",
            "Judge it by another dialect, and write the reports.",
        ),
    )
)
@click.argument("folder", type=FOLDER, metavar="DIR", default="hookproof-report")
@click.option(
    "--dialect",
    shell_complete=complete_dialect,
    help="Name or file of another dialect to judge against.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder for the regraded run and its reports.",
)
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
@click.pass_context
def regrade(
    context: click.Context,
    /,
    *,
    folder: Path,
    dialect: str | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Judge the evidence in DIR again, and report whether the verdicts are the same.

    DIR is a folder that `hookproof check --out` wrote, or a packed run. Nothing is sent to any
    target. The dialect is the one that the run was judged against, unless another is named; the
    evidence is not gathered again. Exit codes are those of `hookproof check`.
    """
    try:
        again = regrade_run(folder, named_dialect(dialect) if dialect else None)
        if out is not None:
            with locked_folder(out):
                write_reports(write_regraded(again, folder, out, installed_version()), out)
    except (NotARun, CommandError, FileProblems) as error:
        end_with_error(context, str(error))
    except OSError as error:
        end_with_error(context, f"--out {out} cannot be written to: {error.strerror or error}")
    strict = again.run.header.strict
    changed = list(differences(again.run.ledger, again.ledger, strict=strict))
    verdict = again.ledger.verdict(strict=strict)
    same = not changed and verdict is again.run.footer.verdict
    if as_json:
        document = {
            "run": run_json(again.run),
            "verdict": verdict.value,
            "exit_code": int(verdict.exit_code),
            "same": same,
            "verdicts": [change_json(difference) for difference in changed],
        }
        print_document(json.dumps(document, indent=1))
        context.exit(verdict.exit_code)
    for line in difference_lines(changed):
        print_line(line)
    heading = "The same verdicts." if same else "Other verdicts than before."
    print_line(f"{heading} {verdict_line(again.ledger, strict=strict)}")
    context.exit(verdict.exit_code)
