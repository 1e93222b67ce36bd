"""The exit codes, from the help of the commands."""

import re
from collections.abc import Iterator
from typing import Final

import click

from docs.site.reference_pages.commands import described_commands
from docs.site.reference_pages.page import ReferencePage, render
from hookproof.cli import SUBCOMMANDS, cli
from hookproof.process.exit_codes import ExitCode

_CODES: Final = re.compile(r"[Ee]xit codes?(?: is|s are|:).*", re.DOTALL)
_MEANING: Final = re.compile(r"(\d+) ([^;]+?)(?=;|\.$)")


def exit_code_pages() -> Iterator[ReferencePage]:
    meanings = exit_codes()
    assert meanings.keys() == {code.value for code in ExitCode}
    sentences = {
        command.path: _CODES.search(text)
        for command in described_commands()
        for text in [" ".join(" ".join(each.text for each in command.paragraphs).split())]
    }
    yield render(
        "reference/exit-codes.md",
        "Exit codes",
        "exit_codes.md",
        meanings=meanings,
        commands={path: found[0] for path, found in sentences.items() if found},
        others=[name for name in SUBCOMMANDS if not sentences[f"hookproof {name}"]],
    )


def exit_codes() -> dict[int, str]:
    """What `hookproof --help` says of each code."""
    text = " ".join((cli.help or "").split())
    found = _CODES.search(text)
    if found is None:
        raise click.ClickException("hookproof --help names no exit codes")
    return {int(number): meaning for number, meaning in _MEANING.findall(found[0])}
