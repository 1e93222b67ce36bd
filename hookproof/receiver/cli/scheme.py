"""The command `hookproof scheme`: how known senders sign."""

import json

import click
import msgspec

from hookproof.help_examples import examples
from hookproof.process.messages import print_document, print_text
from hookproof.receiver.cli.verify import complete_scheme
from hookproof.receiver.signatures.schemes.catalogue import (
    SchemeProblem,
    load_scheme,
    shipped_schemes,
    shown,
)


@click.group(
    epilog=examples(
        ("hookproof scheme list", "List the senders whose signatures are known."),
        ("hookproof scheme show stripe > ours.yaml", "Begin a scheme of your own."),
    )
)
def scheme() -> None:
    """Show how known senders sign: what `hookproof verify --scheme NAME` expects."""


@scheme.command(
    "list", epilog=examples(("hookproof scheme list --json", "Give them to a program."))
)
@click.option("--json", "as_json", is_flag=True, help="Print all of them as JSON.")
def list_schemes(*, as_json: bool) -> None:
    """List the schemes."""
    schemes = shipped_schemes()
    if as_json:
        entries = {name: msgspec.to_builtins(each.entry) for name, each in schemes.items()}
        print_document(json.dumps(entries))
        return
    width = max(map(len, schemes))
    print_text("\n".join(f"{name:<{width}}  {each.entry.title}" for name, each in schemes.items()))


@scheme.command(
    "show",
    epilog=examples(
        (
            "hookproof scheme show square",
            "Show what Square signs, and where its documentation says so.",
        )
    ),
)
@click.argument("name", shell_complete=complete_scheme)
def show_scheme(*, name: str) -> None:
    """Print a scheme as a file, which can be changed and given to --scheme."""
    try:
        print_text(shown(load_scheme(name)).rstrip())
    except SchemeProblem as problem:
        raise click.UsageError(str(problem)) from None
