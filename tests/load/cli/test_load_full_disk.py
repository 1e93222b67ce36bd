"""A load run without space for its files still shows its result, and names one that it lacks."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conformance.reference_server import reference_server, write_target_file
from tests.load.embedded import ENDS_WITHIN_S, HOOKPROOF, PATIENT
from tests.source_tree import ROOT

# The limit of a file's size stands for a full disk.
LIMITED = (
    "import os, resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, ({0}, {0}));"
    " os.execv(sys.argv[1], sys.argv[1:])"
)
# No report is so short, and nothing else of a run is longer.
SPACE = 3000


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (("smoke", "--rate", "1000"), "expected 1,000 · delivered 1,000 ·"),
        (("smoke", "--rate", "1000", "--processes", "2"), "expected 2,000 · delivered 2,000 ·"),
        (("fanout", "--rate", "10"), "expected 1,000 · delivered 1,000 ·"),
    ],
    ids=["one process", "workers", "many endpoints"],
)
def test_the_whole_result_is_shown_where_no_report_can_be_written(
    tmp_path: Path, words: tuple[str, ...], shown: str
) -> None:
    with reference_server(tmp_path, ROOT, "p1", stderr=subprocess.DEVNULL) as ready:
        target = write_target_file(tmp_path, ready["api"], "p1")
        command = [*HOOKPROOF, "load", *words, "--duration", "1", *PATIENT, "--target", str(target)]
        ended = subprocess.run(
            [sys.executable, "-c", LIMITED.format(SPACE), *command, "--out", "out"],
            capture_output=True,
            cwd=tmp_path,
            text=True,
            timeout=ENDS_WITHIN_S,
            check=False,
        )
    assert ended.returncode == 64, ended.stdout + ended.stderr
    [line] = ended.stderr.splitlines()
    assert line == "hookproof: out/report.json cannot be written: File too large"
    assert shown in ended.stdout, ended.stdout
    assert ended.stdout.splitlines()[-1].startswith("PASS"), ended.stdout
    assert "report.json" not in [path.name for path in (tmp_path / "out").iterdir()]
