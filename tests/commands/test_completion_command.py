"""`hookproof completion`: what a shell is told, and that one understands it."""

import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.shell_completion import BashComplete

from hookproof.cli import SUBCOMMANDS, cli
from hookproof.commands.completion import PROGRAM, SHELLS, VARIABLE
from hookproof.process import extras
from tests.source_tree import ROOT


def completions(*arguments: str) -> dict[str, str]:
    """The completions of the last argument, each with what the shell is to do with it."""
    *before, incomplete = arguments
    found = BashComplete(cli, {}, PROGRAM, VARIABLE).get_completions(before, incomplete)
    return {item.value: item.type for item in found}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("dia",), {"dialect"}),
        (("dialect", "sh"), {"show"}),
        (("check", "--dial"), {"--dialect"}),
        (("check", "--profile", "q"), {"quick"}),
        (("check", "--dialect", "ref"), {"reference"}),
        (("check", "--only", "4.3-20"), {"4.3-20"}),
        (("check", "--exclude", "4.5"), {"4.5"}),
        (("list", "2.2-1"), {"2.2-1"}),
        (("explain", "--brief", "2.2-1"), {"2.2-1"}),
        (("learn", "--extends", "cont"), {"contrary"}),
        (("explain", "1-1"), {"1-1"}),
        (("load", "sm"), {"smoke"}),
        (("dialect", "diff", "reference", "cont"), {"contrary"}),
        (("dialect", "fields", "retry.att"), {"retry.attempts"}),
        (("schema", "base"), {"baseline"}),
        (("completion", "b"), {"bash"}),
    ],
)
def test_an_argument_is_completed(arguments: tuple[str, ...], expected: set[str]) -> None:
    found = completions(*arguments)
    assert expected <= found.keys()
    assert all(value.startswith(arguments[-1]) for value in found)


@pytest.mark.parametrize("arguments", [("dialect", "check", "our"), ("load", "./mine")])
def test_a_text_like_no_name_is_completed_to_files(arguments: tuple[str, ...]) -> None:
    assert completions(*arguments) == {arguments[-1]: "file"}


def test_every_command_is_completed_with_its_line_and_none_is_imported_for_that() -> None:
    code = (
        "import sys; from click.shell_completion import BashComplete\n"
        "from hookproof.cli import cli\n"
        "items = BashComplete(cli, {}, 'hookproof', 'X').get_completions([], '')\n"
        "print(*(f'{item.value}: {item.help}' for item in items), sep='\\n')\n"
        "sys.exit(any(name.startswith('hookproof.con') for name in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    listed = [f"{name}: {line}" for name, (_, line) in sorted(SUBCOMMANDS.items())]
    assert done.stdout.splitlines() == listed


def dialect_options() -> list[tuple[str, click.Parameter]]:
    loaded = {name: cli.get_command(click.Context(cli), name) for name in sorted(SUBCOMMANDS)}
    return [
        (name, parameter)
        for name, command in loaded.items()
        if command is not None
        for parameter in command.params
        if "--dialect" in parameter.opts
    ]


def test_dialects_are_completed_wherever_one_is_named() -> None:
    options = dialect_options()
    assert {"check", "serve", "load", "receive", "verify"} <= {name for name, _ in options}
    for name, option in options:
        found = option.shell_complete(click.Context(cli), "standard")
        assert [item.value for item in found] == ["standard-webhooks"], name


def test_a_command_that_is_not_installed_is_completed_to_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(extras, "EXTRAS", {"load": ("no_such_module",)})
    assert "smoke" not in completions("load", "sm")


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_has_a_script(shell: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "hookproof", "completion", shell],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert f"{VARIABLE}={shell}_complete" in done.stdout
    assert done.stderr == ""


def test_bash_completes_by_its_script(tmp_path: Path) -> None:
    program = tmp_path / "hookproof"
    program.write_text(
        f"#!/bin/sh\nPYTHONPATH={shlex.quote(str(ROOT))} exec {shlex.quote(sys.executable)}"
        ' -m hookproof "$@"\n'
    )
    program.chmod(0o755)
    script = (
        f'PATH={shlex.quote(str(tmp_path))}:$PATH; eval "$(hookproof completion bash)"\n'
        "COMP_WORDS=(hookproof dialect show stan); COMP_CWORD=3\n"
        '_hookproof_completion hookproof; echo "${COMPREPLY[@]}"\n'
        "complete -p hookproof\n"
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", script], capture_output=True, text=True, timeout=120, check=True
    )
    completed, registered = done.stdout.splitlines()
    assert completed == "standard-webhooks"
    assert registered.endswith("_hookproof_completion hookproof")
