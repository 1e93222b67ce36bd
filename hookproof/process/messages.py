"""The only way out: what a command says to people, and what it writes for programs.

Whatever stands in a message may be a stranger's, so control characters, marks of direction and lone
surrogates are written as escapes, and a line that quotes too much is cut, whoever calls. A test
looks for other ways in the source.
"""

import logging
import sys
from typing import Any, Final, TextIO

import click

from hookproof.process.terminal_text import (
    cut_line,
    message_text,
    printable,
    printable_lines,
    without_passwords,
)

# In lines of standard error at once; what has more lists what somebody wrote.
MOST_LINES: Final = 100


def print_line(
    line: str = "", *, err: bool = False, file: TextIO | None = None, bold: bool = False
) -> None:
    """Say something in one line, whatever it quotes; `bold` on a terminal alone."""
    shown = cut_line(printable(without_passwords(line)))
    click.echo(click.style(shown, bold=True) if bold else shown, err=err, file=file)


def print_text(text: str, *, err: bool = False) -> None:
    """Say something in several lines, as many as the text has."""
    lines = message_text(text).split("\n")
    if err and len(lines) > MOST_LINES:
        lines[MOST_LINES:] = [f"and {len(lines) - MOST_LINES:,} more lines"]
    click.echo("\n".join(lines), err=err)


def print_document(text: str, *, end: str = "\n") -> None:
    """Write what a program reads, or a file: exactly, in UTF-8; on a terminal as a message is."""
    if sys.stdout.isatty():
        click.echo(printable_lines(text), nl=bool(end))
    else:
        exact = f"{text}{end}".encode(errors="backslashreplace")
        click.echo(exact if hasattr(sys.stdout, "buffer") else exact.decode(), nl=False)


def ask(question: str, **options: Any) -> Any:
    """Ask for a text; the options are those of `click.prompt`."""
    return click.prompt(printable(question), **options)


def confirm(question: str, *, default: bool) -> bool:
    """Ask whether to go on."""
    return click.confirm(printable(question), default=default)


def output_is_terminal() -> bool:
    return sys.stdout.isatty()


class MessageHandler(logging.Handler):
    """Writes what is logged to standard error, or to standard output, tracebacks included."""

    def __init__(self, level: int = logging.NOTSET, *, err: bool = True) -> None:
        super().__init__(level)
        self._err = err

    def emit(self, record: logging.LogRecord) -> None:
        try:
            print_text(self.format(record), err=self._err)
        except Exception:  # noqa: BLE001 as every handler: logging breaks nothing
            self.handleError(record)
