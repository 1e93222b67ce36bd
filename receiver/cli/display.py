"""Shows deliveries to a person: a growing table on a terminal, plain lines elsewhere."""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import click
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from hookproof.receiver.cli.delivery_text import cells, delivery_line
from hookproof.receiver.cli.delivery_watch import Display, JudgedDelivery

COLUMNS: Final = ("time (UTC)", "token", "#", "request", "bytes", "answer", "verdict")
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
        self._write_line(delivery_line(judged_delivery))


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


def _style(judged_delivery: JudgedDelivery) -> str:
    if judged_delivery.judgement is None:
        return ""
    return "green" if judged_delivery.judgement.verified else "red"
