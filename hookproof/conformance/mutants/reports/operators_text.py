"""The operators on the terminal: what each does, and how many faults it makes."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from hookproof.conformance.mutants.generated import OperatorSummary


def render_operators(summaries: Sequence[OperatorSummary], dialect: str) -> Iterator[str]:
    """A paragraph for each group, two lines for each operator, and the totals."""
    for group, members in groupby(summaries, key=lambda item: item.group):
        yield f"{group.capitalize()}:"
        for item in members:
            yield f"  {item.name}  {item.sentence}: {item.applies_to}."
            yield f"      {_counts(item)}"
        yield ""
    yield (
        f"{sum(item.faults for item in summaries)} faults by {len(summaries)} operators under"
        f" {dialect}; {sum(item.equivalent for item in summaries)} equivalent,"
        f" {sum(item.unnamed for item in summaries)} without a requirement"
    )


def _counts(item: OperatorSummary) -> str:
    counts = [f"{item.faults} faults at {item.places} places"]
    if item.equivalent:
        counts.append(f"{item.equivalent} equivalent")
    if item.unnamed:
        counts.append(f"{item.unnamed} without a requirement")
    return ", ".join(counts)
