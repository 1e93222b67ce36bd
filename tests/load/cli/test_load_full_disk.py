"""A load run without space for its files names the one that it cannot write, in one line."""

import re
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
SHORT = ("--rate", "10", "--duration", "1")


@pytest.mark.parametrize(
    ("words", "space", "name"),
    [
        (("fanout",), 10_000, "plan.json"),
        (("fanout", "--processes", "2"), 10_000, "plans"),
        # A plan is short; what became of a thousand broadcasts is not.
        (("smoke", "--rate", "1000"), 3000, "result"),
        (("smoke", "--rate", "1000", "--processes", "2"), 5000, "result"),
    ],
)
def test_the_file_is_named(tmp_path: Path, words: tuple[str, ...], space: int, name: str) -> None:
    with reference_server(tmp_path, ROOT, "p1", stderr=subprocess.DEVNULL) as ready:
        target = write_target_file(tmp_path, ready["api"], "p1")
        command = [*HOOKPROOF, "load", *SHORT, *words, *PATIENT, "--target", str(target)]
        ended = subprocess.run(
            [sys.executable, "-c", LIMITED.format(space), *command, "--out", str(tmp_path / "out")],
            capture_output=True,
            text=True,
            timeout=ENDS_WITHIN_S,
            check=False,
        )
    assert ended.returncode == 64, ended.stdout + ended.stderr
    [line] = ended.stderr.splitlines()
    assert re.fullmatch(rf"hookproof: \S+/{name} cannot be written: File too large", line)
