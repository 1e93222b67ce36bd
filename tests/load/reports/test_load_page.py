"""Reports of load runs: the page shows a run as it was and escapes it; strangers' are compared."""

import json
import re
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from hookproof.load.figures import FIGURES, Unit, label
from hookproof.load.reports.html_page import (
    BOTTOM,
    HEIGHT,
    TOP,
    Plot,
    PlotLine,
    nice,
    page,
    plots,
    rows,
    series_csv,
    svg,
)
from hookproof.process.exit_codes import ExitCode
from tests.conformance.cli.test_hostile_run_files import HOSTILE, ended
from tests.receiver.dashboard.browser import chromium

LEDGER = ("expected", "delivered", "explained", "pending", "lost", "unaccounted", "arrived")
REPORT: dict[str, Any] = {
    "profile": "smoke",
    "target": "http://<script>alert(1)</script>",
    "dialect": "reference",
    "started_at": "2026-01-01T00:00:00.000+00:00",
    "rate": 2.0,
    "duration_s": 3.0,
    "verdict": "fail",
    "complaints": ["lost is 1 (lost > 0)"],
    "thresholds": [{"text": "lost > 0", "crossed": True}],
    "figures": {**dict.fromkeys(FIGURES), "lost": 1, "delivery_p99": 0.25},
    "endpoints": [
        {
            "endpoint": "t-0",
            **dict.fromkeys(LEDGER, 3),
            "worker": 0,
            "limit": {"most": 2, "window_s": 1, "highest": 3, "windows": [[0.0, 1], [0.5, 3]]},
        }
    ],
    "samples": {"lost": ["t-0: <b>7</b>"]},
    "stretch_s": 1.0,
    "over_time": {
        "accepted": [{"at_s": 0.0, "count": 2, "p50": 0.1, "p95": 0.1, "p99": 0.1, "max": 0.1}],
        "delivered": [{"at_s": 2.0, "count": 1, "p50": 2.0, "p95": 2.0, "p99": 2.0, "max": 2.0}],
    },
    "distribution": [{"percentile": 50, "seconds": 0.1}, {"percentile": 100, "seconds": 2.0}],
    "trials": [],
    "knee_limited_by": None,
    "left_out": {},
}


def test_what_a_target_wrote_stays_text() -> None:
    shown = page(REPORT)
    assert "<script" not in shown
    assert "<b>7" not in shown
    assert "&lt;b&gt;7" in shown


