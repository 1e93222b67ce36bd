"""Whatever a run file of a stranger holds in any of its places, no command that reads it breaks, or
lets it command the terminal.
"""

import contextlib
import io
import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

import pytest

from hookproof.cli import run_command_line
from hookproof.conformance.reports.formats import FORMATS
from hookproof.conformance.results.run_file import NAME
from hookproof.process.exit_codes import ExitCode
from hookproof.process.terminal_text import LONGEST_LINE
from tests.conformance.every_line import lines_of, places_of, with_value, write_run

HOSTILE: Final = "\x1b]0;owned\x07\x1b[2J\u202e\u2066\x9b31m\x00\ud800 \x85forged\nline\r"
# As a stranger could write it, to fill the terminal.
LONG: Final = HOSTILE + "x" * 3_000
# Numbers that convert to nothing, or overflow what is made of them.
NUMBERS: Final = (10**4000, 1e308, float("nan"))
# What a report may write besides: a space without width keeps addresses from becoming links.
OWN: Final = frozenset("\n\t\u200b")
ENDINGS: Final = frozenset(ExitCode) - {ExitCode.INTERNAL_ERROR}
# The parts of the file that few commands look at, and those that do.
READ_EVIDENCE: Final = (
    "report partial",
    "regrade",
    "regrade out",
    "compare behaviour",
    "compare behaviour json",
    "replay",
)
SELDOM_READ: Final = {
    "answers": ("report partial", "report html", "regrade", "compare behaviour"),
    "fields": ("report html", "report json"),
    "case": READ_EVIDENCE,
    "shrunk": READ_EVIDENCE,
}

# Where nothing is sent: the run is read first.
NOWHERE: Final = ("http://127.0.0.1:0", "--project", "p1", "--api-key", "k")


@dataclass(frozen=True, kw_only=True)
class CommandEnd:
    """How a command ended, in this process."""

    code: int
    out: str
    err: str

    @property
    def problems(self) -> Iterator[str]:
        """What no file may bring about."""
        if self.code not in ENDINGS:
            yield f"it ended with {self.code}: {self.err[:300]}"
        if raw := {c for c in self.out + self.err if not c.isprintable()} - OWN:
            yield f"these came out as they are: {sorted(raw)!r}"
        if "Traceback" in self.out + self.err:
            yield "there is a traceback"
        if any(len(line) > LONGEST_LINE for line in self.err.splitlines()):
            yield "it repeats a long text"


