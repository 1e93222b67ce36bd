"""What the Makefile and .ci/run call exists: targets, modules, commands, and the words on them."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import click
import pytest

from hookproof.cli import SUBCOMMANDS, cli
from tests.source_tree import ROOT

MAKEFILE: Final = (ROOT / "Makefile").read_text("utf-8")
CI: Final = (ROOT / ".ci" / "run").read_text("utf-8")
TARGETS: Final = frozenset(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))


def test_every_target_is_phony_and_described() -> None:
    assert frozenset(re.findall(r"^\.PHONY: (\S+)$", MAKEFILE, re.MULTILINE)) == TARGETS
    assert frozenset(re.findall(r"^([a-z-]+):.* ## \S", MAKEFILE, re.MULTILINE)) == TARGETS


def test_a_target_depends_on_targets_that_exist() -> None:
    for names in re.findall(r"^[a-z-]+: ([^#\n]*)", MAKEFILE, re.MULTILINE):
        assert set(names.split()) <= TARGETS | {"$(READY)", "$(VENV)/.ready-to-release"}


@pytest.mark.parametrize("module", sorted(set(re.findall(r"python -m (tests[\w.]+)", MAKEFILE))))
def test_a_module_that_a_target_runs_exists_and_can_be_run(module: str) -> None:
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    assert 'if __name__ == "__main__":' in Path(spec.origin).read_text("utf-8")


@pytest.mark.parametrize("line", re.findall(r"\$\(BIN\)/hookproof (.+)$", MAKEFILE, re.MULTILINE))
def test_a_command_that_a_target_runs_has_its_options(line: str) -> None:
    name, *arguments = line.split()
    assert name in SUBCOMMANDS
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    options = {
        option
        for parameter in command.params
        if not getattr(parameter, "hidden", False)
        for option in parameter.opts
    }
    assert {argument for argument in arguments if argument.startswith("--")} <= options


def test_a_program_that_a_target_runs_is_installed() -> None:
    for program in set(re.findall(r"\$\(BIN\)/([a-z-]+)", MAKEFILE)):
        assert Path(sys.executable).with_name(program).exists()


def test_continuous_integration_makes_targets_that_exist() -> None:
    targets = re.findall(r"^ *make ([a-z-]+)", CI, re.MULTILINE)
    assert targets
    assert set(targets) <= TARGETS


def test_make_lists_its_targets_by_default() -> None:
    # Within `make test`, make prints the folder that it enters.
    command = ["make", "--no-print-directory"]
    text = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert {line.split()[0] for line in text.splitlines()} == TARGETS
