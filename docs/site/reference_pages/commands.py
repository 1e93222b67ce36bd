"""A page for each command, from click: its usage, its help with examples, its options."""

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import click

from docs.site.reference_pages.page import ReferencePage, render
from hookproof.cli import SUBCOMMANDS, cli
from hookproof.help_examples import examples_in

# How click marks a paragraph that is not wrapped.
_VERBATIM: Final = "\b\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class HelpParagraph:
    text: str
    verbatim: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandHelp:
    """A command as `--help` shows it; each option is its names and what is said of it."""

    path: str
    usage: str
    paragraphs: tuple[HelpParagraph, ...]
    options: tuple[tuple[str, str], ...]
    examples: tuple[tuple[str, str], ...]


def command_pages() -> Iterator[ReferencePage]:
    yield render(
        "reference/commands/index.md",
        "Commands",
        "commands.md",
        commands={name: line for name, (_, line) in SUBCOMMANDS.items()},
        front=_described(cli, click.Context(cli, info_name="hookproof")),
    )
    for name in SUBCOMMANDS:
        described = list(_tree(name))
        yield render(
            f"reference/commands/{name}.md", f"hookproof {name}", "command.md", commands=described
        )


def described_commands() -> Iterator[CommandHelp]:
    """All commands, those within groups after their group."""
    for name in SUBCOMMANDS:
        yield from _tree(name)


def _tree(name: str) -> Iterator[CommandHelp]:
    front = click.Context(cli, info_name="hookproof")
    command = cli.get_command(front, name)
    assert command is not None
    context = click.Context(command, info_name=name, parent=front)
    yield _described(command, context)
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            subcommand = command.commands[inner]
            yield _described(subcommand, click.Context(subcommand, info_name=inner, parent=context))


def _described(command: click.Command, context: click.Context) -> CommandHelp:
    records = [parameter.get_help_record(context) for parameter in command.get_params(context)]
    pieces = command.collect_usage_pieces(context)
    return CommandHelp(
        path=context.command_path,
        usage=" ".join([context.command_path, *pieces]),
        paragraphs=tuple(_paragraphs(inspect.cleandoc(command.help or ""))),
        options=tuple(record for record in records if record),
        examples=tuple(examples_in(command.epilog)),
    )


def _paragraphs(text: str) -> Iterator[HelpParagraph]:
    for part in text.split("\n\n"):
        verbatim = part.startswith((_VERBATIM, " "))
        yield HelpParagraph(
            text=inspect.cleandoc(part.removeprefix(_VERBATIM)) if verbatim else part,
            verbatim=verbatim,
        )
