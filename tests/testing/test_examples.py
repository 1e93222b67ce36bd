"""The examples of the documentation in other languages, where their tools are installed."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.source_tree import ROOT

EXAMPLES = ROOT / "docs" / "examples"


@dataclass(frozen=True, kw_only=True)
class LanguageExample:
    """A test in another language; `sends` is the call of the software under test."""

    file: str
    command: Sequence[str]
    sends: str
    further_files: Mapping[str, str]


JAVASCRIPT = LanguageExample(
    file="receiver.test.mjs",
    command=("node", "--test"),
    sends='readFileSync(addresses.ca), "a secret"',
    further_files={},
)
GO = LanguageExample(
    file="receiver_test.go",
    command=("go", "test", "-count=1", "."),
    sends='endpoint.URL, "a secret"',
    further_files={"go.mod": "module orders\n\ngo 1.21\n"},
)


def run_example(folder: Path, example: LanguageExample, source: str) -> tuple[int, str]:
    """Run the test in a folder of its own; return its exit code and its output."""
    if shutil.which(example.command[0]) is None:
        pytest.skip(f"{example.command[0]} is not installed")
    for name, content in {**example.further_files, example.file: source}.items():
        (folder / name).write_text(content)
    program = folder / "bin" / "hookproof"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -P -m hookproof "$@"\n')
    program.chmod(0o755)
    local = {"GOTOOLCHAIN": "local", "GOPROXY": "off", "GOFLAGS": "-mod=mod"}
    path = os.pathsep.join([str(program.parent), os.environ["PATH"]])
    outcome = subprocess.run(
        example.command,
        cwd=folder,
        env={**os.environ, **local, "PATH": path},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return outcome.returncode, outcome.stdout + outcome.stderr


@pytest.mark.parametrize("example", [JAVASCRIPT, GO], ids=lambda each: each.file)
def test_the_example_passes(tmp_path: Path, example: LanguageExample) -> None:
    code, output = run_example(tmp_path, example, (EXAMPLES / example.file).read_text())
    assert code == 0, output


@pytest.mark.parametrize("example", [JAVASCRIPT, GO], ids=lambda each: each.file)
def test_the_example_fails_for_software_that_signs_by_another_secret(
    tmp_path: Path, example: LanguageExample
) -> None:
    source = (EXAMPLES / example.file).read_text()
    assert source.count(example.sends) == 1
    wrong = source.replace(example.sends, example.sends.replace("a secret", "another secret"))
    code, output = run_example(tmp_path, example, wrong)
    assert code == 1, output
    assert "no signature matches: " in output
