"""The HTML report of a run: one file that needs no network, made from `report.json` alone."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from importlib import resources
from math import log10
from typing import Any, Final

from hookproof.load.figures import FIGURES, Unit
from hookproof.load.reports.line_plot import Line, Plot, svg
from hookproof.load.reports.summary import GROUPS, what_was_run
from hookproof.load.reports.time_series import rows

PERCENTILES: Final = ("p50", "p95", "p99")
MOST_ENDPOINT_ROWS: Final = 200
LAST_PERCENTILE: Final = 99.999


def page(report: Mapping[str, Any]) -> str:
    """The whole page."""
    title = f"hookproof load: {report['profile']}"
    style = (
        resources.files("hookproof.load.reports").joinpath("page.css").read_text(encoding="utf-8")
    )
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(title)}'
    body = "".join(_parts(report))
    return f'<!doctype html><html lang="en"><head>{head}</title><style>{style}</style></head><body>{body}</body></html>\n'


def _parts(report: Mapping[str, Any]) -> Iterator[str]:
    passed = report["verdict"] == "pass"
    yield f"<header><h1>{escape(report['profile'])}</h1>"
    yield f'<p class="verdict {"pass" if passed else "fail"}">{"PASS" if passed else "FAIL"}</p>'
    where = f"{what_was_run(report)}, dialect {report['dialect']}"
    yield f"<p>{escape(where)}<br>{escape(report['started_at'])}</p></header>"
    if report["complaints"]:
        yield f'<ul class="complaints">{"".join(f"<li>{escape(one)}</li>" for one in report["complaints"])}</ul>'
    yield _figures(report["figures"])
    yield f'<div class="plots">{"".join(_plotted(plot) for plot in plots(report))}</div>'
    yield from _tables(report)


def plots(report: Mapping[str, Any]) -> list[Plot]:
    """What is plotted of a run."""
    found, each = rows(report), max(1, len(report["endpoints"]))
    length = report["stretch_s"]
    return [
        Plot(
            title="Rates",
            unit=Unit.PER_SECOND,
            lines=[
                Line(
                    name="broadcasts accepted",
                    points=[(row["at_s"], row["accepted"] / length) for row in found],
                ),
                Line(
                    name="deliveries arrived",
                    points=[(row["at_s"], row["delivered"] / length) for row in found],
                ),
            ],
        ),
        Plot(
            title="Delivery latency over time",
            unit=Unit.SECONDS,
            lines=[
                Line(name=name, points=[(row["at_s"], row[f"delivery_{name}_s"]) for row in found])
                for name in PERCENTILES
            ],
        ),
        _distribution(report["distribution"]),
        Plot(
            title="Backlog: deliveries accepted and not arrived"
            + (f", {each} endpoints" if each > 1 else ""),
            unit=Unit.COUNT,
            lines=[Line(name="backlog", points=[(row["at_s"], row["backlog"]) for row in found])],
        ),
        *(_windows(one) for one in report["endpoints"] if one["limit"] is not None),
    ]


def _distribution(percentiles: Sequence[Mapping[str, float]]) -> Plot:
    """Over nines, so that the slow few have as much room as the many."""
    placed = [
        (-log10(1 - min(one["percentile"], LAST_PERCENTILE) / 100), one) for one in percentiles
    ]
    labels = [
        (-log10(1 - share / 100), f"{share:g} %")
        for share in (0, 50, 90, 99, 99.9, 99.99)
        if percentiles
    ]
    return Plot(
        title="Delivery latency distribution",
        unit=Unit.SECONDS,
        x_name="share of the deliveries that arrived within",
        labels=labels,
        lines=[Line(name="latency", points=[(place, one["seconds"]) for place, one in placed])],
    )


def _windows(endpoint: Mapping[str, Any]) -> Plot:
    limit = endpoint["limit"]
    words = f"Endpoint {endpoint['endpoint']}: arrivals in the {limit['window_s']:g} s before each; {limit['most']} allowed"
    points = [(at_s, float(count)) for at_s, count in limit["windows"]]
    return Plot(
        title=words,
        unit=Unit.COUNT,
        limit=limit["most"],
        x_name="seconds since the first arrival",
        dots=True,
        lines=[Line(name="arrivals in the window", points=points)],
    )


def _plotted(plot: Plot) -> str:
    names = [
        f'<span class="key line-{n}">{escape(line.name)}</span>'
        for n, line in enumerate(plot.lines, 1)
    ]
    if plot.limit is not None:
        names.append('<span class="key limit">limit</span>')
    legend = f"<p>{' '.join(names)}</p>" if len(names) > 1 else ""
    return f"<figure><figcaption>{escape(plot.title)}</figcaption>{legend}{svg(plot)}</figure>"


def _figures(figures: Mapping[str, float | None]) -> str:
    blocks = []
    for group, names in GROUPS.items():
        known = [(name, figures[name]) for name in names]
        cells = "".join(
            f'<div title="{escape(FIGURES[name].meaning)}"><dt>{name}</dt>'
            f"<dd>{FIGURES[name].unit.shown(value)}</dd></div>"
            for name, value in known
            if value is not None
        )
        if cells:
            blocks.append(f"<section><h2>{group}</h2><dl>{cells}</dl></section>")
    return f'<div class="figures">{"".join(blocks)}</div>'


def _tables(report: Mapping[str, Any]) -> Iterator[str]:
    if report["trials"]:
        told = (
            (f"{one['rate']:,.0f}/s", "; ".join(one["complaints"]) or "passes")
            for one in report["trials"]
        )
        yield _table("Trials of the search", ("rate", "outcome"), list(told))
    told = ((one["text"], "crossed" if one["crossed"] else "kept") for one in report["thresholds"])
    yield _table("Thresholds", ("threshold", ""), list(told))
    columns = ("endpoint", "expected", "delivered", "explained", "lost", "unaccounted", "arrived")
    shown = [
        tuple(f"{one[name]:,}" if name != "endpoint" else one[name] for name in columns)
        for one in report["endpoints"]
    ]
    yield _table("Ledger", columns, shown[:MOST_ENDPOINT_ROWS])
    if len(shown) > MOST_ENDPOINT_ROWS:
        yield f'<p class="none">{len(shown) - MOST_ENDPOINT_ROWS:,} endpoints more are in report.json.</p>'
    told = ((kind, one) for kind, some in report["samples"].items() for one in some)
    yield _table("Samples of what went wrong", ("figure", "sample"), list(told))
    yield _table("Left out of the mix", ("operation", "why"), list(report["left_out"].items()))


def _table(title: str, columns: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    if not cells:
        return ""
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in cells
    )
    return f'<h2>{escape(title)}</h2><div class="wide"><table><tr>{head}</tr>{body}</table></div>'
