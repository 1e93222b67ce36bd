"""Standard output that is closed, full or ASCII changes no exit code that stands for a verdict."""

import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

from hookproof.process.exit_codes import ExitCode

# A command that shows much and ends with a verdict, or with none.
COMMAND = """
import sys
import click
from rich.console import Console
import hookproof.cli as front_door

@click.command()
@click.pass_context
def show(context):
    for _ in range(3000):
        Console().print("stated 1/1 · no verdict is lost")
    click.echo("·")
    {end}

front_door.cli = show
front_door.main()
"""
VERDICTS = [("context.exit(1)", 1), ("context.exit(0)", 0), ("return 3", 3)]


def ended(
    end: str, stdout: IO[bytes] | int = subprocess.PIPE, **variables: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", COMMAND.format(end=end)],
        stdout=stdout,
        stderr=subprocess.PIPE,
        env={"PATH": "", "PYTHONPATH": ":".join(sys.path), **variables},
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize(("end", "code"), VERDICTS)
def test_a_pipe_that_nobody_reads_keeps_the_verdict_and_is_no_news(end: str, code: int) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND.format(end=end)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    with process.stderr as errors:
        assert errors.read() == b""
    assert process.wait(120) == code


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize(("end", "code"), [*VERDICTS, ("return None", int(ExitCode.USAGE))])
def test_a_full_disk_keeps_the_verdict_and_is_said_once(end: str, code: int) -> None:
    with Path("/dev/full").open("wb") as full:
        result = ended(end, full)
    lost = b"hookproof: standard output cannot be written: No space left on device\n"
    assert (result.returncode, result.stderr) == (code, lost)


@pytest.mark.parametrize("variables", [{"LC_ALL": "C"}, {"PYTHONIOENCODING": "ascii"}])
def test_what_ascii_lacks_is_written_otherwise(variables: dict[str, str]) -> None:
    result = ended("context.exit(1)", **variables)
    assert (result.returncode, result.stderr) == (1, b"")
    assert result.stdout.count(b"no verdict is lost") == 3000


def test_a_closed_standard_output_is_none() -> None:
    script = f'exec "{sys.executable}" -c "$0" >&-'
    command = ["/bin/sh", "-c", script, COMMAND.format(end="context.exit(1)")]
    result = subprocess.run(command, capture_output=True, check=False, timeout=120)
    assert (result.returncode, result.stderr) == (1, b"")
