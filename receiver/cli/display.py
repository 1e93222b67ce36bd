"""Deliveries for a person: a table that grows where there is a terminal, plain lines elsewhere.

What senders write is hostile: control characters never reach the terminal.
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

from hookproof.receiver.cli.delivery_watch import Display, Seen

COLUMNS: Final = ("time (UTC)", "token", "#", "request", "bytes", "answer", "verdict")
# Characters of one text of a sender.
LONGEST: Final = 80
FRAME_LINES: Final = 6


class Silence:
    """Tells nothing, since another program reads standard output."""

    def show(self, seen: Seen) -> None:
        """Nothing."""


class Lines:
    """One line for each delivery."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say

    def show(self, seen: Seen) -> None:
        """Tell one more."""
        time, token, number, request, size, answer, verdict = cells(seen)
        self._say(
            f"{time} {token} #{number} {request} {size} bytes, {answer}{verdict and f', {verdict}'}"
        )


class LiveTable:
    """A table of the last deliveries, as many as the terminal has room for."""

    def __init__(self, live: Live, console: Console) -> None:
        self._live = live
        self._console = console
        self._count = 0
        self._last: deque[Seen] = deque(maxlen=200)

    def show(self, seen: Seen) -> None:
        """Tell one more."""
        self._count += 1
        self._last.append(seen)
        self._live.update(self._table())

    def _table(self) -> Table:
        table = Table(caption=f"Deliveries: {self._count}. Ctrl-C stops.", caption_justify="left")
        for name in COLUMNS:
            table.add_column(name, overflow="fold", no_wrap=name not in {"verdict", "request"})
        rows = max(
            3,
            (self._console.height - FRAME_LINES)
            // (2 if any(one.judgement for one in self._last) else 1),
        )
        for seen in tuple(self._last)[-rows:]:
            table.add_row(*(Text(cell) for cell in cells(seen)), style=_style(seen))
        return table


@contextmanager
def display(*, silent: bool) -> Iterator[Display]:
    """The display that fits standard output."""
    console = Console()
    if silent:
        yield Silence()
    elif not console.is_terminal:
        yield Lines(click.echo)
    else:
        with Live(console=console, auto_refresh=True, refresh_per_second=8) as live:
            yield LiveTable(live, console)


def cells(seen: Seen) -> tuple[str, ...]:
    """The columns of one delivery, fit to be printed."""
    delivery = seen.delivery
    arrived = datetime.fromtimestamp(delivery.arrived_at, UTC)
    answer = (
        "broke off before its answer" if delivery.status is None else f"answered {delivery.status}"
    )
    verdict = ""
    if seen.judgement is not None:
        verdict = (
            f"verified: {seen.judgement.sentence}" if seen.judgement.verified else _refusal(seen)
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


def _refusal(seen: Seen) -> str:
    word = seen.judgement
    assert word is not None
    assert word.bisection is not None
    return f"not verified: {word.reason}: {printable(word.bisection.cause, 400)}"


def _style(seen: Seen) -> str:
    if seen.judgement is None:
        return ""
    return "green" if seen.judgement.verified else "red"


def printable(text: str, most: int = LONGEST) -> str:
    """A text of at most `most` characters, with a replacement for each that a terminal might obey."""
    shown = "".join(one if one.isprintable() else "\ufffd" for one in text[: most + 1])
    return shown if len(shown) <= most else shown[: most - 1] + "\u2026"
