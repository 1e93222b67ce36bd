"""Files are written whole or not at all, and a full disk is reported in a line."""

import subprocess
import sys
from pathlib import Path

import pytest

from hookproof.process.exit_codes import ExitCode
from hookproof.process.written_file import FileNotWritten, write_file, write_files

# A command that writes more than it may. Bytecode would be cut off too: see tests/full_disk.py.
TOO_MUCH = """
import resource, sys
from pathlib import Path
import click
import hookproof.cli as front_door
from hookproof.process.written_file import write_file

sys.dont_write_bytecode = True
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

@click.command()
def write():
    path = Path(sys.argv.pop())
    {write}

front_door.cli = write
sys.argv, path = sys.argv[:1] + sys.argv[2:], sys.argv[1]
sys.argv.append(path)
write.params.append(click.Argument(["file"], expose_value=False))
front_door.main()
"""


def written_by(write: str, path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", TOO_MUCH.format(write=write), str(path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_a_file_is_replaced_by_what_is_written(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("before")
    write_file(path, "afterwards")
    assert path.read_text() == "afterwards"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_does_not_fit_keeps_its_former_content(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("before")
    ended = written_by("write_file(path, 'x' * 5000)", path)
    assert (ended.returncode, ended.stderr) == (
        ExitCode.USAGE,
        f"hookproof: {path} cannot be written: File too large\n",
    )
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_is_no_error_of_hookproof_wherever_it_is_noticed(tmp_path: Path) -> None:
    ended = written_by("path.write_text('x' * 5000)", tmp_path / "file")
    assert ended.returncode == ExitCode.USAGE
    assert ended.stderr == "hookproof: a file cannot be written: File too large\n"


def test_one_file_that_cannot_be_written_does_not_keep_the_others_from_it(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    with pytest.raises(FileNotWritten, match=f"{first} cannot be written: Is a directory"):
        write_files({first: "1", second: "2"})
    assert second.read_text() == "2"
