"""The command `hookproof schema`: JSON Schemas of the files that people write, for editors."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import click

from hookproof.conformance.results import baseline
from hookproof.help_examples import examples
from hookproof.load.profile.load_profile import profile_schema
from hookproof.process.exit_codes import CommandError
from hookproof.process.messages import print_document
from hookproof.receiver.replies.script_file import script_schema
from hookproof.spec.dialect_schema import dialect_schema
from hookproof.spec.strict_yaml.editor_schema import schema_text
from hookproof.target.editor_schema import target_schema

# The schema of each kind of file.
SCHEMAS: Final[Mapping[str, Callable[[], Mapping[str, Any]]]] = {
    "dialect": dialect_schema,
    "target": target_schema,
    "profile": profile_schema,
    "baseline": lambda: baseline.SCHEMA,
    "script": script_schema,
}


@click.command(
    epilog=examples(
        (
            "hookproof schema dialect -o .hookproof/dialect.schema.json",
            "Write the schema that the comment in a dialect file names.",
        ),
    )
)
@click.argument("kind", type=click.Choice(list(SCHEMAS)), metavar="KIND")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="File to write, with its folder; standard output by default.",
)
def schema(*, kind: str, output: Path | None) -> None:
    """Print the JSON Schema of a kind of file, by which an editor checks and completes it.

    KIND is one of: dialect (--dialect FILE), target (--target FILE), profile (load FILE), baseline
    (--baseline FILE), script (receive --script FILE). Editors with the YAML language server use the
    schema that a comment in the file names, relative to the file:
    # yaml-language-server: $schema=PATH
    """
    text = schema_text(kind, SCHEMAS[kind]())
    if output is None:
        print_document(text, end="")
        return
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{output} cannot be written: {error.strerror or error}") from None
