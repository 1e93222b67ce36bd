"""What changed from one run of `hookproof check` to the next."""

from collections.abc import Iterator
from typing import Final

from hookproof.commands.trend.found_runs import CheckRun
from hookproof.conformance.results.comparison import Difference, differences, differing_settings

SETTINGS: Final = ("tool_version", "dialect", "profile", "seed", "strict")


def verdict_changes(before: CheckRun, after: CheckRun) -> list[Difference]:
    strict = after.run.header.strict
    return list(differences(before.run.ledger, after.run.ledger, strict=strict))


def differing_conditions(before: CheckRun, after: CheckRun) -> Iterator[str]:
    """What makes two runs hard to compare, in words."""
    yield from differing_settings(before.run, after.run, SETTINGS)
    if before.run.header.everything != after.run.header.everything:
        yield "the selection of requirements differs"


def cut_short(run: CheckRun) -> Iterator[str]:
    if run.run.footer.cut:
        yield f"it ended early: {run.run.footer.cut}"
