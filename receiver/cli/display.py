"""Shows deliveries to a person: a growing table on a terminal, plain lines elsewhere.

The text that senders write is untrusted: control characters never reach the terminal.
"""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Final

import click
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from hookproof.process.terminal_text import printable as escaped
from hookproof.receiver.cli.delivery_watch import Display, JudgedDelivery

COLUMNS: Final = ("time (UTC)", "token", "#", "request", "bytes", "answer", "verdict")
# The most characters shown of a text of a sender.
LONGEST: Final = 80
# The lines of a table that are not deliveries: its frame, head and caption.
FRAME_LINES: Final = 6
LEAST_ROWS: Final = 3
MOST_ROWS: Final = 200


class SilentDisplay:
    """Shows nothing, since another program reads standard output."""

    def show(self, judged_delivery: JudgedDelivery) -> None: ...


class LineDisplay:
    """Writes one line for each delivery."""

    def __init__(self, write_line: Callable[[str], None]) -> None:
        self._write_line = write_line

    def show(self, judged_delivery: JudgedDelivery) -> None:
        time, token, number, request, size, answer, verdict = cells(judged_delivery)
        line = f"{time} {token} #{number} {request} {size} bytes, {answer}"
        self._write_line(f"{line}, {verdict}" if verdict else line)


class LiveTable:
    """A table of the latest deliveries, as many as fit the terminal."""

    def __init__(self, live: Live, console: Console) -> None:
        self._live = live
        self._console = console
        self._count = 0
        self._latest: deque[JudgedDelivery] = deque(maxlen=MOST_ROWS)

    def show(self, judged_delivery: JudgedDelivery) -> None:
        self._count += 1
        self._latest.append(judged_delivery)
        self._live.update(self._table())

    def _table(self) -> Table:
        table = Table(caption=f"Deliveries: {self._count}. Ctrl-C stops.", caption_justify="left")
        for name in COLUMNS:
            table.add_column(name, overflow="fold", no_wrap=name not in {"verdict", "request"})
        for judged_delivery in tuple(self._latest)[-self._most_rows() :]:
            table.add_row(
                *(Text(cell) for cell in cells(judged_delivery)), style=_style(judged_delivery)
            )
        return table

    def _most_rows(self) -> int:
        has_verdicts = any(judged_delivery.judgement for judged_delivery in self._latest)
        lines_per_row = 2 if has_verdicts else 1  # the text of a verdict is long
        return max(LEAST_ROWS, (self._console.height - FRAME_LINES) // lines_per_row)


@contextmanager
def display(*, silent: bool) -> Iterator[Display]:
    """The display that fits standard output."""
    console = Console()
    if silent:
        yield SilentDisplay()
    elif not console.is_terminal:
        yield LineDisplay(click.echo)
    else:
        with Live(console=console, auto_refresh=True, refresh_per_second=8) as live:
            yield LiveTable(live, console)


def cells(judged_delivery: JudgedDelivery) -> tuple[str, ...]:
    """The columns of one delivery, safe to print."""
    delivery = judged_delivery.delivery
    arrived = datetime.fromtimestamp(delivery.arrived_at, UTC)
    answer = (
        "broke off before its answer" if delivery.status is None else f"answered {delivery.status}"
    )
    verdict = ""
    if judged_delivery.judgement is not None:
        verdict = (
            f"verified: {judged_delivery.judgement.sentence}"
            if judged_delivery.judgement.verified
            else _unverified_text(judged_delivery)
        )
    return (
        f"{arrived:%H:%M:%S}.{arrived.microsecond // 1000:03d}",
        printable(delivery.token),
        str(delivery.sequence),
        f"{printable(delivery.method)} {printable(delivery.path)}",
        str(len(delivery.body)),
        answer,
        verdict,
    )


def _unverified_text(judged_delivery: JudgedDelivery) -> str:
    judgement = judged_delivery.judgement
    assert judgement is not None
    assert judgement.diagnosis is not None
    return f"not verified: {judgement.reason}: {printable(judgement.diagnosis.cause, 400)}"


def _style(judged_delivery: JudgedDelivery) -> str:
    if judged_delivery.judgement is None:
        return ""
    return "green" if judged_delivery.judgement.verified else "red"


def printable(text: str, longest: int = LONGEST) -> str:
    """At most `longest` characters of a text; unprintable ones are written as escapes."""
    shown = escaped(text[: longest + 1])
    return shown if len(shown) <= longest else shown[: longest - 1] + "\u2026"
