"""The file in which all benchmarks keep what each of their rounds measured, for comparisons.

It is a JSON object: for each benchmark the works that it measured, and of each whether `more` or
`less` is better and the figures of its `rounds`. A benchmark that runs again replaces its own.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal

KEPT_IN: Final = Path("hookproof-bench-rounds.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundFigures:
    """What the rounds of one work measured: ratios mostly, so that the machine matters less."""

    rounds: Sequence[float]
    better: Literal["more", "less"] = "more"


def keep_rounds(benchmark: str, works: Mapping[str, RoundFigures], path: Path = KEPT_IN) -> None:
    known = json.loads(path.read_text()) if path.is_file() else {}
    known[benchmark] = {work: asdict(rounds) for work, rounds in works.items()}
    path.write_text(json.dumps(known, indent=1) + "\n")


def read_rounds(path: Path) -> dict[str, RoundFigures]:
    """The rounds of all works, by `benchmark: work`; ends the program if the file is none."""
    try:
        return {
            f"{benchmark}: {work}": RoundFigures(
                rounds=[float(each) for each in kept["rounds"]], better=kept["better"]
            )
            for benchmark, works in json.loads(path.read_text()).items()
            for work, kept in works.items()
        }
    except OSError as error:
        raise SystemExit(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, TypeError, KeyError, AttributeError):
        raise SystemExit(f"{path} holds no rounds of benchmarks") from None
