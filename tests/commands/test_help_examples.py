"""The examples of `--help`: every command has one, and each can be called as it stands."""

import re
import shlex
from collections.abc import Iterator
from itertools import takewhile

import click
import pytest
from click.testing import CliRunner

from hookproof.cli import SUBCOMMANDS, cli
from hookproof.conformance.cli.check import COMMON
from hookproof.help_examples import TITLE, examples, examples_in

PROGRAM = "hookproof"
REDIRECTIONS = ("<", ">", "|")


def commands_of(command: click.Command, context: click.Context) -> Iterator[click.Context]:
    """Yield the context of a command, and those of the commands within it."""
    yield context
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            yield from commands_of(inner, click.Context(inner, parent=context, info_name=name))


def all_commands() -> list[click.Context]:
    root = click.Context(cli, info_name=PROGRAM)
    found = [(name, cli.get_command(root, name)) for name in SUBCOMMANDS]
    return [
        context
        for name, command in found
        if command is not None
        for context in commands_of(command, click.Context(command, parent=root, info_name=name))
    ]


CONTEXTS = {context.command_path: context for context in all_commands()}
LINES = [line for each in CONTEXTS.values() for line, _ in examples_in(each.command.epilog)]


def words_of(line: str) -> list[str]:
    """Return the arguments of the call of hookproof in a line, up to what the shell takes."""
    line = re.sub(r'^eval "\$\((.*)\)"$', r"\1", line)
    line = re.sub(r"\$\([^)]*\)", "substituted", line)
    lexer = shlex.shlex(line, posix=True, punctuation_chars="<>|")
    lexer.whitespace_split = True
    words = list(takewhile(lambda word: word not in REDIRECTIONS, lexer))
    assert words[0] == PROGRAM
    return words[1:]


def test_no_command_was_left_out() -> None:
    assert {path.split()[1] for path in CONTEXTS} == set(SUBCOMMANDS)


@pytest.mark.parametrize("path", CONTEXTS)
def test_every_command_has_an_example_of_itself(path: str) -> None:
    found = list(examples_in(CONTEXTS[path].command.epilog))
    assert any(f"{path} " in f"{line} " or f"{path})" in line for line, _ in found)
    assert all(meaning.endswith(".") for _, meaning in found)


@pytest.mark.parametrize("line", LINES)
def test_an_example_has_the_options_of_its_command(line: str) -> None:
    """Nothing is run: click reads the words, and refuses those that it does not know."""
    name, *words = words_of(line)
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    while isinstance(command, click.Group):
        inner, *words = words
        command = command.commands[inner]
    parsed, _, _ = command.make_parser(click.Context(command)).parse_args(args=words)
    needed = {parameter.name for parameter in command.params if parameter.required}
    assert needed <= {name for name, value in parsed.items() if value}


def test_help_shows_examples_line_by_line() -> None:
    shown = CliRunner().invoke(cli, ["compare", "--help"], prog_name=PROGRAM).output
    lines = shown.splitlines()
    at = lines.index(f"  {TITLE}")
    assert lines[at + 1].strip() == "hookproof compare runs/old runs/new"
    assert lines[at + 2].startswith("        Show what got better")
    assert "\\b" not in shown


def test_check_shows_its_common_options_first_and_each_once() -> None:
    shown = CliRunner().invoke(cli, ["check", "--help"], prog_name=PROGRAM).stdout
    first, _, further = shown.partition("Further options:")
    _, _, first = first.partition("Options:")
    listed = [
        re.findall(r"^  (?:-\w, )?(--[a-z-]+)", part, re.MULTILINE) for part in (first, further)
    ]
    assert listed[0] == list(COMMON)
    command = CONTEXTS[f"{PROGRAM} check"].command
    options = [each for each in command.params if isinstance(each, click.Option)]
    assert sorted(listed[0] + listed[1]) == sorted(["--help", *(each.opts[-1] for each in options)])


def test_examples_are_read_as_they_were_written() -> None:
    pairs = [("hookproof a", "Does this."), ("hookproof b --c 'd e'", "Does that.")]
    assert list(examples_in(examples(*pairs))) == pairs
    assert list(examples_in(None)) == []
