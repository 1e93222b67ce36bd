"""Two runs side by side: each figure of both, and how much it changed."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from hookproof.load.figures import FIGURES
from hookproof.spec.given_file import LARGEST_REPORT, read_given
from hookproof.target.shown_number import shown_number

REPORT: Final = "report.json"
# A smaller change, as a share, counts as none.
UNCHANGED: Final = 0.01


class NoReport(Exception):
    """There is no report of a load run at a path; the message has it."""


def read_report(place: str) -> Mapping[str, Any]:
    """The report in a file, or in the folder of `--out`; raises NoReport."""
    path = Path(place) / REPORT if Path(place).is_dir() else Path(place)
    try:
        read = json.loads(read_given(path, LARGEST_REPORT))
    except (OSError, ValueError, RecursionError) as problem:
        raise NoReport(f"{path} is not a report of a load run: {problem}") from None
    if not isinstance(read, dict) or not isinstance(read.get("figures"), dict):
        raise NoReport(f"{path} is not a report of a load run: it has no figures")
    _confirm_usable(read, path)
    return read


def _confirm_usable(report: Mapping[str, Any], path: Path) -> None:
    """Raise NoReport for what cannot be compared."""
    for name in ("profile", "verdict"):
        if not isinstance(report.get(name), str):
            raise NoReport(f"{path} is not a report of a load run: its {name} is no text")
    for name in FIGURES:
        figure = report["figures"].get(name)
        if figure is not None and shown_number(figure) is None:
            raise NoReport(f"{path} is not a report of a load run: {name} is no number")


def comparison_table(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """The figures of both runs, one line each; figures that neither has are left out."""
    lines = [f"{'':<16}{before['profile']:>16}{after['profile']:>16}{'change':>12}"]
    for name, figure in FIGURES.items():
        old, new = before["figures"].get(name), after["figures"].get(name)
        if old is None and new is None:
            continue
        shown = "".join(
            f"{'-' if value is None else figure.unit.shown(value):>16}" for value in (old, new)
        )
        lines.append(
            f"{name:<16}{shown}{change(old, new):>12}  {better_or_worse(name, old, new)}".rstrip()
        )
    lines.append(f"{'verdict':<16}{before['verdict']:>16}{after['verdict']:>16}")
    return "\n".join(lines)


def change(old: float | None, new: float | None) -> str:
    """The change as a share of the old value, empty if there is none."""
    if old is None or new is None:
        return ""
    if old == new:
        return "="
    return f"{(new - old) / abs(old):+.1%}" if old else "new"


def better_or_worse(name: str, old: float | None, new: float | None) -> str:
    """`better` or `worse` for a figure that changed, empty if neither."""
    more_is_better = FIGURES[name].more_is_better
    if (
        more_is_better is None
        or old is None
        or new is None
        or abs(new - old) <= UNCHANGED * max(abs(old), abs(new))
    ):
        return ""
    return "better" if (new > old) is more_is_better else "worse"
