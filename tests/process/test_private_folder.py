"""Private folders are their owner's, and do not outlive their process for long."""

import fcntl
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from hookproof.process.private_folder import private_folder, private_folders_kept

HOLD = """
import sys
from hookproof.process.private_folder import private_folder
with private_folder() as folder:
    (folder / "key").write_text("secret")
    print(folder, flush=True)
    sys.stdin.read()
"""

# A child that writes into a folder which is not its own, once it is told to.
WRITE_INTO = """
import sys
from pathlib import Path
from hookproof.process.private_folder import private_folders_kept
folder = Path(sys.argv[1])
with private_folders_kept(folder / "new"):
    print(folder, flush=True)
    sys.stdin.readline()
    (folder / "new").mkdir(parents=True)
"""


@pytest.fixture(autouse=True)
def _own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)


def start(program: str = HOLD, *arguments: str) -> tuple[subprocess.Popen[str], Path]:
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_it_is_readable_by_its_owner_alone_and_gone_afterwards(tmp_path: Path) -> None:
    umask = os.umask(0)
    try:
        with private_folder() as folder:
            assert folder.parent == tmp_path
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    finally:
        os.umask(umask)
    assert list(tmp_path.iterdir()) == []


def test_the_next_one_removes_what_a_killed_process_left() -> None:
    process, abandoned = start()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert (abandoned / "key").exists()
    with private_folder():
        assert not abandoned.exists()


def test_that_of_a_living_process_is_left_alone() -> None:
    process, used = start()
    with private_folder():
        assert (used / "key").read_text() == "secret"
    process.communicate()
    assert not used.exists()


def test_what_is_not_ours_is_left_alone(tmp_path: Path) -> None:
    unfinished = tmp_path / "hookproof-private-new"
    unfinished.mkdir()
    (tmp_path / "hookproof-private-link").symlink_to(tmp_path.parent)
    with private_folder():
        assert unfinished.exists()


def test_one_that_another_process_writes_into_is_left_until_that_has_ended() -> None:
    owner, used = start()
    writer, _ = start(WRITE_INTO, str(used))
    owner.kill()
    owner.communicate()
    with private_folder():
        assert used.exists()
    writer.communicate("write")
    with private_folder():
        assert not used.exists()


def test_its_owner_waits_for_those_that_write_into_it(tmp_path: Path) -> None:
    with private_folder() as folder:
        writer, _ = start(WRITE_INTO, str(folder))
        assert writer.stdin is not None
        writer.stdin.write("write\n")
        writer.stdin.flush()
    assert list(tmp_path.iterdir()) == []
    writer.communicate()
    assert writer.returncode == 0


def test_one_with_a_used_one_in_it_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outer_process, outer = start()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(outer))
    inner_process, inner = start()
    outer_process.kill()
    outer_process.communicate()
    with private_folder():
        assert outer.exists()
    assert inner.exists()
    inner_process.communicate()
    with private_folder():
        assert not outer.exists()


def test_one_that_is_gone_cannot_be_kept(tmp_path: Path) -> None:
    with private_folder() as folder:
        pass
    with pytest.raises(FileNotFoundError), private_folders_kept(folder / "new"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_one_that_is_removed_while_its_lock_is_waited_for_cannot_be_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with private_folder() as folder:
        lock = fcntl.flock

        def lock_late(descriptor: int, operation: int) -> None:
            lock(descriptor, operation)
            shutil.rmtree(folder)

        monkeypatch.setattr(fcntl, "flock", lock_late)
        with pytest.raises(FileNotFoundError), private_folders_kept(folder):
            pass
        monkeypatch.undo()
