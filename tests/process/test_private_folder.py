"""Private folders are their owner's, and do not outlive their process for long."""

import os
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from hookproof.process.private_folder import private_folder

HOLD = """
import sys
from hookproof.process.private_folder import private_folder
with private_folder() as folder:
    (folder / "key").write_text("secret")
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def _own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)


def start() -> tuple[subprocess.Popen[str], Path]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
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
