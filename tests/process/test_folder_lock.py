import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.process.folder_lock import LOCK, locked_folder

HOLD = (
    "import sys; from pathlib import Path\n"
    "from hookproof.process.folder_lock import locked_folder\n"
    "with locked_folder(Path(sys.argv[1]), 'run 1f'): print(flush=True); sys.stdin.read()"
)


@contextmanager
def another_process_in(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process


def test_a_folder_in_use_is_refused_with_the_name_of_what_uses_it(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with another_process_in(out) as process:
        with pytest.raises(CommandError) as refused, locked_folder(out):
            pass
        assert process.stdin is not None
        process.stdin.close()
    assert refused.value.exit_code is ExitCode.USAGE
    assert f"--out {out} is in use by hookproof, run 1f, process {process.pid}" in str(
        refused.value
    )
    assert not (out / LOCK).exists()


def test_what_a_killed_command_left_keeps_nobody_out(tmp_path: Path) -> None:
    with another_process_in(tmp_path) as process:
        process.kill()
    assert (tmp_path / LOCK).exists()
    with locked_folder(tmp_path, "run 2"):
        assert f"run 2, process {os.getpid()}, " in (tmp_path / LOCK).read_text()
    assert list(tmp_path.iterdir()) == []


def test_a_lock_is_that_of_the_file_that_is_there(tmp_path: Path) -> None:
    with locked_folder(tmp_path):
        with pytest.raises(CommandError), locked_folder(tmp_path):
            pass
        assert (tmp_path / LOCK).exists()


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(CommandError, match="file cannot be written to: File exists"),
        locked_folder(tmp_path / "file"),
    ):
        pass
    (tmp_path / LOCK).mkdir()
    with pytest.raises(CommandError, match="cannot be written to"), locked_folder(tmp_path):
        pass
