"""Two runs side by side: each figure of both, and how much it changed."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from hookproof.load.figures import FIGURES

REPORT: Final = "report.json"
# A change of less than this share is none that anybody should look at.
UNCHANGED: Final = 0.01


class NoReport(Exception):
    """There is no report of a load run where one was said to be; the text says where."""


def read_report(place: str) -> Mapping[str, Any]:
    """The report in a file, or in the folder that `--out` named; raises NoReport."""
    path = Path(place) / REPORT if Path(place).is_dir() else Path(place)
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise NoReport(f"{path} is no report of a load run: {problem}") from None
    if not isinstance(read, dict) or not isinstance(read.get("figures"), dict):
        raise NoReport(f"{path} is no report of a load run: it has no figures")
    return read


def compared(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """The figures of both runs, a line each; those that neither has are left out."""
    lines = [f"{'':<16}{before['profile']:>16}{after['profile']:>16}{'change':>12}"]
    for name, figure in FIGURES.items():
        old, new = before["figures"].get(name), after["figures"].get(name)
        if old is None and new is None:
            continue
        shown = "".join(
            f"{'-' if value is None else figure.unit.shown(value):>16}" for value in (old, new)
        )
        lines.append(f"{name:<16}{shown}{change(old, new):>12}  {judged(name, old, new)}".rstrip())
    lines.append(f"{'verdict':<16}{before['verdict']:>16}{after['verdict']:>16}")
    return "\n".join(lines)


def change(old: float | None, new: float | None) -> str:
    """The change as a share of the old value, where that says anything."""
    if old is None or new is None:
        return ""
    if old == new:
        return "="
    return f"{(new - old) / abs(old):+.1%}" if old else "new"


def judged(name: str, old: float | None, new: float | None) -> str:
    """`better` or `worse`, for a figure of which more is one of them and that changed at all."""
    more_is_better = FIGURES[name].more_is_better
    if (
        more_is_better is None
        or old is None
        or new is None
        or abs(new - old) <= UNCHANGED * max(abs(old), abs(new))
    ):
        return ""
    return "better" if (new > old) is more_is_better else "worse"
