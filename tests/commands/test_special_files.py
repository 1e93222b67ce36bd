"""A pipe, a device or a folder in the place of a file is refused in one line, by every command."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import click
import pytest

from hookproof.cli import SUBCOMMANDS, cli
from hookproof.process.exit_codes import ExitCode
from hookproof.receiver.http.authority import CERTIFICATE_FILE, KEY_FILE, Authority
from tests.conformance.cli.test_hostile_run_files import ended
from tests.conformance.every_line import write_run
from tests.source_tree import ROOT

# A hang is what these tests look for; none of the commands takes seconds.
pytestmark = pytest.mark.timeout(120)

TARGET: Final = ("http://127.0.0.1:1", "--project", "p1", "--api-key", "k")
CONSUMER: Final = ("http://127.0.0.1:1", "--scheme", "github", "--secret", "s")
NOWHERE: Final = ("--url", *TARGET)
# A command with FILE in the place of each kind of file that it reads. RUN is the folder of a run
# whose run.jsonl is the file, CA one whose certificate is, and GOOD the folder of a good run.
COMMANDS: Final = {
    "check --target": ("check", "--target", "FILE"),
    "check --dialect": ("check", *TARGET, "--dialect", "./FILE"),
    "check --baseline": ("check", *TARGET, "--dialect", "reference", "--baseline", "FILE"),
    "check --only": ("check", *TARGET, "--dialect", "reference", "--only", "@FILE"),
    "check --exclude": ("check", *TARGET, "--dialect", "reference", "--exclude", "@FILE"),
    "check-consumer --body": ("check-consumer", *CONSUMER, "--body", "FILE"),
    "check-consumer --ca": ("check-consumer", *CONSUMER, "--ca", "FILE"),
    "check --ca-dir": ("check", *TARGET, "--dialect", "reference", "--ca-dir", "CA"),
    "compare before": ("compare", "FILE", "GOOD"),
    "compare after": ("compare", "GOOD", "RUN"),
    "compare loads": ("compare", "FILE.json", "FILE.json"),
    "compare over time": ("compare", "--over-time", "RUN"),
    "compare page": ("compare", "--page", "RUN", "GOOD"),
    "dialect show": ("dialect", "show", "./FILE"),
    "dialect diff": ("dialect", "diff", "reference", "./FILE"),
    "doctor --target": ("doctor", "--target", "FILE"),
    "doctor --ca-dir": ("doctor", *TARGET, "--ca-dir", "CA"),
    "init --ca-dir": ("init", *TARGET, "--ca-dir", "CA", "--no-ask"),
    "learn --target": ("learn", "--target", "FILE"),
    "learn --ca-dir": ("learn", *TARGET, "--ca-dir", "CA"),
    "learn --extends": ("learn", *TARGET, "--extends", "./FILE"),
    "explain": ("explain", "@FILE"),
    "load --target": ("load", "--target", "FILE"),
    "load --payload": ("load", *NOWHERE, "--dialect", "reference", "--payload", "FILE"),
    "load profile": ("load", "./FILE.yaml", *NOWHERE, "--dialect", "reference"),
    "receive --script": ("receive", "--script", "FILE"),
    "receive --ca-dir": ("receive", "--ca-dir", "CA"),
    "receive --tls-cert": ("receive", "--tls-cert", "FILE", "--tls-key", "FILE"),
    "regrade": ("regrade", "RUN"),
    "regrade a file": ("regrade", "FILE"),
    "regrade --dialect": ("regrade", "GOOD", "--dialect", "./FILE"),
    "replay": ("replay", "RUN", *TARGET),
    "replay --target": ("replay", "GOOD", "--target", "FILE"),
    "report": ("report", "RUN", "--format", "json"),
    "report a pack": ("report", "RUN", "--format", "pack", "-o", "x.zip"),
    "report --key": ("report", "GOOD", "--format", "pack", "-o", "x.zip", "--key", "FILE"),
    "report files": ("report", "FILE", "--format", "files", "-o", "there"),
    "report --verify-key": (
        "report",
        "FILE",
        "--format",
        "files",
        "-o",
        "there",
        "--verify-key",
        "FILE",
    ),
    "report --partial": ("report", "FILE", "--format", "json", "--partial"),
    "send --body": ("send", *CONSUMER, "--body", "FILE"),
    "send --ca": ("send", *CONSUMER, "--body", str(ROOT / "LICENSE"), "--ca", "FILE"),
    "serve --projects": ("serve", "--port", "0", "--projects", "FILE"),
    "serve --fixtures": ("serve", "--port", "0", "--fixtures", "FILE"),
    "serve --ca": ("serve", "--port", "0", "--ca", "FILE"),
    "serve --dialect": ("serve", "--port", "0", "--dialect", "./FILE"),
    "sign --body": ("sign", *CONSUMER[1:], "--body", "FILE"),
    "validate": ("validate", "FILE"),
    **{
        f"validate --as {kind}": ("validate", "--as", kind, "./FILE.yaml")
        for kind in ("dialect", "target", "profile", "baseline", "script", "scheme", "run")
    },
    "vectors --dialect": ("vectors", "--dialect", "./FILE"),
    "verify saved_file": ("verify", "--secret", "s", "FILE"),
    "verify --request": ("verify", "--secret", "s", "--request", "FILE"),
    "verify --header": ("verify", "--secret", "s", "--header", "@FILE"),
    "verify --body": ("verify", "--secret", "s", "--header", "X: y", "--body", "FILE"),
    "verify --scheme": ("verify", "--secret", "s", "--header", "X: y", "--scheme", "./FILE.yaml"),
}
# Paths that are written, or whose file `--target` and others above stand for.
WRITTEN: Final = frozenset(
    {"--out", "--output", "--write-baseline", "--badges", "--jsonl", "--write-body"}
)
# One that takes a folder, and finds files in it by itself.
FOLDERS: Final = frozenset(
    {"ca folder", "explain --run", "load --ca-dir", "mcp --directory", "replay --ca-dir"}
)


def pipe(path: Path) -> None:
    os.mkfifo(path)


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def huge(path: Path) -> None:
    with path.open("wb") as stream:
        stream.truncate(2 * 1024**3)  # a hole, which takes no room


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("good")
    Authority(folder / "ca")
    return write_run(folder)


@pytest.mark.parametrize("make", [pipe, endless, huge])
@pytest.mark.parametrize("name", COMMANDS)
def test_it_is_refused_at_once(
    name: str,
    make: Callable[[Path], None],
    good: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("RUN", "CA"):
        Path(folder).mkdir()
    for path in ("FILE", "FILE.yaml", "FILE.json", "RUN/run.jsonl", f"CA/{CERTIFICATE_FILE}"):
        make(Path(path))
    shutil.copy(good / "ca" / KEY_FILE, "CA")
    done = ended(*(str(good) if word == "GOOD" else word for word in COMMANDS[name]))
    # What examines a target first may not come to the file.
    codes = {ExitCode.USAGE} | ({ExitCode.UNREACHABLE} if name.endswith("--ca-dir") else set())
    assert done.code in codes, done
    assert list(done.problems) == []
    assert len(done.err.splitlines()) <= 3, done.err


def test_a_run_whose_earlier_file_is_a_pipe_is_planned(tmp_path: Path) -> None:
    pipe(tmp_path / "run.jsonl")
    assert ended("explain", "--coverage", "4.1-1", "--run", tmp_path).code == ExitCode.OK


def paths(command: click.Command, name: str) -> Iterator[str]:
    """Each parameter of a command, or of those in a group, that is a path which is read."""
    if isinstance(command, click.Group):
        for inner, each in command.commands.items():
            yield from paths(each, f"{name} {inner}")
    for parameter in command.params:
        if isinstance(parameter.type, click.Path) and parameter.opts[-1] not in WRITTEN:
            yield f"{name} {parameter.opts[-1]}"


def test_every_path_that_a_command_reads_is_tried() -> None:
    commands = {name: cli.get_command(click.Context(cli), name) for name in SUBCOMMANDS}
    read = {path for name, each in commands.items() if each for path in paths(each, name)}
    positional = {"regrade folder", "replay run", "report folder", "validate files"}
    further = {"receive --tls-key"}
    assert read - COMMANDS.keys() - positional - further - FOLDERS == set()
