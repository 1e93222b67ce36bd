"""What is forked behaves as what is started, of which `test_child_process` has more."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import psutil
import pytest

from hookproof.receiver.client.child_process import SOURCES
from hookproof.receiver.client.forked_process import PRELOADED, can_fork
from tests.polling import poll_until

# The fork server belongs to a process, and imports the main module of that too.
SCRIPT: Final = """
import asyncio, json, os, signal, sys
sys.path.insert(0, {sources!r})
from hookproof.receiver.client.child_process import ChildCommand, ChildFailed, children

def forked(*arguments, **environment):
    command = ChildCommand(arguments=arguments, environment=environment)
    return children([command], deadline_s=90, forked=True)

async def main():
    {body}

if __name__ == "__main__":
    asyncio.run(main())
"""


def run(folder: Path, body: str) -> subprocess.CompletedProcess[str]:
    script = folder / "elsewhere" / "script.py"
    script.parent.mkdir()
    script.write_text(
        SCRIPT.format(sources=str(SOURCES), body=body.strip().replace("\n", "\n    "))
    )
    return subprocess.run(
        [sys.executable, "-W", "error", script],
        cwd=folder,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def printed(process: subprocess.CompletedProcess[str]) -> Any:
    assert process.returncode == 0, process.stderr
    assert not process.stderr
    return json.loads(process.stdout)


@pytest.mark.parametrize(("length", "possible"), [(47, True), (48, False)])
def test_nothing_is_forked_where_a_socket_would_have_too_long_a_path(
    monkeypatch: pytest.MonkeyPatch, length: int, possible: bool
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/tmp/".ljust(length, "x"))
    assert can_fork() is possible


def test_what_is_preloaded_exists() -> None:
    assert all(find_spec(name) is not None for name in PRELOADED)


def test_processes_come_from_one_fork_server_and_each_has_its_session(tmp_path: Path) -> None:
    seen = printed(
        run(
            tmp_path,
            """
import psutil
seen = []
for _ in range(2):
    async with forked("receive"):
        seen += [
            (child.ppid(), os.getsid(child.pid) == child.pid)
            for child in psutil.Process().children(recursive=True)
            if child.ppid() != os.getpid()
        ]
server = psutil.Process(seen[0][0]).environ()
print(json.dumps([seen, len(psutil.Process().children(recursive=True)), server]))
""",
        )
    )
    (first, second), left, variables = seen
    assert variables["PYTHONPATH"].split(os.pathsep)[0] == str(SOURCES)
    assert first[0] == second[0]
    assert first[1] is second[1] is True
    assert left == 2  # the fork server, and what multiprocessing has beside it


def test_a_process_has_the_variables_that_it_is_given(tmp_path: Path) -> None:
    projects = printed(
        run(
            tmp_path,
            """
async with forked("serve", "--port", "0", HOOKPROOF_PROJECTS="mine=a-key") as (ready,):
    print(json.dumps([ready["projects"], "HOOKPROOF_PROJECTS" in os.environ]))
""",
        )
    )
    assert projects == [["mine"], False]


def test_why_a_process_did_not_start_is_said(tmp_path: Path) -> None:
    words, code = printed(
        run(
            tmp_path,
            """
try:
    async with forked("receive", "--bind", "nowhere"):
        pass
except ChildFailed as failed:
    print(json.dumps([str(failed), failed.exit_code]))
""",
        )
    )
    assert words.startswith("`hookproof receive` did not start: ")
    assert "nowhere" in words
    assert code == 64


def test_a_module_of_the_same_name_in_the_current_folder_is_not_imported(tmp_path: Path) -> None:
    (tmp_path / "hookproof.py").write_text("raise RuntimeError('imported')")
    body = """
async with forked("receive") as (ready,):
    print(json.dumps(sorted(ready)))
"""
    assert "control" in printed(run(tmp_path, body))


def test_the_variables_of_the_parent_stay_as_they_are(tmp_path: Path) -> None:
    body = """
before = dict(os.environ)
async with forked("receive"):
    print(json.dumps(before == dict(os.environ)))
"""
    assert printed(run(tmp_path, body)) is True


def test_a_parent_that_ends_by_itself_waits_for_nothing(tmp_path: Path) -> None:
    ended = run(
        tmp_path,
        """
from hookproof.receiver.client.child_process import SOURCES
from hookproof.receiver.client.forked_process import ForkedProcess
variables = {**os.environ, "PYTHONPATH": str(SOURCES)}
words = ["receive", "--until-stdin-closes"]
process = await ForkedProcess.start(words, variables, limit=1000)
print(process.pid, flush=True)
os.dup(process.stdin.get_extra_info("pipe").fileno())  # so that its input stays open
""",
    )
    assert ended.returncode == 0
    poll_until(lambda: not is_running(int(ended.stdout)), "it has ended", deadline_s=20)


def test_what_is_forked_does_not_outlive_a_parent_that_was_killed(tmp_path: Path) -> None:
    killed = run(
        tmp_path,
        """
import psutil
async with forked("receive"):
    below = psutil.Process().children(recursive=True)
    print(json.dumps([each.pid for each in below]), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
""",
    )
    assert killed.returncode == -signal.SIGKILL
    pids = json.loads(killed.stdout)
    assert len(pids) == 3
    poll_until(lambda: not any(map(is_running, pids)), "all have ended", deadline_s=20)


@pytest.mark.parametrize(
    "command", [["serve", "--port", "0"], ["receive"]], ids=lambda each: each[0]
)
def test_what_is_forked_ends_well_where_nobody_reads_what_it_says(
    tmp_path: Path, command: list[str]
) -> None:
    body = f"""
from hookproof.receiver.client.child_process import SOURCES
from hookproof.receiver.client.forked_process import ForkedProcess, _context
variables = {{**os.environ, "PYTHONPATH": str(SOURCES), "HOOKPROOF_PROJECTS": "mine=a-key"}}
_context(variables["PYTHONPATH"])  # so that the next pipes are those of the process
words = [*{command}, "--json", "--until-stdin-closes"]
real = os.pipe
def without_reader():
    (unread, written), (read, unwritten) = real(), real()
    os.close(unread)
    os.close(unwritten)
    return read, written
os.pipe = lambda made=iter([real, without_reader, real]): next(made, real)()
process = await ForkedProcess.start(words, variables, limit=10000)
process.stdin.close()
outputs = [(await each.read()).decode() for each in (process.stdout, process.stderr)]
print(json.dumps([await process.wait(), *outputs]))
"""
    assert printed(run(tmp_path, body)) == [0, "", ""]


def is_running(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
