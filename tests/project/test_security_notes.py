"""Where a command reads a target file, its help says that the file may name code that is run."""

import click
import pytest

from hookproof.cli import SUBCOMMANDS, cli
from hookproof.conformance.pytest_plugin.entry import OPTIONS
from tests.source_tree import ROOT

RUNS_CODE = "Python file"


def reading_target_files() -> list[str]:
    """The commands that have --target."""
    commands = {name: cli.get_command(click.Context(cli), name) for name in SUBCOMMANDS}
    return [
        name
        for name, command in commands.items()
        if command and any("--target" in parameter.opts for parameter in command.params)
    ]


def test_there_are_such_commands() -> None:
    assert {"check", "doctor", "load"} <= set(reading_target_files())


@pytest.mark.parametrize("name", reading_target_files())
def test_the_help_of_target_says_so(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    (option,) = (each for each in command.params if "--target" in each.opts)
    assert isinstance(option, click.Option)
    assert RUNS_CODE in (option.help or "")
    assert "is run" in " ".join((option.help or "").split())


def test_the_help_of_the_pytest_option_says_so() -> None:
    (words,) = (words for name, _, words in OPTIONS if name == "target")
    assert RUNS_CODE in words


def test_the_readme_says_so() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert "`provision: ./hooks.py:Provisioner`" in text
    assert "use target files that you trust" in text
