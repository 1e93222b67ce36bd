"""Shows deliveries to a person: a growing table on a wide terminal, plain lines elsewhere."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from rich.live import Live
from rich.table import Table
from rich.text import Text

from hookproof.process.message_console import MessageConsole
from hookproof.process.messages import print_line
from hookproof.receiver.cli.delivery_watch import Display, JudgedDelivery, cells, delivery_line

COLUMNS: Final = ("time (UTC)", "token", "#", "request", "bytes", "answer", "verdict")
# The others have texts of senders and diagnoses, of any length, which go on in the next line.
NARROW: Final = frozenset({"time (UTC)", "#", "bytes"})
# Where less is left for these, lines are easier to read; far below, a table would have no room.
LEAST_WIDTH: Final = 100
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

    def __init__(self, console: MessageConsole) -> None:
        self._console = console
        self._count = 0
        self._latest: deque[JudgedDelivery] = deque(maxlen=MOST_ROWS)

    def show(self, judged_delivery: JudgedDelivery) -> None:
        self._count += 1
        self._latest.append(judged_delivery)

    def table(self) -> Table:
        """As many of the latest as fit, at least one."""
        latest = tuple(self._latest)
        fitting, too_many = 1, min(len(latest), self._console.height) + 1
        while too_many - fitting > 1:
            tried = (fitting + too_many) // 2
            lines = self._console.render_lines(self._table_of(latest[-tried:]))
            if len(lines) <= self._console.height:
                fitting = tried
            else:
                too_many = tried
        return self._table_of(latest[-fitting:])

    def _table_of(self, deliveries: Sequence[JudgedDelivery]) -> Table:
        table = Table(caption=f"Deliveries: {self._count}. Ctrl-C stops.", caption_justify="left")
        for name in COLUMNS:
            table.add_column(name, overflow="fold", no_wrap=name in NARROW)
        for judged_delivery in deliveries:
            table.add_row(
                *(Text(cell) for cell in cells(judged_delivery)), style=_style(judged_delivery)
            )
        return table


@contextmanager
def display(*, silent: bool) -> Iterator[Display]:
    """The display that fits standard output."""
    console = MessageConsole()
    if silent:
        yield SilentDisplay()
    elif not console.is_terminal or console.width < LEAST_WIDTH:
        yield LineDisplay(print_line)
    else:
        live_table = LiveTable(console)
        with Live(console=console, get_renderable=live_table.table, refresh_per_second=8):
            yield live_table


def _style(judged_delivery: JudgedDelivery) -> str:
    if judged_delivery.judgement is None:
        return ""
    return "green" if judged_delivery.judgement.verified else "red"