def ended(*words: str | Path) -> CommandEnd:
    """Run a command here, which takes milliseconds."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2)]
    before, sys.argv = sys.argv, ["hookproof", *map(str, words)]
    try:
        with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
            code = run_command_line()
    finally:
        sys.argv = before
    shown = []
    for stream in streams:
        stream.flush()
        assert isinstance(stream.buffer, io.BytesIO)
        shown.append(stream.buffer.getvalue().decode("utf-8"))
    return CommandEnd(code=code or 0, out=shown[0], err=shown[1])


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("plain"))


def commands(run: Path, cut_off: Path, plain: Path, out: Path) -> dict[str, Sequence[str | Path]]:
    """Every command that reads a run file, in each way in which it shows what it has read."""
    return {
        **{f"report {name}": ("report", run, "--format", name) for name in FORMATS},
        "report partial": ("report", cut_off, "--format", "json", "--partial"),
        "regrade": ("regrade", run),
        "regrade out": ("regrade", run, "--out", out / "again"),
        "compare": ("compare", plain, run),
        "compare json": ("compare", run, plain, "--format", "json"),
        "compare behaviour": ("compare", "--behaviour", run, plain),
        "compare behaviour json": ("compare", "--behaviour", plain, run, "--format", "json"),
        **{
            f"compare page {form}": ("compare", "--page", run, plain, "--format", form)
            for form in ("html", "markdown", "json")
        },
        "over time": ("compare", "--over-time", run),
        "over time json": ("compare", "--over-time", run, "--format", "json"),
        "pack": ("report", run, "--format", "pack", "-o", out / "run.zip"),
        "coverage": ("explain", "--coverage", "4.1", "--run", run),
        "replay": ("replay", run, *NOWHERE),
        "replay of a part": ("replay", cut_off, *NOWHERE),
    }


# Lines of the file, of which one of each kind is looked at.
LINES: Final = 15
LOOKED_AT: Final = (0, 1, 2, 3, 4, 6, 7, 11, 12, 13, 14)
# The line of fields has hundreds of members that are alike; so many are looked at.
FIELDS: Final = 12
SOME: Final = 9
# Of the values that are tried, each command reads one of so many in turn.
TURNS: Final = 3


def test_every_command_reads_the_run_as_it_is(plain: Path, tmp_path: Path) -> None:
    cut_off = tmp_path / "cut"
    cut_off.mkdir()
    texts = (plain / NAME).read_text().splitlines(keepends=True)
    assert len(texts) == LINES
    events = [json.loads(text)["event"] for text in texts]
    assert {events[line] for line in LOOKED_AT} == set(events)
    (cut_off / NAME).write_text("".join(texts[:-1]))
    for name, words in commands(plain, cut_off, plain, tmp_path).items():
        done = ended(*words)
        assert not list(done.problems), (name, done)
        refused = done.code in {ExitCode.USAGE, ExitCode.UNREACHABLE}
        assert refused == name.startswith("replay"), (name, done)
        assert not refused or "base URL" in done.err, (name, done)


@pytest.mark.parametrize("line", LOOKED_AT)
def test_no_place_of_a_run_file_breaks_a_command(line: int, plain: Path, tmp_path: Path) -> None:
    run, cut_off, out = (tmp_path / name for name in ("run", "cut", "out"))
    for folder in (run, cut_off, out):
        folder.mkdir()
    lines, found, turn = lines_of(plain), list[str](), 0
    for place, value in islice(places_of(lines[line]), SOME if line == FIELDS else None):
        part = lines[line]["event"] if place[0] != "answers" else "answers"
        for changed in _values(place, value):
            turn += 1
            text = with_value(lines, line, place, changed)
            (run / NAME).write_text(text)
            (cut_off / NAME).write_text(text[: text[:-1].rindex("\n") + 1])
            for number, (name, words) in enumerate(commands(run, cut_off, plain, out).items()):
                if (turn + number) % TURNS == 0 and name in SELDOM_READ.get(part, (name,)):
                    problems = ended(*words).problems
                    found += [f"{place} {str(changed)[:10]!a} {name}: {each}" for each in problems]
            shutil.rmtree(out / "again", ignore_errors=True)
    assert found == []


def _values(place: Sequence[str | int], value: Any) -> Iterator[Any]:
    """What to put into a place: one hostile text, and numbers for a number."""
    if place[0] == "answers":
        yield HOSTILE
    else:
        yield LONG
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield from NUMBERS


@pytest.mark.parametrize(
    "words",
    [("report", "--format", "json"), ("regrade",), ("report", "--format", "pack", "-o", "x")],
)
def test_an_endless_line_is_refused(words: Sequence[str], plain: Path, tmp_path: Path) -> None:
    with (tmp_path / NAME).open("wb") as stream:
        stream.write((plain / NAME).read_bytes())
        stream.truncate(200 * 1024 * 1024)  # a hole, which takes no room
    done = ended(words[0], tmp_path, *words[1:])
    assert (done.code, list(done.problems)) == (ExitCode.USAGE, [])
    assert "a line has more than 67,108,864 bytes, the most that is read" in done.err


def test_a_file_that_is_too_large_is_refused_and_its_limit_said(tmp_path: Path) -> None:
    with (tmp_path / NAME).open("wb") as stream:
        stream.truncate(1024**3 + 1)
    done = ended("report", tmp_path, "--format", "json")
    assert done.code == ExitCode.USAGE
    assert f"it is larger than {1024**3} bytes" in done.err


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("header", ("profile",)),
        ("header", ("baseline", 0, "expected")),
        ("header", ("format",)),
        ("requirement", ("verdict",)),
        ("requirement", ("level",)),
        ("finding", ("exchanges", 0, "operation_id")),
        ("footer", ("verdict",)),
    ],
    ids=str,
)
def test_a_word_that_this_version_does_not_know_is_refused(
    line: str, place: tuple[str | int, ...], plain: Path, tmp_path: Path
) -> None:
    lines = lines_of(plain)
    number = next(i for i, each in enumerate(lines) if each["event"] == line)
    (tmp_path / NAME).write_text(with_value(lines, number, place, "of another version"))
    for words in (("report", tmp_path, "--format", "html"), ("regrade", tmp_path)):
        done = ended(*words)
        assert done.code == ExitCode.USAGE
        assert "holds no run of" in done.err


def test_a_header_of_a_stranger_is_shown_and_commands_nothing(plain: Path, tmp_path: Path) -> None:
    lines = lines_of(plain)
    lines[0]["answers"] = {HOSTILE: HOSTILE}
    (tmp_path / NAME).write_text("".join(f"{json.dumps(each)}\n" for each in lines))
    done = ended("regrade", tmp_path)
    assert (done.code, list(done.problems)) == (ExitCode.USAGE, [])
    assert "\\x1b]0;owned\\x07" in done.err
