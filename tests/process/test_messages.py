"""What is said is harmless and of a bounded length, whoever wrote what it quotes."""

import io
import logging
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.process.message_console import MessageConsole
from hookproof.process.messages import (
    MOST_LINES,
    MessageHandler,
    ask,
    print_document,
    print_line,
    print_text,
)
from hookproof.process.terminal_text import LONGEST_LINE, cut_line
from tests.conformance.cli.test_hostile_run_files import ended

HOSTILE = "\x1b]0;owned\x07\x1b[2J\u202e\u2066\x9b31m\x00\ud800"
LONG = "x" * 100_000


def is_harmless(text: str) -> bool:
    return all(c.isprintable() or c == "\n" for c in text)


@pytest.mark.parametrize("say", [print_line, print_text, print_document])
def test_a_message_is_harmless_on_a_terminal(
    say: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdout", terminal)
    say(f"it is {HOSTILE}")
    assert terminal.getvalue().startswith("it is \\x1b]0;owned\\x07")
    assert is_harmless(terminal.getvalue())


def test_what_is_logged_is_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    failure = ValueError(HOSTILE)
    record = logging.makeLogRecord(
        {"msg": f"a reply to {HOSTILE} failed", "exc_info": (ValueError, failure, None)}
    )
    MessageHandler().emit(record)
    shown = capsys.readouterr().err
    assert "a reply to \\x1b]0;owned" in shown
    assert "ValueError: \\x1b]0;owned" in shown
    assert is_harmless(shown)


def test_a_question_is_harmless(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr("click.prompt", lambda text, **_: asked.append(text))
    ask(f"The key of {HOSTILE}")
    assert is_harmless(asked[0])


def test_a_picture_is_harmless() -> None:
    written = io.StringIO()
    MessageConsole(written).print(f"it is {HOSTILE}", soft_wrap=True)
    assert "\\x1b]0;owned" in written.getvalue()
    assert is_harmless(written.getvalue())


def test_one_line_stays_one(capsys: pytest.CaptureFixture[str]) -> None:
    print_line("target x\nCONFORMS")
    assert capsys.readouterr().out == "target x\\nCONFORMS\n"


def test_a_long_quotation_loses_its_middle_and_its_length_is_said() -> None:
    line = cut_line(f"'{LONG}' is not a requirement; `hookproof explain` shows them all")
    assert len(line) <= LONGEST_LINE
    assert line.startswith("'xxx")
    assert line.endswith("x' is not a requirement; `hookproof explain` shows them all")
    assert "99,0" in line
    assert cut_line("y" * LONGEST_LINE) == "y" * LONGEST_LINE
    assert len(str(CommandError(f"{LONG}\n{LONG}"))) <= 2 * LONGEST_LINE + 1


def test_of_many_lines_of_an_error_the_first_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    print_text("a\n" * 5000, err=True)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == MOST_LINES + 1
    assert lines[-1] == f"and {5001 - MOST_LINES:,} more lines"


@pytest.mark.parametrize(
    "words",
    [
        ("check", "--only", f"@{Path('long.txt')}"),
        ("check", "--exclude", LONG),
        ("check", "--profile", LONG),
        ("check", "--dialect", LONG),
        ("check", f"http://{LONG}:x"),
        ("check", "--seed", LONG),
        ("explain", LONG),
        ("report", LONG, "--format", "json"),
        ("regrade", "--dialect", LONG),
        ("compare", "--page", f"{LONG}=x"),
        ("compare", "--over-time", LONG),
        ("report", LONG, "--format", "pack", "-o", "x"),
        ("report", ".", "--format", "json", "-o", LONG),
        ("ca", LONG),
        ("receive", "--bind", LONG),
        ("serve", "--fault", LONG),
        ("verify", "--secret", "s", "--header", LONG),
        ("load", LONG, "--url", "http://127.0.0.1:1", "--project", "p", "--api-key", "k"),
        (LONG,),
    ],
    ids=lambda words: " ".join(word[:20] for word in words),
)
def test_no_command_repeats_a_long_word(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("long.txt").write_text(f"{LONG}\n" * 20)
    done = ended(*words)
    assert (done.code, list(done.problems)) == (ExitCode.USAGE, []), done.err[:300]
    assert len(done.err) < 3 * LONGEST_LINE
