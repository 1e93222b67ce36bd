"""Words of the source are not among what Hypothesis generates."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

WORD = "a word of the source"
DRAW = """
import hypothesis
import words
from hypothesis import strategies
from hookproof.conformance.generation.local_constants import ignore_local_constants
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


DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "t", "version": "1"},
    "paths": {
        "/{projectID}": {
            "get": {"operationId": "o", "responses": {"200": {"description": "d"}}},
            "parameters": [
                {"name": "projectID", "in": "path", "required": True, "schema": {"type": "string"}}
            ],
        }
    },
}


@pytest.mark.parametrize(
    ("worker", "arguments"),
    [
        ("schemathesis_worker", {"document": DOCUMENT, "seed": 1, "examples": 1}),
        ("stateful_worker", {"seed": 1, "sequences": 1, "steps": 1, "portal_links": 0}),
    ],
)
def test_the_generators_take_none_into_account(worker: str, arguments: dict[str, object]) -> None:
    program = (
        "from hypothesis.internal.conjecture import providers\n"
        f"from hookproof.conformance.generation import {worker}\n"
        f"{worker}.main()\n"
        "print(len(providers._get_local_constants()))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        # It ends with its standard input.
        process.stdin.write(json.dumps(arguments) + "\n")
        process.stdin.flush()
        assert process.stdout.readlines()[-1] == "0\n"
