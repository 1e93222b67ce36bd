"""The console for pictures, tables and colours; no control character of a text reaches it."""

import os
from collections.abc import Iterable, Mapping
from typing import TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from hookproof.process.terminal_text import printable_lines


class MessageConsole(Console):
    """Writes to a stream; coloured and wrapped on a terminal only (NO_COLOR is honoured)."""

    def __init__(
        self, stream: TextIO | None = None, environment: Mapping[str, str] = os.environ
    ) -> None:
        super().__init__(
            file=stream, highlight=False, markup=False, emoji=False, _environ=environment
        )

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """As it is, but for control characters within texts."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(printable_lines(segment.text), segment.style)
