import subprocess
import sys
from pathlib import Path

from tests.full_disk import with_files_of


def test_a_command_whose_disk_is_full_leaves_no_bytecode_that_is_cut_off(tmp_path: Path) -> None:
    (tmp_path / "needed.py").write_text(f"said = {'x' * 5000!r}\n")
    needed = [sys.executable, "-c", "import needed; open('written', 'w').write(needed.said)"]
    subprocess.run([*with_files_of(1000), *needed], cwd=tmp_path, check=True)
    assert (tmp_path / "written").stat().st_size == 1000
    subprocess.run(needed, cwd=tmp_path, check=True)
    assert (tmp_path / "written").stat().st_size == 5000
