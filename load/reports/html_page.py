"""The HTML report of a run: one file that needs no network, made from `report.json` alone."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from html import escape
from importlib import resources
from math import log10
from typing import Any, Final

from hookproof.load.figures import FIGURES, Unit, label
from hookproof.load.reports.line_plot import Plot, PlotLine, svg
from hookproof.load.reports.summary import GROUPS, left_lines, not_verified, what_was_run
from hookproof.load.reports.time_series import rows
from hookproof.pages.content_policy import policy_element

PERCENTILES: Final = ("p50", "p95", "p99")
MOST_ENDPOINT_ROWS: Final = 200
LAST_PERCENTILE: Final = 99.999


def page(report: Mapping[str, Any]) -> str:
    title = f"hookproof load: {report['profile']}"
    style = (
        resources.files("hookproof.load.reports").joinpath("page.css").read_text(encoding="utf-8")
    )
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"{policy_element(styles=[style])}"
        f"<title>{escape(title)}</title><style>{style}</style>"
    )
    body = "".join(_parts(report))
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{body}</body></html>\n'


def _parts(report: Mapping[str, Any]) -> Iterator[str]:
    verdict = report["verdict"]
    yield f"<header><h1>{escape(report['profile'])}</h1>"
    yield f'<p class="verdict {verdict}">{verdict.upper()}{not_verified(report)}</p>'
    where = f"{what_was_run(report)}, dialect {report['dialect']}"
    yield f"<p>{escape(where)}<br>{_local_time(report['started_at'])}</p></header>"
    if report["complaints"]:
        items = "".join(f"<li>{escape(complaint)}</li>" for complaint in report["complaints"])
        yield f'<ul class="complaints">{items}</ul>'
    yield from (f"<p>{escape(warning)}</p>" for warning in report.get("warnings", ()))
    yield _figures(report["figures"])
    yield f'<div class="plots">{"".join(_plotted(plot) for plot in plots(report))}</div>'
    yield from _tables(report)


def _local_time(timestamp: str) -> str:
    """A time in the zone of the machine that makes the page, and in UTC for all others."""
    local = f"{datetime.fromisoformat(timestamp).astimezone():%Y-%m-%d %H:%M:%S %Z}"
    utc = escape(timestamp)
    return f'<time datetime="{utc}" title="{utc}">{escape(local)}</time>'


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


def _plotted(plot: Plot) -> str:
    names = [
        f'<span class="key line-{number}">{escape(line.name)}</span>'
        for number, line in enumerate(plot.lines, 1)
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
            f'<div title="{escape(f"{name}: {FIGURES[name].meaning}")}">'
            f"<dt>{label(name).removeprefix(f'{group} ')}</dt>"
            f"<dd>{FIGURES[name].unit.shown(value)}</dd></div>"
            for name, value in known
            if value is not None
        )
        if cells:
            blocks.append(f"<section><h2>{group}</h2><dl>{cells}</dl></section>")
    return f'<div class="figures">{"".join(blocks)}</div>'


def _tables(report: Mapping[str, Any]) -> Iterator[str]:
    if report["trials"]:
        trials = [
            (f"{trial['rate']:,.0f}/s", "; ".join(trial["complaints"]) or "passes")
            for trial in report["trials"]
        ]
        yield _table("Trials of the search", ("rate", "outcome"), trials)
    thresholds = [
        (threshold["text"], "crossed" if threshold["crossed"] else "kept")
        for threshold in report["thresholds"]
    ]
    yield _table("Thresholds", ("threshold", ""), thresholds)
    columns = (
        "endpoint",
        "expected",
        "delivered",
        "explained",
        "pending",
        "lost",
        "unaccounted",
        "arrived",
    )
    shown = [
        tuple(f"{row[name]:,}" if name != "endpoint" else row[name] for name in columns)
        for row in report["endpoints"]
    ]
    yield _table("Ledger", columns, shown[:MOST_ENDPOINT_ROWS])
    if len(shown) > MOST_ENDPOINT_ROWS:
        left_out = len(shown) - MOST_ENDPOINT_ROWS
        yield f'<p class="none">{left_out:,} endpoints more are in report.json.</p>'
    samples = [(kind, text) for kind, texts in report["samples"].items() for text in texts]
    yield _table("Samples of what went wrong", ("figure", "sample"), samples)
    yield _table("Left out", ("what", "why"), list(report["left_out"].items()))
    yield from _after_the_run(report)


def _after_the_run(report: Mapping[str, Any]) -> Iterator[str]:
    if lines := left_lines(report):
        yield f"<h2>After the run</h2>{''.join(f'<p>{escape(line)}.</p>' for line in lines)}"
    left = report.get("left_at_target", {}).get("endpoints", ())
    rows_left = [
        (each["project"], each["uid"], "disabled" if each["is_disabled"] else "gets events")
        for each in left[:MOST_ENDPOINT_ROWS]
    ]
    yield _table("Left at the target", ("project", "endpoint", ""), rows_left)


def _table(title: str, columns: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    if not cells:
        return ""
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in cells
    )
    return f'<h2>{escape(title)}</h2><div class="wide"><table><tr>{head}</tr>{body}</table></div>'
