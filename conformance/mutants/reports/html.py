"""The kill matrix as one HTML file without external resources, in a light or dark colour scheme.

Rows are faults by area, columns are checks in the order of the document. A filled cell is a kill, a
cell with a mark a false positive.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Final

from hookproof.conformance.model.check_registry import Check
from hookproof.conformance.mutants.campaign import CLEAN
from hookproof.conformance.mutants.catalogue import ListedFault
from hookproof.conformance.mutants.reports.text import render_summary
from hookproof.conformance.mutants.results import Campaign, VariantOutcome
from hookproof.pages.content_policy import policy_element
from hookproof.spec.catalogue import load_catalogue

STYLE: Final = Path(__file__).with_name("kill_matrix.css")

# By fault and check: the requirements that were detected, by dialect.
Cells = Mapping[tuple[str, str], Mapping[str, Sequence[str]]]


def render_page(campaign: Campaign, checks: Sequence[Check]) -> str:
    style = f"\n{STYLE.read_text(encoding='utf-8')}"
    return "".join(
        [
            "<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n",
            f"{policy_element(styles=[style])}\n",
            "<title>Hookproof: the kill matrix</title>\n",
            '<meta name=viewport content="width=device-width, initial-scale=1">\n',
            f"<style>{style}</style>\n</head>\n<body>\n",
            *_head(campaign),
            *_variants(campaign),
            *_matrix(campaign, _columns(campaign, checks)),
            *_list(campaign),
            "</body>\n</html>\n",
        ]
    )


def _columns(campaign: Campaign, checks: Sequence[Check]) -> list[Check]:
    """The checks that could have killed a fault that was tried, and those that reported one, in the
    order of the first requirement that each is bound to.
    """
    positions = {name: position for position, name in enumerate(load_catalogue().requirements)}
    violated = {name for fault in campaign.faults for name in fault.violates}
    reported = {name for cells in _cells(campaign) for _, name in cells}
    present = [
        check
        for check in checks
        if check.name in campaign.checks
        and (campaign.whole or check.name in reported or violated.intersection(check.requirements))
    ]
    return sorted(present, key=lambda check: min(positions[name] for name in check.requirements))


def _head(campaign: Campaign) -> Iterator[str]:
    flawless = "good" if campaign.flawless else "bad"
    *troubles, verdict = render_summary(campaign)
    yield f'<h1>The kill matrix</h1>\n<p class="verdict {flawless}">{escape(verdict)}</p>\n'
    if any(troubles):
        yield f"<pre class=bad>{escape(chr(10).join(troubles))}</pre>\n"
    yield (
        "<p>Each row is the reference server with one fault, each column a check of the suites."
        " A filled cell means that the check detected a requirement that the fault violates;"
        " point at it to see which. A mark is a false positive.</p>\n"
    )


def _variants(campaign: Campaign) -> Iterator[str]:
    yield "<details><summary>Conforming variants: servers that the document allows</summary>\n"
    yield "<ul class=variants>\n"
    yield from (_variant(campaign, variant) for variant in campaign.variants)
    yield "</ul></details>\n"


def _variant(campaign: Campaign, variant: VariantOutcome) -> str:
    word, css_class = (
        ("false positive", "false") if variant.result.detections else ("passed", "passed")
    )
    name = escape(f"{variant.name} ({variant.dialect})")
    reported = (campaign.schemathesis_baseline or {}).get(variant.name)
    if reported and variant.name != CLEAN:
        word = f"{word}; plain schemathesis reports {'; '.join(reported)}"
    difference = escape(variant.difference)
    return f"<li class={css_class}><b>{name}</b> {difference} <i>{escape(word)}</i></li>\n"


def _list(campaign: Campaign) -> Iterator[str]:
    """The matrix in words, for screens on which it has no room."""
    kills, false_positives = _cells(campaign)
    yield "<ul class=list>\n"
    for fault in sorted(campaign.faults, key=lambda fault: (fault.area, fault.name)):
        killers = [check for name, check in kills if name == fault.name]
        wrong = [check for name, check in false_positives if name == fault.name]
        yield f"<li><b>{escape(fault.name)}</b> {escape(fault.broken)}"
        yield f"<br>{_named(killers) or '<span class=bad>not killed</span>'}"
        if wrong:
            yield f"<br><span class=bad>false positive: {_named(wrong)}</span>"
        yield "</li>\n"
    yield "</ul>\n"


def _named(checks: Sequence[str]) -> str:
    return escape(", ".join(check.replace("_", " ") for check in checks))


def _matrix(campaign: Campaign, columns: Sequence[Check]) -> Iterator[str]:
    kills, false_positives = _cells(campaign)
    if left_out := len(campaign.checks) - len(columns):
        yield f"<p>Left out are checks that no fault that was tried concerns: {left_out}.</p>\n"
    yield "<div class=frame><table>\n"
    yield from _column_heads(campaign, columns)
    yield "<tbody>\n"
    faults = sorted(campaign.faults, key=lambda fault: (fault.area, fault.name))
    for area, members in groupby(faults, key=lambda fault: fault.area):
        yield f"<tr class=area><th>{escape(area.replace('_', ' '))}</th></tr>\n"
        for fault in members:
            yield from _row(campaign, fault, columns, kills, false_positives)
    yield "</tbody>\n</table></div>\n"


def _column_heads(campaign: Campaign, columns: Sequence[Check]) -> Iterator[str]:
    yield "<thead><tr><th class=corner>fault<th class=n title='checks that kill it'>checks"
    if campaign.schemathesis_baseline is not None:
        title = "reports of plain schemathesis, without those for the clean server"
        yield f"<th class=n title='{title}'>schemathesis"
    for check in columns:
        killed = len(campaign.kills[check.name])
        css_class = "check" if killed else "check idle" if campaign.whole else "check untried"
        title = escape(f"{check.name}: {' '.join(check.requirements)}; kills {killed}")
        words = escape(check.name.replace("_", " "))
        yield f'<th class="{css_class}" title="{title}"><span>{words}</span>'
    yield "</tr></thead>\n"


def _row(
    campaign: Campaign,
    fault: ListedFault,
    columns: Sequence[Check],
    kills: Cells,
    false_positives: Cells,
) -> Iterator[str]:
    count = sum((fault.name, check.name) in kills for check in columns)
    row_class = "" if count else " class=survivor"
    title = escape(f"{fault.broken} [{' '.join(fault.violates)}]")
    yield f'<tr{row_class}><th title="{title}">{escape(fault.name)}<td class=n>{count}'
    if campaign.schemathesis_baseline is not None:
        yield _baseline_cell(campaign.schemathesis_baseline.get(fault.name))
    for check in columns:
        position = (fault.name, check.name)
        if position in false_positives:
            yield _cell("x", "!", position, false_positives)
        elif position in kills:
            yield _cell("k", "", position, kills)
        else:
            yield "<td>"
    yield "</tr>\n"


def _cell(css_class: str, mark: str, position: tuple[str, str], cells: Cells) -> str:
    fault, check = position
    detected = "; ".join(
        f"{dialect}: {' '.join(requirements)}" for dialect, requirements in cells[position].items()
    )
    return f'<td class={css_class} title="{escape(f"{check} on {fault}: {detected}")}">{mark}'


def _baseline_cell(reported: Sequence[str] | None) -> str:
    if reported is None:
        return '<td class=n title="not tried">'
    return f'<td class=n title="{escape("; ".join(reported))}">{"✓" if reported else "·"}'


def _cells(campaign: Campaign) -> tuple[Cells, Cells]:
    """The kills and the false positives."""
    kills: dict[tuple[str, str], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    false_positives: dict[tuple[str, str], dict[str, list[str]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for outcome in campaign.outcomes:
        for cells, detections in (
            (kills, outcome.expected_detections),
            (false_positives, outcome.false_positives),
        ):
            for detection in detections:
                cells[outcome.fault.name, detection.check][outcome.dialect].append(
                    detection.requirement
                )
    return kills, false_positives
