"""What a run shows on a terminal while it goes on: how long it has run, and which experiments are under way."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text

REFRESHES_PER_SECOND: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """One line, made anew at each refresh; `under_way` and `clock` (in seconds) may be called from any thread."""

    under_way: Callable[[], Sequence[str]]
    clock: Callable[[], float]
    started: float

    def __rich__(self) -> Text:
        """The line of this moment."""
        names = self.under_way()
        told = f"{len(names)} experiments under way: {', '.join(names)}" if names else "judging"
        return Text(f"{self.clock() - self.started:3.0f} s · {told}", style="dim", no_wrap=True, overflow="ellipsis")


@contextmanager
def progress(under_way: Callable[[], Sequence[str]], stream: TextIO) -> Iterator[None]:
    """Show the progress within the block where `stream` is a terminal, and nothing anywhere else."""
    console = Console(file=stream)
    if not console.is_terminal or console.is_dumb_terminal:
        yield
        return
    line = Progress(under_way=under_way, clock=time.monotonic, started=time.monotonic())
    with Live(line, console=console, transient=True, refresh_per_second=REFRESHES_PER_SECOND):
        yield
