"""What the commands that read a finished run have in common: refusing it, and the lines that show
changed verdicts.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NoReturn

import click

from hookproof.conformance.model.ledger import Ledger
from hookproof.conformance.reports.summary import HEADLINES, tallies
from hookproof.conformance.results.comparison import Change, Difference
from hookproof.process.exit_codes import ExitCode
from hookproof.process.messages import print_text

FOLDER: Final = click.Path(path_type=Path)
ORDER: Final = (Change.WORSE, Change.BETTER, Change.OTHER)


def end_with_error(context: click.Context, message: str) -> NoReturn:
    print_text(f"{context.command_path}: {message}", err=True)
    context.exit(ExitCode.USAGE)


def difference_lines(differences: Sequence[Difference]) -> Iterator[str]:
    for change in ORDER:
        group = [difference for difference in differences if difference.change is change]
        if group:
            yield f"{change.value}:"
        for difference in group:
            yield from _lines(difference)


def verdict_line(ledger: Ledger, *, strict: bool) -> str:
    return f"{HEADLINES[ledger.verdict(strict=strict)]}  {' · '.join(tallies(ledger))}"


def _lines(difference: Difference) -> Iterator[str]:
    requirement = difference.entry.requirement
    yield f"  {requirement.id:<7} {difference.words}  {requirement.text} ({requirement.level})"
    if difference.after is None or difference.change is not Change.WORSE:
        return
    for finding in difference.after.findings:
        facts = f"expected {finding.expected}; actual: {finding.actual}"
        yield f"          {finding.message}; {facts}"
