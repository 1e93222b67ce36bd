"""The command `hookproof vectors`."""

import json
from collections.abc import Mapping
from typing import Any

import click

from hookproof.process.exit_codes import CommandError
from hookproof.receiver.cli.verify import load_named_dialect
from hookproof.receiver.vectors.corpus import (
    NoVectors,
    build_corpus,
    corpus_document,
    corpus_schema,
)
from hookproof.spec.completion import complete_dialect


@click.command()
@click.option(
    "--dialect",
    metavar="NAME|FILE",
    shell_complete=complete_dialect,
    help="Only those of this dialect.",
)
@click.option(
    "--schema", "as_schema", is_flag=True, help="Print the JSON Schema of the output instead."
)
def vectors(*, dialect: str | None, as_schema: bool) -> None:
    """Print signed deliveries as JSON, good and bad ones.

    Each has the verdict that a verifier should reach.
    """
    try:
        document = corpus_schema() if as_schema else _corpus(dialect)
    except NoVectors as error:
        raise CommandError(str(error)) from None
    click.echo(json.dumps(document, indent=1))


def _corpus(dialect: str | None) -> Mapping[str, Any]:
    """The corpus of a dialect, of all if None; raises NoVectors."""
    return corpus_document(build_corpus(load_named_dialect(dialect) if dialect else None))
