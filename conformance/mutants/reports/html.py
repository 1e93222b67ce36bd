"""The kill matrix as a picture: one HTML file that needs nothing else, in the reader's own light or
dark.

Rows are faults by area, columns are checks in the order of the document. A filled cell is a kill, a
cell with a mark a false accusation.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Final

from hookproof.conformance.model.check_registry import Check
from hookproof.conformance.mutants.campaign import CLEAN
from hookproof.conformance.mutants.catalogue import Fault
from hookproof.conformance.mutants.reports.text import summary
from hookproof.conformance.mutants.results import Campaign
from hookproof.spec.catalogue import load_catalogue

STYLE: Final = Path(__file__).with_name("kill_matrix.css")

# By fault and check: the requirements that it was convicted of, by dialect.
Cells = Mapping[tuple[str, str], Mapping[str, Sequence[str]]]


def page(campaign: Campaign, checks: Sequence[Check]) -> str:
    """The whole file."""
    columns = _columns(campaign, checks)
    return "".join(
        [
            "<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n",
            "<title>Hookproof: the kill matrix</title>\n",
            '<meta name=viewport content="width=device-width, initial-scale=1">\n',
            f"<style>\n{STYLE.read_text(encoding='utf-8')}</style>\n</head>\n<body>\n",
            *_head(campaign),
            *_innocents(campaign),
            *_matrix(campaign, columns),
            "</body>\n</html>\n",
        ]
    )


def _columns(campaign: Campaign, checks: Sequence[Check]) -> list[Check]:
    """The checks that took part, in the order of the first requirement that each is bound to."""
    places = {name: place for place, name in enumerate(load_catalogue().requirements)}
    present = [check for check in checks if check.name in campaign.checks]
    return sorted(present, key=lambda check: min(places[one] for one in check.requirements))


def _head(campaign: Campaign) -> Iterator[str]:
    flawless = "good" if campaign.flawless else "bad"
    *troubles, verdict = summary(campaign)
    yield f'<h1>The kill matrix</h1>\n<p class="verdict {flawless}">{escape(verdict)}</p>\n'
    if any(troubles):
        yield f"<pre class=bad>{escape(chr(10).join(troubles))}</pre>\n"
    yield (
        "<p>Each row is the reference server with one fault, each column a check of the suites. A filled cell says that"
        " the check convicted the server of a requirement that the fault violates; point at it to see which. A mark is"
        " a false accusation.</p>\n"
    )


def _innocents(campaign: Campaign) -> Iterator[str]:
    yield "<details><summary>The innocent: servers that the document allows</summary>\n<ul class=innocents>\n"
    for one in campaign.acquittals:
        word = "accused" if one.result.convictions else "acquitted"
        name = escape(f"{one.name} ({one.dialect})")
        stock = (campaign.stock or {}).get(one.name)
        besides = (
            f"; plain schemathesis accuses it of {'; '.join(stock)}"
            if stock and one.name != CLEAN
            else ""
        )
        yield f"<li class={word}><b>{name}</b> {escape(one.difference)} <i>{word}{escape(besides)}</i></li>\n"
    yield "</ul></details>\n"


def _matrix(campaign: Campaign, columns: Sequence[Check]) -> Iterator[str]:
    rightly, falsely = _cells(campaign)
    kills = campaign.kills
    yield "<div class=frame><table>\n<thead><tr><th class=corner>fault<th class=n title='checks that kill it'>checks"
    if campaign.stock is not None:
        yield "<th class=n title='what plain schemathesis found besides what it finds in the clean server'>stock"
    for check in columns:
        idle = "" if kills[check.name] else " idle"
        told = escape(
            f"{check.name}: {' '.join(check.requirements)}; kills {len(kills[check.name])}"
        )
        yield f'<th class="check{idle}" title="{told}"><span>{escape(check.name.replace("_", " "))}</span>'
    yield "</tr></thead>\n<tbody>\n"
    faults = sorted(campaign.faults, key=lambda one: (one.area, one.name))
    for area, members in groupby(faults, key=lambda one: one.area):
        yield f"<tr class=area><th>{escape(area.replace('_', ' '))}</th></tr>\n"
        for fault in members:
            yield from _row(campaign, fault, columns, rightly, falsely)
    yield "</tbody>\n</table></div>\n"


def _row(
    campaign: Campaign, fault: Fault, columns: Sequence[Check], rightly: Cells, falsely: Cells
) -> Iterator[str]:
    count = sum((fault.name, check.name) in rightly for check in columns)
    told = escape(f"{fault.broken} [{' '.join(fault.violates)}]")
    yield f'<tr{"" if count else " class=survivor"}><th title="{told}">{escape(fault.name)}<td class=n>{count}'
    if campaign.stock is not None:
        found = campaign.stock.get(fault.name)
        told = "not tried" if found is None else "; ".join(found)
        yield f'<td class=n title="{escape(told)}">{"" if found is None else "✓" if found else "·"}'
    for check in columns:
        place = (fault.name, check.name)
        for cells, kind, mark in ((falsely, "x", "!"), (rightly, "k", "")):
            if place in cells:
                why = "; ".join(
                    f"{dialect}: {' '.join(ids)}" for dialect, ids in cells[place].items()
                )
                yield f'<td class={kind} title="{escape(f"{check.name} convicts {fault.name}: {why}")}">{mark}'
                break
        else:
            yield "<td>"
    yield "</tr>\n"


def _cells(campaign: Campaign) -> tuple[Cells, Cells]:
    """What was convicted rightly, and what falsely."""
    both: tuple[dict[tuple[str, str], dict[str, list[str]]], ...] = (
        defaultdict(lambda: defaultdict(list)),
        defaultdict(lambda: defaultdict(list)),
    )
    for outcome in campaign.outcomes:
        for cells, convictions in zip(both, (outcome.rightly, outcome.falsely), strict=True):
            for one in convictions:
                cells[outcome.fault.name, one.check][outcome.dialect].append(one.requirement)
    return both[0], both[1]