def test_the_page_needs_no_network() -> None:
    addresses = re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?([^"')\s]+)""", page(REPORT))
    assert addresses == []


def test_the_page_shows_verdict_figures_and_crossed_thresholds() -> None:
    shown = page(REPORT)
    for expected in (
        ">FAIL<",
        "lost is 1",
        "<dd>250.0 ms</dd>",
        "<td>crossed</td>",
        "prefers-color-scheme: dark",
    ):
        assert expected in shown


def test_each_part_of_a_report_is_on_the_page() -> None:
    left = [{"project": "p1", "uid": "<u1>", "is_disabled": gone} for gone in (True, False)]
    full = {
        **REPORT,
        "figures": {**REPORT["figures"], "duplicated": 0},
        "warnings": ["<i>warned</i>"],
        "trials": [{"rate": 1500, "complaints": []}, {"rate": 3e3, "complaints": ["late", "<x>"]}],
        "left_out": {"getEndpoint": "no <endpoint>"},
        "left_at_target": {"endpoints": left},
        "failed_hooks": ["remove_endpoint <failed>"],
    }
    shown = page(full)
    for expected in (
        ", dialect reference<br>",
        '<time datetime="2026-01-01T00:00:00.000+00:00" title="2026-01-01T00:00:00.000+00:00">',
        "<li>lost is 1 (lost &gt; 0)</li>",
        "<p>&lt;i&gt;warned&lt;/i&gt;</p>",
        "<dt>duplicated</dt><dd>0</dd>",
        '<span class="key line-3">99th percentile</span>',
        '<span class="key limit">limit</span>',
        "<td>1,500/s</td><td>passes</td>",
        "<td>3,000/s</td><td>late; &lt;x&gt;</td>",
        "<td>lost &gt; 0</td><td>crossed</td>",
        f"<td>t-0</td>{'<td>3</td>' * len(LEDGER)}</tr>",
        "<td>lost</td><td>t-0: &lt;b&gt;7&lt;/b&gt;</td>",
        "<td>getEndpoint</td><td>no &lt;endpoint&gt;</td>",
        "<p>your provision hook remove_endpoint &lt;failed&gt;.</p>",
        "<td>p1</td><td>&lt;u1&gt;</td><td>disabled</td>",
        "<td>p1</td><td>&lt;u1&gt;</td><td>gets events</td>",
    ):
        assert expected in shown
    assert [*re.findall("<h2>([A-Z].*?)</h2>", shown)] == [
        "Trials of the search",
        "Thresholds",
        "Ledger",
        "Samples of what went wrong",
        "Left out",
        "After the run",
        "Left at the target",
    ]


def test_a_long_ledger_is_cut_and_says_so() -> None:
    (endpoint,) = REPORT["endpoints"]
    many = [{**endpoint, "endpoint": f"t-{number}", "limit": None} for number in range(1203)]
    shown = page({**REPORT, "endpoints": many})
    assert "<td>t-199</td>" in shown
    assert "<td>t-200</td>" not in shown
    assert '<p class="none">1,003 endpoints more are in report.json.</p>' in shown


def test_a_section_without_content_is_left_out() -> None:
    empty = {"complaints": [], "thresholds": [], "endpoints": [], "samples": {}}
    shown = page({**REPORT, **empty, "figures": dict.fromkeys(FIGURES)})
    assert not re.search("<(h2|ul|table|section)", shown)


@pytest.mark.parametrize("verdict", ["pass", "fail", "incomplete"])
def test_each_verdict_has_a_colour_of_its_own(verdict: str) -> None:
    shown = page({**REPORT, "verdict": verdict})
    assert f'<p class="verdict {verdict}">{verdict.upper()}</p>' in shown
    assert shown.count(f".verdict.{verdict} {{ background: var(--") == 1


def test_a_stretch_in_which_nothing_happened_is_a_row_of_zeros() -> None:
    assert [(row["accepted"], row["delivered"], row["backlog"]) for row in rows(REPORT)] == [
        (2, 0, 2),
        (0, 0, 2),
        (0, 1, 1),
    ]
    assert series_csv(REPORT).splitlines()[2].startswith("1.0,0,")


def test_the_window_of_a_limited_endpoint_is_plotted_against_its_limit() -> None:
    window = plots(REPORT)[-1]
    assert window.limit == 2
    drawn = svg(window)
    limit_y = float(re.findall(r'class="limit"[^>]* y1="([\d.]+)"', drawn)[0])
    dots = [float(y) for y in re.findall(r'cy="([\d.]+)"', drawn)]
    assert dots[0] > limit_y > dots[1], "one dot below the limit, one above it"
    floor, above = HEIGHT - BOTTOM, (HEIGHT - TOP - BOTTOM) / 4
    assert (floor - limit_y) / 2 == pytest.approx(above, abs=0.1), (
        "2 of an axis that ends at 4 is half way up"
    )


def test_a_run_without_deliveries_still_has_a_page() -> None:
    empty = {
        **REPORT,
        "over_time": {"accepted": [], "delivered": []},
        "distribution": [],
        "endpoints": [],
    }
    assert "Nothing to plot" in page(empty)


def test_a_single_point_is_drawn() -> None:
    plot = Plot(title="t", unit=Unit.COUNT, lines=[PlotLine(name="n", points=[(0.0, 3.0)])])
    assert "<circle" in svg(plot)


@pytest.mark.parametrize(
    ("value", "end"), [(0.7, 1.0), (1.0, 1.0), (4.1, 5.0), (23.0, 50.0), (99.0, 100.0)]
)
def test_an_axis_ends_at_a_round_number(value: float, end: float) -> None:
    assert nice(value, (1, 2, 5, 10)) == pytest.approx(end)


def test_figures_have_labels_in_words_and_their_names_beside_their_meanings() -> None:
    shown = page(REPORT)
    assert "<dt>99th percentile</dt>" in shown
    assert 'title="delivery_p99: ' in shown
    assert {label(name) for name in FIGURES} >= {"ingest a second", "drain", "out of order"}
    assert not [name for name in FIGURES if "_" in label(name) or not label(name)]


def test_the_page_has_the_local_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Etc/GMT-5")
    time.tzset()
    try:
        assert ">2026-01-01 05:00:00 +05</time>" in page(REPORT)
    finally:
        monkeypatch.undo()
        time.tzset()


def test_lines_that_coincide_are_told_apart() -> None:
    points = [(2.0, 2.0)]
    lines = [PlotLine(name=name, points=points) for name in ("a", "b", "c")]
    drawn = svg(Plot(title="t", unit=Unit.SECONDS, lines=lines))
    radii = [float(radius) for radius in re.findall(r' r="([\d.]+)"', drawn)]
    assert radii == sorted(set(radii), reverse=True)
    assert len(radii) == 3


def test_percentiles_that_coincide_are_lines_of_several_widths() -> None:
    with chromium() as browser:
        tab = browser.new_page(viewport={"width": 400, "height": 800})
        over_time = [
            {"at_s": float(at_s), "count": 1, "p50": 2.0, "p95": 2.0, "p99": 2.0, "max": 2.0}
            for at_s in range(3)
        ]
        tab.set_content(page({**REPORT, "over_time": {"accepted": [], "delivered": over_time}}))
        widths = tab.eval_on_selector_all(
            "figure:nth-child(2) polyline",
            "lines => lines.map((line) => parseFloat(getComputedStyle(line).strokeWidth))",
        )
        assert widths == sorted(set(widths), reverse=True)
        assert len(widths) == 3
        assert tab.evaluate("document.documentElement.scrollWidth") == 400
        labels = tab.eval_on_selector_all(
            "figure:nth-child(3) text.x",
            "texts => texts.map((text) => text.getBoundingClientRect()).map((box) =>"
            " [box.top, box.left, box.right, box.height])",
        )
        *ticks, _ = labels
        assert all(left[2] < right[1] for left, right in pairwise(ticks)), "labels overlap"
        assert min(height for *_, height in labels) >= 11, "too small to be read"


def test_an_axis_of_zeros_has_readable_ticks() -> None:
    zeros = PlotLine(name="n", points=[(0.0, 0.0), (1.0, 0.0)])
    drawn = svg(Plot(title="t", unit=Unit.COUNT, lines=[zeros]))
    ticks = [float(text) for text in re.findall(r'class="y"[^>]*>([^<]+)<', drawn)]
    assert ticks == [0, 0.3, 0.6, 0.9, 1.2]


FIRST = next(iter(FIGURES))


def report(**changes: Any) -> dict[str, Any]:
    figures = dict.fromkeys(FIGURES, 1.5)
    return {
        "profile": "smoke",
        "verdict": "pass",
        "target": "http://target.invalid",
        "started_at": "2026-11-29T10:00:00+00:00",
        "figures": figures,
        **changes,
    }


def compared(folder: Path, *, changed: dict[str, Any]) -> Any:
    for name, content in (("a", report()), ("b", changed)):
        (folder / name).mkdir()
        (folder / name / "report.json").write_text(json.dumps(content))
    return ended("compare", folder / "a", folder / "b")


def test_two_reports_are_compared(tmp_path: Path) -> None:
    done = compared(tmp_path, changed=report(profile=HOSTILE))
    assert (done.code, list(done.problems)) == (ExitCode.OK, [])
    assert "\\x1b]0;owned" in done.out


@pytest.mark.parametrize(
    "changes",
    [
        {"profile": None},
        {"verdict": 7},
        {"verdict": ["x"]},
        {"figures": []},
        *({"figures": {FIRST: value}} for value in (HOSTILE, True, 10**4000, 1e400, [], {})),
    ],
    ids=lambda changes: str(changes)[:30],
)
def test_what_cannot_be_compared_is_refused(changes: dict[str, Any], tmp_path: Path) -> None:
    done = compared(tmp_path, changed=report(**changes))
    assert (done.code, list(done.problems)) == (ExitCode.USAGE, [])
    assert "is not a report of a load run" in done.err


@pytest.mark.parametrize(
    "changes",
    [
        {"target": HOSTILE},
        {"started_at": HOSTILE},
        {"started_at": "9999-12-31T23:59:59-23:59"},
        {"started_at": 10**300},
        {"rate": HOSTILE},
        {"verdict": HOSTILE},
    ],
    ids=lambda changes: str(changes)[:40],
)
def test_a_trend_shows_it_or_says_why_not(changes: dict[str, Any], tmp_path: Path) -> None:
    compared(tmp_path, changed=report(**changes))
    for words in ((), ("--format", "json")):
        done = ended("compare", "--over-time", tmp_path, *words)
        assert (done.code, list(done.problems)) == (ExitCode.OK, [])
