"""Line plots as inline SVG, drawn in the colours of the page that holds them.

A plot is 640 units wide and scales with its page; its lines are told apart by class (`line-1`,
`line-2`, ...).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from hookproof.load.figures import Unit

WIDTH, HEIGHT = 640.0, 240.0
LEFT, RIGHT, TOP, BOTTOM = 78.0, 22.0, 12.0, 42.0
TICKS = 5
HEADROOM = 1.05
STEPS = (1, 2, 5, 10)
TOPS = (1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line: its name in the legend and its points; a None in place of a value breaks it."""

    name: str
    points: Sequence[tuple[float, float | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """Lines over one axis. `labels` names places of the x axis where it is no time; `limit` is
    drawn across.
    """

    title: str
    lines: Sequence[Line]
    unit: Unit
    limit: float | None = None
    x_name: str = "seconds since the start"
    labels: Sequence[tuple[float, str]] = ()
    dots: bool = False


def svg(plot: Plot) -> str:
    """The plot; one without any point says so."""
    values = [value for line in plot.lines for _, value in line.points if value is not None]
    places = [place for line in plot.lines for place, value in line.points if value is not None]
    if not values:
        return '<p class="none">Nothing to plot.</p>'
    top = nice(HEADROOM * max(*values, plot.limit or 0.0, 1e-9), TOPS)
    frame = _Frame(first=min(0.0, *places), last=max(*places, 1e-9), top=top)
    drawn = [
        _axis(plot, frame),
        *(_line(frame, n, line, plot.dots) for n, line in enumerate(plot.lines, 1)),
    ]
    if plot.limit is not None:
        y = frame.y(plot.limit)
        drawn.append(
            f'<line class="limit" x1="{LEFT:.0f}" x2="{WIDTH - RIGHT:.0f}" y1="{y:.1f}" y2="{y:.1f}"/>'
        )
    box = f"0 0 {WIDTH:.0f} {HEIGHT:.0f}"
    return (
        f'<svg viewBox="{box}" role="img" aria-label="{escape(plot.title)}">{"".join(drawn)}</svg>'
    )


def nice(value: float, factors: Sequence[float]) -> float:
    """The round number at or above a value: one of these factors of a power of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(factor * power for factor in factors if factor * power >= value * 0.9999)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frame:
    """Where values lie in the picture."""

    first: float
    last: float
    top: float

    def x(self, place: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (place - self.first) / (self.last - self.first)

    def y(self, value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / self.top


def _axis(plot: Plot, frame: _Frame) -> str:
    drawn = []
    for tick in range(TICKS):
        value = frame.top * tick / (TICKS - 1)
        y = frame.y(value)
        drawn.append(
            f'<line class="grid" x1="{LEFT:.0f}" x2="{WIDTH - RIGHT:.0f}" y1="{y:.1f}" y2="{y:.1f}"/>'
        )
        drawn.append(
            f'<text class="y" x="{LEFT - 6:.0f}" y="{y + 4:.1f}">{escape(_tick(plot.unit, value))}</text>'
        )
    for place, label in plot.labels or _times(frame):
        drawn.append(
            f'<text class="x" x="{frame.x(place):.1f}" y="{HEIGHT - BOTTOM + 16:.0f}">{escape(label)}</text>'
        )
    middle = (LEFT + WIDTH - RIGHT) / 2
    drawn.append(
        f'<text class="x" x="{middle:.0f}" y="{HEIGHT - 4:.0f}">{escape(plot.x_name)}</text>'
    )
    return "".join(drawn)


def _tick(unit: Unit, value: float) -> str:
    """Few digits, since what stands at an axis is round."""
    if unit is Unit.SECONDS:
        return f"{value:g} s" if value >= 1 or not value else f"{value * 1000:g} ms"
    return f"{value:,g}{unit.value}"


def _times(frame: _Frame) -> list[tuple[float, str]]:
    step = nice((frame.last - frame.first) / 6, STEPS)
    count = int((frame.last - frame.first) / step + 1e-9)
    return [(frame.first + n * step, f"{frame.first + n * step:g}") for n in range(count + 1)]


def _line(frame: _Frame, number: int, line: Line, dots: bool) -> str:
    found = [(frame.x(place), frame.y(value)) for place, value in line.points if value is not None]
    if dots:
        return "".join(
            f'<circle class="line-{number}" cx="{x:.1f}" cy="{y:.1f}" r="2"/>' for x, y in found
        )
    if len(found) == 1:
        return (
            f'<circle class="line-{number}" cx="{found[0][0]:.1f}" cy="{found[0][1]:.1f}" r="3"/>'
        )
    return f'<polyline class="line-{number}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in found)}"/>'
