"""What is forked behaves as what starts: the same is asked of both interpreters."""

import asyncio
import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from hookproof.receiver.client.child_process import child
from tests.quick_start.children import quick_children
from tests.quick_start.interpreter import quick_python

LIST_AND_FAIL = ("explain", "--level", "opne")


@pytest.fixture(params=["starts", "is forked"])
def python(request: pytest.FixtureRequest) -> str:
    return sys.executable if request.param == "starts" else quick_python()


def run(python: str, *words: str, **further: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [python, "-P", "-m", "hookproof", *words],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        **further,
    )


def serving(python: str, *options: str) -> "subprocess.Popen[str]":
    words = ("serve", "--port", "0", "--json", "--until-stdin-closes", *options)
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [python, "-P", "-m", "hookproof", *words], stdin=pipe, stdout=pipe, stderr=pipe, text=True
    )


def test_it_ends_with_the_output_and_the_exit_code_of_its_command(python: str) -> None:
    shown, refused = run(python, "schema", "dialect"), run(python, *LIST_AND_FAIL)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert json.loads(shown.stdout)["title"]
    assert (refused.returncode, refused.stdout) == (64, "")
    assert "Did you mean 'open'?" in refused.stderr


def test_it_has_the_folder_the_variables_and_the_umask_of_its_caller(
    python: str, tmp_path: Path
) -> None:
    (tmp_path / "temporary").mkdir()
    umask = os.umask(0o027)
    try:
        made = run(python, "ca", "here", cwd=tmp_path)
        shown = run(python, "--help", env={**os.environ, "COLUMNS": "60"})
    finally:
        os.umask(umask)
    assert made.returncode == 0
    assert (tmp_path / "here" / "ca.pem").stat().st_mode & 0o007 == 0
    assert max(map(len, shown.stdout.splitlines())) <= 60


def test_it_reads_standard_input_and_ends_when_that_closes(python: str) -> None:
    with serving(python) as server:
        assert server.stdout is not None
        assert "api" in json.loads(server.stdout.readline())
        out, err = server.communicate(timeout=60)
    assert (server.returncode, out, err) == (0, "", "")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_as_its_command_says(python: str, number: signal.Signals) -> None:
    with serving(python) as server:
        assert server.stdout is not None
        server.stdout.readline()
        server.send_signal(number)
        assert server.wait(timeout=60) == 0
        assert server.communicate() == ("", "")


def test_it_is_gone_when_it_is_killed(python: str) -> None:
    with serving(python) as server:
        assert server.stdout is not None
        server.stdout.readline()
        server.kill()
        assert server.wait() == -signal.SIGKILL
        ended, _, _ = select.select([server.stdout], [], [], 60)  # its pipe closes with it
        assert ended


def test_a_command_is_forked() -> None:
    with serving(quick_python()) as server:
        assert server.stdout is not None
        server.stdout.readline()
        assert "launcher.py" in "".join(psutil.Process(server.pid).cmdline())


def test_what_is_started_from_within_this_process_is_forked_too() -> None:
    async def command_lines() -> str:
        async with child(["receive"], deadline_s=60):
            children = psutil.Process().children()
            return " ".join(word for each in children for word in each.cmdline())

    assert "launcher.py" not in asyncio.run(command_lines())
    with quick_children():
        assert "launcher.py" in asyncio.run(command_lines())


def test_other_programs_and_other_settings_of_the_interpreter_are_its_own() -> None:
    code = "import sys; print('hookproof' in sys.modules, sys.flags.hash_randomization)"
    other = subprocess.run(
        [quick_python(), "-c", code],
        env={**os.environ, "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert other.stdout.split() == ["False", "0"]
    nowhere = run(quick_python(), "--help", env={**os.environ, "PYTHONHOME": "/nowhere"})
    assert nowhere.returncode != 0
