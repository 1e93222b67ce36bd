"""Line plots as inline SVG, drawn in the colours of the page around them.

A plot is 640 units wide and scales with its page; its lines have the classes `line-1`, `line-2`,
...
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from hookproof.load.figures import Unit

WIDTH, HEIGHT = 640.0, 240.0
LEFT, RIGHT, TOP, BOTTOM = 92.0, 26.0, 12.0, 50.0
TICKS = 5
HEADROOM = 1.05
# Factors of round numbers: distances of ticks in time, and the ends of an axis.
# So that the axis of values that are all 0 has readable ticks.
SMALLEST_TOP = {Unit.COUNT: 1.0, Unit.PER_SECOND: 1.0, Unit.SHARE: 0.01, Unit.SECONDS: 0.001}
# Of single points, so that those of several lines are told apart where they coincide.
POINT_RADII = (6, 4.5, 3)
STEPS = (1, 2, 5, 10)
TOPS = (1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotLine:
    """One line: its name in the legend and its points; a value of None breaks the line."""

    name: str
    points: Sequence[tuple[float, float | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """Lines over one axis.

    `labels` names positions on the x axis if that is not time; `limit` is drawn across.
    """

    title: str
    lines: Sequence[PlotLine]
    unit: Unit
    limit: float | None = None
    x_name: str = "seconds since the start"
    labels: Sequence[tuple[float, str]] = ()
    dots: bool = False


def svg(plot: Plot) -> str:
    """The plot; a plot without points says so."""
    values = [value for line in plot.lines for _, value in line.points if value is not None]
    places = [place for line in plot.lines for place, value in line.points if value is not None]
    if not values:
        return '<p class="none">Nothing to plot.</p>'
    top = nice(HEADROOM * max(*values, plot.limit or 0.0, SMALLEST_TOP[plot.unit]), TOPS)
    frame = _Frame(first=min(0.0, *places), last=max(*places, 1e-9), top=top)
    drawn = [
        _axis(plot, frame),
        *(_line(frame, n, line, plot.dots) for n, line in enumerate(plot.lines, 1)),
    ]
    if plot.limit is not None:
        drawn.append(_horizontal("limit", frame.y(plot.limit)))
    box = f"0 0 {WIDTH:.0f} {HEIGHT:.0f}"
    return (
        f'<svg viewBox="{box}" role="img" aria-label="{escape(plot.title)}">{"".join(drawn)}</svg>'
    )


def nice(value: float, factors: Sequence[float]) -> float:
    """The smallest round number not below a value: one of the factors times a power of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(factor * power for factor in factors if factor * power >= value * 0.9999)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frame:
    """The mapping from values to positions in the picture."""

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
        drawn.append(_horizontal("grid", y))
        drawn.append(_text("y", LEFT - 6, f"{y + 4:.1f}", _tick(plot.unit, value)))
    for place, label in plot.labels or _times(frame):
        drawn.append(
            f'<text class="x" x="{frame.x(place):.1f}" y="{HEIGHT - BOTTOM + 20:.0f}">'
            f"{escape(label)}</text>"
        )
    middle = (LEFT + WIDTH - RIGHT) / 2
    drawn.append(
        f'<text class="x" x="{middle:.0f}" y="{HEIGHT - 4:.0f}">{escape(plot.x_name)}</text>'
    )
    return "".join(drawn)


def _horizontal(kind: str, y: float) -> str:
    ends = f'x1="{LEFT:.0f}" x2="{WIDTH - RIGHT:.0f}" y1="{y:.1f}" y2="{y:.1f}"'
    return f'<line class="{kind}" {ends}/>'


def _text(kind: str, x: float, y: str, text: str) -> str:
    return f'<text class="{kind}" x="{x:.0f}" y="{y}">{escape(text)}</text>'


def _tick(unit: Unit, value: float) -> str:
    # Values at an axis are round, so a few digits are enough.
    if unit is Unit.SECONDS:
        return f"{value:g} s" if value >= 1 or not value else f"{value * 1000:g} ms"
    return f"{value:,g}{unit.value}"


def _times(frame: _Frame) -> list[tuple[float, str]]:
    step = nice((frame.last - frame.first) / 6, STEPS)
    count = int((frame.last - frame.first) / step + 1e-9)
    return [(frame.first + n * step, f"{frame.first + n * step:g}") for n in range(count + 1)]


def _line(frame: _Frame, number: int, line: PlotLine, dots: bool) -> str:
    points = [(frame.x(place), frame.y(value)) for place, value in line.points if value is not None]
    if dots:
        return "".join(
            f'<circle class="line-{number}" cx="{x:.1f}" cy="{y:.1f}" r="2"/>' for x, y in points
        )
    if len(points) == 1:
        (x, y), radius = points[0], POINT_RADII[min(number, len(POINT_RADII)) - 1]
        return f'<circle class="line-{number}" cx="{x:.1f}" cy="{y:.1f}" r="{radius}"/>'
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline class="line-{number}" points="{path}"/>'
