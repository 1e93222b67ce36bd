"""What changed from one run of `hookproof check` to the next."""

from collections.abc import Iterator
from typing import Final

from hookproof.commands.trend.found_runs import CheckRun
from hookproof.conformance.results.comparison import Difference, differences

CONDITIONS: Final = ("tool_version", "dialect", "profile", "seed", "strict", "everything")
WORDS: Final = {"tool_version": "version of hookproof", "everything": "selection of requirements"}


def verdict_changes(before: CheckRun, after: CheckRun) -> list[Difference]:
    strict = after.run.header.strict
    return list(differences(before.run.ledger, after.run.ledger, strict=strict))


def differing_conditions(before: CheckRun, after: CheckRun) -> Iterator[str]:
    """What makes two runs hard to compare, in words."""
    for name in CONDITIONS:
        values = [getattr(each.run.header, name) for each in (before, after)]
        if values[0] == values[1]:
            continue
        what = WORDS.get(name, name)
        yield f"the {what} differs" + (
            "" if name == "everything" else f": {values[0]}, then {values[1]}"
        )


def cut_short(run: CheckRun) -> Iterator[str]:
    if run.run.footer.cut:
        yield f"it ended early: {run.run.footer.cut}"
