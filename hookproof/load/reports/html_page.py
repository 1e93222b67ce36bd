"""The HTML report of a run: one file that needs no network, made from `report.json` alone."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from math import log10
from typing import Any, Final

from hookproof.load.figures import FIGURES, Unit, label
from hookproof.load.reports.line_plot import Plot, PlotLine, svg
from hookproof.load.reports.summary import GROUPS, left_lines, not_verified, what_was_run
from hookproof.load.reports.time_series import rows
from hookproof.pages.content_policy import policy_element
from hookproof.pages.templates import page_source, page_templates

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
