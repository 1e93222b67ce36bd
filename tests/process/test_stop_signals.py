"""SIGTERM and SIGHUP end a command as ctrl-C does, unless they are ignored."""

import asyncio
import signal
import subprocess
import sys

import pytest

from hookproof.process.stop_signals import calling, calling_each_time, held_back, run_until_stopped

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


def test_the_first_interrupt_calls_what_it_is_to_call_and_the_second_one_raises() -> None:
    called: list[str] = []
    before = signal.getsignal(signal.SIGINT)
    with calling(lambda: called.append("called")):
        signal.raise_signal(signal.SIGINT)
        assert called == ["called"]
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert called == ["called"]
    assert signal.getsignal(signal.SIGINT) is before


def test_an_interrupt_that_is_held_back_has_no_effect() -> None:
    before = signal.getsignal(signal.SIGINT)
    with held_back():
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_an_interrupt_that_was_held_back_is_called_in_the_block_that_begins_later() -> None:
    called: list[str] = []
    with held_back():
        signal.raise_signal(signal.SIGINT)
        with calling(lambda: called.append("first")):
            assert called == ["first"]
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
        with calling(lambda: called.append("again")):
            pass
    assert called == ["first"]


def test_every_interrupt_calls_what_is_to_be_called_each_time() -> None:
    called: list[str] = []
    with calling_each_time(lambda: called.append("called")):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
    assert len(called) == 2


def test_an_interrupt_while_the_loop_is_made_runs_nothing_and_leaves_nothing_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[asyncio.AbstractEventLoop] = []
    begun: list[str] = []

    class InterruptedLoop(asyncio.SelectorEventLoop):
        def __init__(self) -> None:
            signal.raise_signal(signal.SIGINT)
            super().__init__()
            made.append(self)

    async def work() -> None:
        begun.append("work")

    monkeypatch.setattr(asyncio, "new_event_loop", InterruptedLoop)
    monkeypatch.setattr(asyncio.events, "new_event_loop", InterruptedLoop)
    with pytest.raises(KeyboardInterrupt):
        run_until_stopped(work)
    assert begun == []
    assert [loop.is_closed() for loop in made] == [True]


def test_an_interrupt_cancels_what_runs_and_a_result_is_returned() -> None:
    cleaned_up: list[str] = []

    async def waits() -> None:
        signal.raise_signal(signal.SIGINT)
        try:
            await asyncio.Event().wait()
        finally:
            cleaned_up.append("waits")

    async def returns() -> int:
        return 7

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        run_until_stopped(waits)
    assert cleaned_up == ["waits"]
    assert run_until_stopped(returns) == 7
    assert signal.getsignal(signal.SIGINT) is before


# A command that is stopped while Python finalizes an object, which loses what is raised there.
FINALIZING = """
import signal, threading
import click
import hookproof.cli as front_door

class Finalized:
    def __del__(self):
        signal.raise_signal(signal.SIGHUP)

@click.command()
def waiting():
    Finalized()
    threading.Event().wait(60)
    print("it was lost")

front_door.cli = waiting
front_door.main()
"""


def test_an_interrupt_in_a_finalizer_is_not_lost_and_leaves_no_traceback() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FINALIZING], capture_output=True, text=True, timeout=90, check=False
    )
    assert (done.returncode, done.stdout) == (INTERRUPTED, "")
    assert "Traceback" not in done.stderr


# A command that is stopped at its very end, when its exit code stands.
ENDING = """
import atexit, os, signal
import click
import hookproof.cli as front_door

# What is registered last is called first: amid the end of the interpreter.
class AtTheEnd:
    def __del__(self):
        os.kill(os.getpid(), {number})

@click.command()
@click.pass_context
def end(context):
    atexit.register(os.kill, os.getpid(), {number})
    front_door.at_the_end = AtTheEnd()
    context.exit(3)

front_door.cli = end
front_door.main()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_at_the_end_changes_no_exit_code(number: signal.Signals) -> None:
    command = [sys.executable, "-c", ENDING.format(number=int(number))]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (ended.returncode, ended.stderr) == (3, "")


# Python calls such a function for each module that it has imported; what is raised there is lost.
INTERRUPTED_BY_AN_IMPORT = """
import os, runpy, signal, sys, weakref

class Finder:
    def find_spec(self, name, path, target=None):
        if name == "hookproof.cli":
            found = Finder()
            self.known = weakref.ref(found, lambda _: os.kill(os.getpid(), signal.SIGINT))

sys.meta_path.insert(0, Finder())
sys.argv = ["hookproof", "check", "--plan"]
runpy.run_module("hookproof", run_name="__main__")
"""


def test_an_interrupt_while_the_command_is_imported_is_not_lost() -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_BY_AN_IMPORT], capture_output=True, check=False
    )
    assert done.returncode in (INTERRUPTED, -signal.SIGINT)
    assert done.stdout == b""
