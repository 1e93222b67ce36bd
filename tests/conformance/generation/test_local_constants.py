"""Words of the source are not among what Hypothesis generates."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hookproof.process.private_folder import private_folder

WORD = "a word of the source"
DRAW = """
import hypothesis
import words
from hypothesis import strategies
from hookproof.conformance.generation.unpublished_interfaces import ignore_local_constants
drawn = set()

@hypothesis.seed(1)
@hypothesis.settings(max_examples=1000, database=None, deadline=None)
@hypothesis.given(strategies.text())
def draw(text):
    drawn.add(text)

if {ignored}:
    ignore_local_constants()
draw()
print(words.WORD in drawn)
"""


@pytest.mark.parametrize("ignored", [True, False])
def test_no_word_of_a_loaded_module_is_drawn(ignored: bool, tmp_path: Path) -> None:
    (tmp_path / "words.py").write_text(f"WORD = {WORD!r}\n")
    process = subprocess.run(
        [sys.executable, "-c", DRAW.format(ignored=ignored)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert process.stdout.split() == [str(not ignored)]


def test_the_generators_take_none_into_account() -> None:
    program = (
        "from hypothesis.internal.conjecture import providers\n"
        "from hookproof.conformance.generation import worker\n"
        "worker._read_jobs = lambda arrived: arrived.put(\n"
        "    {'job': 1, 'generate': 'constants', 'arguments': {}})\n"
        "worker.GENERATORS = {'constants': lambda: iter([len(providers._get_local_constants())])}\n"
        "worker.main()\n"
    )
    with (
        private_folder() as folder,
        subprocess.Popen(
            [sys.executable, "-c", program],
            env={**os.environ, "HYPOTHESIS_STORAGE_DIRECTORY": str(folder)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process,
    ):
        assert process.stdout is not None
        assert process.stdout.readline() == "1 0\n"
        process.kill()
