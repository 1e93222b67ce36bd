"""SIGTERM and SIGHUP end a command as ctrl-C does, unless they are ignored."""

import signal
import subprocess
import sys

import pytest

INTERRUPTED = 130

# A command that cleans up, under the front door of all commands.
COMMAND = """
import asyncio, signal, sys
import click
import hookproof.cli as front_door

signal.signal(signal.SIGINT, {interrupts})

@click.command()
def waiting():
    async def wait():
        print("ready", flush=True)
        try:
            await asyncio.sleep(60)
        finally:
            print("cleaned up", flush=True)
    asyncio.run(wait())

front_door.cli = waiting
front_door.main()
"""


def ended_by(number: signal.Signals, interrupts: str, *, before: str = "") -> tuple[int, str]:
    process = subprocess.Popen(
        [sys.executable, "-c", before + COMMAND.format(interrupts=interrupts)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    if before:
        process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=60)
    return process.returncode, out


@pytest.mark.parametrize("interrupts", ["signal.default_int_handler", "signal.SIG_IGN"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_command_ends_as_by_an_interrupt(number: signal.Signals, interrupts: str) -> None:
    assert ended_by(number, interrupts) == (INTERRUPTED, "cleaned up\n")


def test_a_signal_that_the_caller_ignores_stays_ignored() -> None:
    before = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
    code, _ = ended_by(signal.SIGHUP, "signal.default_int_handler", before=before)
    assert code == INTERRUPTED
