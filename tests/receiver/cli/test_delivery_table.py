"""The table of deliveries on a terminal: each text is shown whole, and the latest always."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from hookproof.receiver.cli.delivery_watch import JudgedDelivery, cells
from hookproof.receiver.cli.display import COLUMNS, LEAST_WIDTH, LiveTable
from hookproof.receiver.signatures.judgement import SchemeFormat, SignatureJudge
from hookproof.spec.dialect.reader import load_dialect
from tests.receiver.dashboard.delivery_fixtures import make_delivery

JUDGE = SignatureJudge(
    dialect=load_dialect("reference"), secrets=("a secret",), formats=tuple(SchemeFormat)
)
LONG = make_delivery(token="t" * 70, path="/" + "p" * 100, body=b"x" * 99999)
UNVERIFIED = JUDGE.judge(LONG.headers, LONG.body, LONG.arrived_at)


def shown(width: int, height: int, *deliveries: JudgedDelivery) -> list[list[str]]:
    """The cells of each line of the table, without spaces."""
    file = io.StringIO()
    console = Console(file=file, width=width, height=height)
    table = LiveTable(console)
    for judged in deliveries:
        table.show(judged)
    console.print(table.table())
    lines = file.getvalue().splitlines()
    assert len(lines) <= height
    return [
        [cell.replace(" ", "") for cell in line.strip("│").split("│")]
        for line in lines
        if line.startswith("│")
    ]


@pytest.mark.parametrize("width", [LEAST_WIDTH, 120, 160, 250])
def test_no_text_is_cut_at_any_width(width: int) -> None:
    judged = JudgedDelivery(delivery=replace(LONG, sequence=123456), judgement=UNVERIFIED)
    lines = shown(width, 200, judged)
    columns = ["".join(column) for column in zip(*lines, strict=True)]
    assert len(columns) == len(COLUMNS)
    assert columns == [text.replace(" ", "") for text in cells(judged)]


@pytest.mark.parametrize("height", [24, 50])
@pytest.mark.parametrize("is_judged", [False, True])
def test_the_latest_are_shown_as_many_as_fit(height: int, is_judged: bool) -> None:
    short = replace(LONG, token="orders", path="/orders", body=b"")
    deliveries = [
        JudgedDelivery(
            delivery=replace(short, sequence=number), judgement=UNVERIFIED if is_judged else None
        )
        for number in range(1, 101)
    ]
    numbers = [line[2] for line in shown(120, height, *deliveries) if line[2]]
    assert numbers == [str(number) for number in range(101 - len(numbers), 101)]
    assert len(numbers) == (height - 5 if not is_judged else len(numbers)) >= 1
