import asyncio
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from hookproof.receiver.client.child_process import ChildCommand, ChildFailed, child, children
from tests.polling import poll_until

PARENT = """
import asyncio, os, signal
from hookproof.receiver.client.child_process import child

async def main():
    async with child(["receive"], deadline_s=90) as ready:
        print(ready["control"], flush=True)
        os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


def accepts_connections(url: str) -> bool:
    parts = urlsplit(url)
    try:
        with socket.create_connection((parts.hostname, parts.port), timeout=5):
            return True
    except OSError:
        return False


async def run_hookproof(*arguments: str, deadline_s: float = 90) -> str:
    async with child(arguments, deadline_s=deadline_s) as ready:
        assert accepts_connections(ready["control"])
        return str(ready["control"])


def test_a_child_runs_within_the_block_and_ends_with_it() -> None:
    assert not accepts_connections(asyncio.run(run_hookproof("receive")))


async def test_a_child_ends_when_the_block_is_left_by_an_error() -> None:
    with pytest.raises(RuntimeError, match="stop") as stopped:
        async with child(["receive"], deadline_s=90) as ready:
            raise RuntimeError(f"stop {ready['control']}")
    assert not accepts_connections(str(stopped.value).removeprefix("stop "))


async def test_a_child_that_will_not_end_is_killed() -> None:
    # The sleep keeps the child running; the test does not wait for it.
    stubborn = [
        "/bin/sh",
        "-c",
        """trap '' TERM; echo "{\\"pid\\": $$}"; while :; do sleep 0.05; done""",
    ]
    async with child(["stubborn"], deadline_s=90, program=stubborn, grace_s=0.1) as ready:
        os.kill(int(ready["pid"]), 0)
    with pytest.raises(ProcessLookupError):
        os.kill(int(ready["pid"]), 0)


def test_a_child_that_does_not_start_is_reported_in_its_own_words() -> None:
    with pytest.raises(
        ChildFailed, match=r"`hookproof receive` did not start: .*nowhere"
    ) as failed:
        asyncio.run(run_hookproof("receive", "--bind", "nowhere"))
    assert failed.value.exit_code == 64
    assert "\n" not in str(failed.value)


def test_a_child_that_is_not_ready_in_time_is_ended() -> None:
    with pytest.raises(ChildFailed, match=r"was not ready after 0\.001 s") as failed:
        asyncio.run(run_hookproof("receive", deadline_s=0.001))
    assert failed.value.exit_code is None


async def test_a_first_line_that_is_not_json_is_reported() -> None:
    with pytest.raises(ChildFailed, match="in place of its ready line"):
        async with child(["hello"], deadline_s=90, program=["/bin/sh", "-c", "echo hello"]):
            pass


def test_a_module_of_the_same_name_in_the_users_folder_is_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hookproof.py").write_text("raise RuntimeError('imported')")
    monkeypatch.chdir(tmp_path)
    asyncio.run(run_hookproof("receive"))


def test_a_child_does_not_outlive_a_parent_that_was_killed() -> None:
    parent = subprocess.run(
        [sys.executable, "-c", PARENT], capture_output=True, text=True, timeout=60, check=False
    )
    assert parent.returncode == -signal.SIGKILL
    url = parent.stdout.strip()
    # The child of a killed parent cannot be waited for.
    poll_until(lambda: not accepts_connections(url), "the child has ended", deadline_s=20)


# A child that is ready only once the other one has started.
READY_TOGETHER = (
    """: > "$0"; until [ -e "$1" ]; do sleep 0.05; done; echo "{\\"pid\\": $$}"; cat > /dev/null"""
)


async def run_both(*commands: list[str], seen: list[int]) -> None:
    started = [ChildCommand(arguments=command) for command in commands]
    program = ["/bin/sh", "-c", READY_TOGETHER]
    async with children(started, deadline_s=90, program=program) as ready:
        seen.extend(int(child_ready["pid"]) for child_ready in ready)
        for pid in seen:
            os.kill(pid, 0)


async def test_what_is_given_in_the_environment_is_not_among_the_arguments() -> None:
    script = """echo "{\\"pid\\": $$, \\"key\\": \\"$THE_KEY\\"}"; cat > /dev/null"""

    async with child(
        ["shell"],
        deadline_s=90,
        environment={"THE_KEY": "a-key"},
        program=["/bin/sh", "-c", script],
    ) as ready:
        key, arguments = ready["key"], psutil.Process(ready["pid"]).cmdline()
    assert key == "a-key"
    assert not any("a-key" in argument for argument in arguments)


def test_children_start_beside_each_other_and_end_with_the_block(tmp_path: Path) -> None:
    seen: list[int] = []
    here, there = str(tmp_path / "here"), str(tmp_path / "there")
    asyncio.run(run_both([here, there], [there, here], seen=seen))
    assert len(set(seen)) == 2
    for pid in seen:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_a_child_that_fails_ends_those_beside_it(tmp_path: Path) -> None:
    here, nowhere = str(tmp_path / "here"), str(tmp_path / "no folder" / "there")
    with pytest.raises(ChildFailed, match="did not start"):
        asyncio.run(run_both([here, here], [nowhere, here], seen=[]))
