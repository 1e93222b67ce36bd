"""The command `hookproof completion`: the script by which a shell completes the command line."""

from typing import Final

import click
from click.shell_completion import get_completion_class

from hookproof.help_examples import examples
from hookproof.process.messages import print_document

SHELLS: Final = ("bash", "zsh", "fish")
PROGRAM: Final = "hookproof"
# What the script sets, and click looks for, when the shell asks for completions.
VARIABLE: Final = "_HOOKPROOF_COMPLETE"


@click.command(
    epilog=examples(
        (
            'eval "$(hookproof completion bash)"',
            "Complete commands in this shell; as a line of ~/.bashrc, in every shell.",
        ),
        (
            "hookproof completion fish > ~/.config/fish/completions/hookproof.fish",
            "The same for fish.",
        ),
    )
)
@click.argument("shell", type=click.Choice(SHELLS), metavar="SHELL")
@click.pass_context
def completion(context: click.Context, /, *, shell: str) -> None:
    """Print the script by which SHELL (bash, zsh or fish) completes commands and their arguments.

    A shell reads it from a line of ~/.bashrc or ~/.zshrc, and fish from a file.
    """
    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(context.find_root().command, {}, PROGRAM, VARIABLE).source()
    print_document(script)
