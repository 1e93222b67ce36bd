"""The console sessions of the documentation, and a shell in which those of a page run one by one.

Comments in front of a block, which no reader sees, say what the block needs:

    <!-- not run: REASON -->     it is not run
    <!-- first: COMMAND -->      this runs before it, unseen; there may be several
    <!-- file: NAME -->          the block is no session: it is the file of this name

A command that runs until it is stopped, such as `hookproof serve`, goes on in the background, as in
a terminal of its own, until the page starts another one of the same kind, or ends.
"""

import os
import re
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, Self

from tests.free_ports import free_port
from tests.polling import poll_until
from tests.source_tree import ROOT

BLOCK: Final = re.compile(
    r"(?P<notes>(?:^ *<!-- (?:not run|first|file): [^\n]* -->\n)*)"
    r"^(?P<indent> *)```(?P<language>\w*)\n(?P<text>.*?)^ *```$",
    re.DOTALL | re.MULTILINE,
)
NOTE: Final = re.compile(r"<!-- (?P<kind>[a-z ]+): (?P<text>.*) -->")
PROMPT: Final = re.compile(r"^(?:\w+)?\$ ")
UNTIL_STOPPED: Final = re.compile(r"hookproof (?P<kind>serve|receive)\b(?!.*--list-)")
# What such a command writes as soon as it serves.
ADDRESS: Final = b"://"
# How a line ends that is not the last one of its command.
GOES_ON: Final = ("\\", "|")
# The ports that the pages name, and whatever is free in their place.
PORTS: Final = ("5005", "5006", "8443", "8444")
PORT: Final = re.compile(rf"\b(?:{'|'.join(PORTS)})\b")
# Of whoever runs the tests; a session begins without them.
TARGET_VARIABLES: Final = ("HOOKPROOF_API_KEY", "HOOKPROOF_PROJECT", "HOOKPROOF_URL")
# What differs from run to run: it is compared by its form alone.
VARYING: Final = (
    r"\b\d+(?:\.\d+)? (?:s|ms)\b",
    r"\b\d\d:\d\d:\d\d\.\d+",
    r"\b20\d\d-\d\d-\d\d\b",
    r"\b127\.0\.0\.1:\d+",
    r"\b[0-9A-HJKMNP-TV-Z]{26}\b",
)
WITHIN_S: Final = 240


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCommand:
    """A command of a session, and the lines that the page shows under it."""

    line: str
    output: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleSession:
    """A block of a page; `reason` says why it is not run, empty if it is."""

    page: str
    line: int
    reason: str
    first: Sequence[str]
    files: Mapping[str, str]
    commands: Sequence[ShownCommand]


def sessions_in(page: Path, root: Path = ROOT) -> Iterator[ConsoleSession]:
    """The sessions of a page, each with the files that stand before it."""
    text = page.read_text("utf-8")
    files: dict[str, str] = {}
    for block in BLOCK.finditer(text):
        indent = len(block["indent"])
        lines = [line[indent:] for line in block["text"].splitlines()]
        notes = [(note["kind"], note["text"]) for note in NOTE.finditer(block["notes"])]
        for name in (said for kind, said in notes if kind == "file"):
            files[name] = "".join(f"{line}\n" for line in lines)
        if block["language"] == "console":
            yield ConsoleSession(
                page=str(page.relative_to(root)),
                line=text[: block.start("text")].count("\n"),
                reason=" ".join(said for kind, said in notes if kind == "not run"),
                first=[f"{said}\n" for kind, said in notes if kind == "first"],
                files=dict(files),
                commands=[*_commands(lines)],
            )


def _commands(lines: Sequence[str]) -> Iterator[ShownCommand]:
    """The commands of a block; one goes on below a line that ends with a backslash or a bar."""
    command, output, goes_on = "", "", False
    for line in lines:
        if not goes_on and PROMPT.match(line):
            if command:
                yield ShownCommand(line=command, output=output)
            command, output = "", ""
            goes_on = True
        if goes_on:
            command += f"{PROMPT.sub('', line)}\n"
            goes_on = line.endswith(GOES_ON)
        else:
            assert command, f"{line!r} stands before the first command"
            output += f"{line}\n"
    yield ShownCommand(line=command, output=output)


