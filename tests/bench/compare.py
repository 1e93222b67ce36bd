"""Compares two runs of the benchmarks: `make bench-compare BASE=before.json`.

Each line shows the medians before and after and by how much they differ. That is a change only if
no round of one run lies among those of the other; anything else is within the noise of the rounds,
whose range is shown in per cent of the median. A single round tells no noise, and so no change.
"""

import argparse
import statistics
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from tests.bench.rounds import KEPT_IN, RoundFigures, read_rounds

FEWEST: Final = 2


def verdict(before: RoundFigures, after: RoundFigures) -> str:
    """Whether the work got better or worse, as far as the rounds tell."""
    if min(len(before.rounds), len(after.rounds)) < FEWEST:
        return "one round tells nothing"
    if min(after.rounds) > max(before.rounds):
        is_more = True
    elif max(after.rounds) < min(before.rounds):
        is_more = False
    else:
        return "within the noise"
    return "BETTER" if is_more == (after.better == "more") else "WORSE"


def lines(before: Mapping[str, RoundFigures], after: Mapping[str, RoundFigures]) -> Iterator[str]:
    yield f"{'':60}{'before':>10}{'after':>10}{'change':>9}{'noise':>14}"
    for work in [work for work in before if work in after]:
        first, second = before[work], after[work]
        medians = [statistics.median(each.rounds) for each in (first, second)]
        change = f"{medians[1] / medians[0] - 1:+.1%}" if medians[0] else "-"
        noise = " / ".join(map(noise_of, (first, second)))
        figures = f"{medians[0]:>10.4g}{medians[1]:>10.4g}{change:>9}{noise:>14}"
        yield f"{work:60}{figures}  {verdict(first, second)}"
    for name, these, others in (("before", before, after), ("after", after, before)):
        for work in [work for work in these if work not in others]:
            yield f"{work:60}measured only {name}"


def noise_of(rounds: RoundFigures) -> str:
    """The range of the rounds, in per cent of their median."""
    median = statistics.median(rounds.rounds)
    return f"{(max(rounds.rounds) - min(rounds.rounds)) / median:.0%}" if median else "-"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path, help="what an earlier run has kept")
    parser.add_argument("after", type=Path, nargs="?", default=KEPT_IN)
    options = parser.parse_args()
    print(*lines(read_rounds(options.before), read_rounds(options.after)), sep="\n")


if __name__ == "__main__":
    main()
