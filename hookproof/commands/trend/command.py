"""The command `hookproof trend`."""

import json
from pathlib import Path

import click

from hookproof.commands.trend.history import history_of, trend_json, trend_lines
from hookproof.commands.trend.runs import found_runs
from hookproof.help_examples import examples
from hookproof.process.exit_codes import CommandError
from hookproof.process.messages import print_document, print_line


@click.command(
    epilog=examples(
        (
            "hookproof check --target target.yaml --out runs/$(date +%F)",
            "Let each night write a folder of its own.",
        ),
        ("hookproof trend runs", "Show what changed from night to night."),
    )
)
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Format to write.",
)
def trend(*, folder: Path, form: str) -> None:
    """Show the runs in DIR and in the folders in it by time, and what changed between them.

    Runs of `hookproof check`, packed ones too, are compared by target: verdicts, counts of each
    level, and what got better or worse. Runs of `hookproof load` are compared by target and
    profile: rates, percentiles, losses.

    Exit codes: 0 there are runs, whatever became of them; 64 there is none that can be read.
    """
    if not folder.is_dir():
        raise CommandError(f"{folder} is no folder; name one that holds the folders of runs")
    history = history_of(found_runs(folder))
    if not history.check and not history.load:
        why = f"; {history.left_out[0].why}" if history.left_out else ""
        raise CommandError(f"{folder} holds no finished run of check or load{why}")
    if form == "json":
        print_document(json.dumps(trend_json(history), indent=1))
    else:
        for line in trend_lines(history):
            print_line(line)