def agrees(shown: str, written: str) -> bool:
    """Whether a page shows what a command wrote; a line of three dots stands for any lines."""
    pattern = ""
    for line in shown.splitlines():
        pattern += r"(?:.*\n)*?" if line.strip() == "..." else f"{_pattern(line)}\n"
    text = "".join(f"{line.rstrip()}\n" for line in written.splitlines())
    return re.fullmatch(pattern, text) is not None


def _pattern(line: str) -> str:
    """A pattern for a line, in which what varies has only its form."""
    varying = re.compile("|".join(f"({form})" for form in VARYING))
    parts, end = [], 0
    for found in varying.finditer(line):
        assert found.lastindex is not None
        parts += [re.escape(line[end : found.start()]), VARYING[found.lastindex - 1]]
        end = found.end()
    return "".join([*parts, re.escape(line[end:].rstrip())])


class PageShell:
    """A bash in an empty folder, with ports of its own in place of those that pages name."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self._folder = folder
        first = free_port(in_a_row=len(PORTS))
        self._real_ports = {port: str(first + number) for number, port in enumerate(PORTS)}
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._count = 0
        self._variables = {
            **{name: value for name, value in os.environ.items() if name not in TARGET_VARIABLES},
            "PATH": f"{programs}:{os.environ['PATH']}",
            "HOME": str(folder),
            "COLUMNS": "100",
        }
        self._bash = self._bash_process(["bash", "--norc"], subprocess.DEVNULL, subprocess.PIPE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in (*self._running.values(), self._bash):
            end(process)

    def write(self, name: str, text: str) -> None:
        (self._folder / name).write_text(self._with_real_ports(text), "utf-8")

    def run(self, command: str) -> tuple[int, str]:
        """Run a command; its exit code and all that it wrote, or what one in the background did."""
        found = UNTIL_STOPPED.search(command)
        if found is not None:
            return self._begin(found["kind"], command)
        self._count += 1
        written, code = (self._folder / f".{self._count}.{name}" for name in ("written", "code"))
        assert self._bash.stdin is not None
        lines = (
            f"{{ {self._with_real_ports(command)}}} > {written} 2>&1 < /dev/null",
            f"echo $? > {code}.part && mv {code}.part {code}",
        )
        self._bash.stdin.write("".join(f"{line}\n" for line in lines).encode())
        self._bash.stdin.flush()
        poll_until(code.exists, command, WITHIN_S)
        return int(code.read_text()), self._with_named_ports(written.read_bytes())

    def _begin(self, kind: str, command: str) -> tuple[int, str]:
        """Start a command that runs until it is stopped; 0, or its exit code, and what it wrote."""
        if kind in self._running:
            end(self._running.pop(kind))
        words = re.sub(r"\s+# .*", "", self._with_real_ports(command)).strip()
        if kind == "serve" and "--port" not in words:
            words += f" --port {self._real_ports['5005']}"
        written = self._folder / f".{kind}.written"
        with written.open("wb") as file:
            process = self._bash_process(["bash", "-c", f"exec {words}"], file)
        self._running[kind] = process
        poll_until(
            lambda: ADDRESS in written.read_bytes() or process.poll() is not None, words, WITHIN_S
        )
        return process.poll() or 0, self._with_named_ports(written.read_bytes())

    def _bash_process(
        self, words: Sequence[str], output: IO[bytes] | int, source: int = subprocess.DEVNULL
    ) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            words,
            cwd=self._folder,
            env=self._variables,
            stdin=source,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def _with_real_ports(self, text: str) -> str:
        return PORT.sub(lambda found: self._real_ports[found[0]], text)

    def _with_named_ports(self, written: bytes) -> str:
        text = written.decode("utf-8", "replace")
        for named, real in self._real_ports.items():
            text = text.replace(real, named)
        return text


def end(process: "subprocess.Popen[bytes]") -> None:
    """End a process, and what it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    process.communicate()
