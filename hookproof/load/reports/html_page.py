"""The reports of a run made from `report.json` alone: a CSV, and a page that needs no network."""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape
from math import log10
from typing import Any, Final

from hookproof.load.figures import FIGURES, Unit, label
from hookproof.load.reports.summary import GROUPS, left_lines, not_verified, what_was_run
from hookproof.pages import page_source, page_templates, policy_element

COLUMNS: Final = (
    "at_s",
    *("accepted", "ingest_p50_s", "ingest_p95_s", "ingest_p99_s", "ingest_max_s"),
    *("delivered", "delivery_p50_s", "delivery_p95_s", "delivery_p99_s", "delivery_max_s"),
    "backlog",
)


def series_csv(report: Mapping[str, Any]) -> str:
    """Counts of each stretch, percentiles in seconds, and the backlog at the end of the stretch."""
    written = io.StringIO()
    writer = csv.DictWriter(written, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows(report))
    return written.getvalue()


def rows(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows by column, up to the last stretch in which anything happened."""
    length = report["stretch_s"]
    accepted, delivered = (
        {round(stretch["at_s"] / length): stretch for stretch in report["over_time"][side]}
        for side in ("accepted", "delivered")
    )
    each, backlog, table = len(report["endpoints"]), 0, []
    for stretch in range(max((*accepted, *delivered), default=-1) + 1):
        sent, arrived = accepted.get(stretch, {}), delivered.get(stretch, {})
        backlog += sent.get("count", 0) * each - arrived.get("count", 0)
        table.append(
            {
                "at_s": stretch * length,
                "accepted": sent.get("count", 0),
                "delivered": arrived.get("count", 0),
                **{f"ingest_{name}_s": sent.get(name) for name in ("p50", "p95", "p99", "max")},
                **{
                    f"delivery_{name}_s": arrived.get(name) for name in ("p50", "p95", "p99", "max")
                },
                "backlog": max(0, backlog),
            }
        )
    return table


# In the units of a plot, which scales with its page; its lines have the classes `line-1`, `line-2`,
# ...
WIDTH, HEIGHT = 640.0, 240.0
LEFT, RIGHT, TOP, BOTTOM = 92.0, 26.0, 12.0, 50.0
TICKS = 5
HEADROOM = 1.05
# So that the axis of values that are all 0 has readable ticks.
SMALLEST_TOP = {Unit.COUNT: 1.0, Unit.PER_SECOND: 1.0, Unit.SHARE: 0.01, Unit.SECONDS: 0.001}
# Of single points, so that those of several lines are told apart where they coincide.
POINT_RADII = (6, 4.5, 3)
# Factors of round numbers: distances of ticks in time, and the ends of an axis.
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
    for place, mark in plot.labels or _times(frame):
        drawn.append(
            f'<text class="x" x="{frame.x(place):.1f}" y="{HEIGHT - BOTTOM + 20:.0f}">'
            f"{escape(mark)}</text>"
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


PERCENTILES: Final = ("p50", "p95", "p99")
MOST_ENDPOINT_ROWS: Final = 200
LAST_PERCENTILE: Final = 99.999


def page(report: Mapping[str, Any]) -> str:
    templates = page_templates("hookproof.load.reports")
    style = page_source(templates, "page.css")
    started = datetime.fromisoformat(report["started_at"]).astimezone()
    return templates.get_template("page.html").render(
        report=report,
        policy=policy_element(styles=[style]),
        style=style,
        not_verified=not_verified(report),
        what_was_run=what_was_run(report),
        # In the zone of the machine that makes the page; what the element names is in UTC.
        local_time=f"{started:%Y-%m-%d %H:%M:%S %Z}",
        groups=_known_figures(report["figures"]),
        figures=FIGURES,
        label=label,
        plots=plots(report),
        svg=svg,
        samples=[(kind, text) for kind, texts in report["samples"].items() for text in texts],
        left_lines=left_lines(report),
        most_rows=MOST_ENDPOINT_ROWS,
    )


def _known_figures(figures: Mapping[str, float | None]) -> dict[str, list[str]]:
    """The names of the figures that have a value, by group."""
    known = {
        group: [name for name in names if figures[name] is not None]
        for group, names in GROUPS.items()
    }
    return {group: names for group, names in known.items() if names}


def plots(report: Mapping[str, Any]) -> list[Plot]:
    stretches, each = rows(report), max(1, len(report["endpoints"]))
    length = report["stretch_s"]
    return [
        Plot(
            title="Rates",
            unit=Unit.PER_SECOND,
            lines=[
                PlotLine(
                    name="broadcasts accepted",
                    points=[(row["at_s"], row["accepted"] / length) for row in stretches],
                ),
                PlotLine(
                    name="deliveries arrived",
                    points=[(row["at_s"], row["delivered"] / length) for row in stretches],
                ),
            ],
        ),
        Plot(
            title="Delivery latency over time",
            unit=Unit.SECONDS,
            lines=[
                PlotLine(
                    name=label(name),
                    points=[(row["at_s"], row[f"delivery_{name}_s"]) for row in stretches],
                )
                for name in PERCENTILES
            ],
        ),
        _distribution(report["distribution"]),
        Plot(
            title="Backlog: deliveries accepted and not arrived"
            + (f", {each} endpoints" if each > 1 else ""),
            unit=Unit.COUNT,
            lines=[
                PlotLine(
                    name="backlog", points=[(row["at_s"], row["backlog"]) for row in stretches]
                )
            ],
        ),
        *(_windows(endpoint) for endpoint in report["endpoints"] if endpoint["limit"] is not None),
    ]


def _distribution(percentiles: Sequence[Mapping[str, float]]) -> Plot:
    """Over nines, so that the slow few have as much room as the many."""
    placed = [
        (-log10(1 - min(point["percentile"], LAST_PERCENTILE) / 100), point)
        for point in percentiles
    ]
    labels = [
        (-log10(1 - share / 100), f"{share:g} %")
        for share in (50, 90, 99, 99.9, 99.99)
        if percentiles
    ]
    return Plot(
        title="Delivery latency distribution",
        unit=Unit.SECONDS,
        x_name="share of the deliveries that arrived within",
        labels=labels,
        lines=[
            PlotLine(name="latency", points=[(place, point["seconds"]) for place, point in placed])
        ],
    )


def _windows(endpoint: Mapping[str, Any]) -> Plot:
    limit = endpoint["limit"]
    title = (
        f"Endpoint {endpoint['endpoint']}: arrivals in the {limit['window_s']:g} s before each;"
        f" {limit['most']} allowed"
    )
    points = [(at_s, float(count)) for at_s, count in limit["windows"]]
    return Plot(
        title=title,
        unit=Unit.COUNT,
        limit=limit["most"],
        x_name="seconds since the first arrival",
        dots=True,
        lines=[PlotLine(name="arrivals in the window", points=points)],
    )
