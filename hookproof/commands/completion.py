"""The command `hookproof completion`: the script by which a shell completes the command line."""

from typing import Final

import click
from click.shell_completion import get_completion_class

SHELLS: Final = ("bash", "zsh", "fish")
PROGRAM: Final = "hookproof"
# What the script sets, and click looks for, when the shell asks for completions.
VARIABLE: Final = "_HOOKPROOF_COMPLETE"


@click.command()
@click.argument("shell", type=click.Choice(SHELLS), metavar="SHELL")
@click.pass_context
def completion(context: click.Context, /, *, shell: str) -> None:
    """Print the script by which SHELL (bash, zsh or fish) completes commands and their arguments.

    For bash or zsh, add this line to ~/.bashrc or ~/.zshrc, with the name of the shell:

        eval "$(hookproof completion bash)"

    For fish:

        hookproof completion fish > ~/.config/fish/completions/hookproof.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(context.find_root().command, {}, PROGRAM, VARIABLE).source()
    click.echo(script)
