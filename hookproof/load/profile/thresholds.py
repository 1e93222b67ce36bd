"""Thresholds: what fails a run, as a user writes it: `delivery_p99 > 2s`.

A threshold names a figure of the report, a comparison and a value with its unit. It is crossed when
the comparison holds, and also by a figure that the run could not measure, since then nothing is
proved.
"""

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from hookproof.load.figures import FIGURES, Unit

_FIGURE: Final = r"(\w+)"
_FORM: Final = re.compile(
    rf"\s*{_FIGURE}\s*(>=|<=|>|<|==|!=)\s*(-?\d+(?:\.\d+)?(?:e-?\d+)?)\s*(%|/s|[a-zµ]+)?\s*"
)
_COMPARISONS: Final[Mapping[str, Callable[[float, float], bool]]] = {
    ">": operator.gt,
    "<": operator.lt,
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
}
_SCALES: Final[Mapping[Unit, Mapping[str, float]]] = {
    Unit.SECONDS: {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "min": 60.0},
    Unit.COUNT: {"": 1.0},
    Unit.PER_SECOND: {"": 1.0, "/s": 1.0},
    Unit.SHARE: {"": 1.0, "%": 0.01},
}


class BadThreshold(Exception):
    """A threshold cannot be read; the message says what was expected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """One limit on one figure; `text` is how its author wrote it."""

    text: str
    figure: str
    comparison: str
    value: float

    @classmethod
    def parse(cls, text: str) -> "Threshold":
        """Read `FIGURE COMPARISON VALUE[UNIT]`; raises BadThreshold."""
        match = _FORM.fullmatch(text)
        if match is None:
            raise BadThreshold(
                f"{text!r} is not a threshold; write one like 'delivery_p99 > 2s' or 'lost > 0'"
            )
        name, comparison, number, unit = match[1], match[2], float(match[3]), match[4] or ""
        if name not in FIGURES:
            near = get_close_matches(name, FIGURES, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(FIGURES)}"
            raise BadThreshold(f"{text!r}: no figure is called {name!r}; {hint}")
        scales = _SCALES[FIGURES[name].unit]
        if unit not in scales:
            known = ", ".join(scale or "no unit" for scale in scales)
            raise BadThreshold(f"{text!r}: {name} is given in {known}, not in {unit or 'no unit'}")
        return cls(
            text=" ".join(text.split()),
            figure=name,
            comparison=comparison,
            value=number * scales[unit],
        )

    def crossed(self, figures: Mapping[str, float | None]) -> str | None:
        """What is wrong with a run, or None; `figures` are in seconds, counts and shares."""
        value = figures.get(self.figure)
        unit = FIGURES[self.figure].unit
        if value is None:
            return f"{self.figure} could not be measured ({self.text})"
        if _COMPARISONS[self.comparison](value, self.value):
            return f"{self.figure} is {unit.shown(value)} ({self.text})"
        return None


def form_of_thresholds() -> str:
    """A regular expression that every threshold matches, and no text about an unknown figure."""
    figures = "|".join(FIGURES)
    return f"^{_FORM.pattern.replace(_FIGURE, f'({figures})', 1)}$"
