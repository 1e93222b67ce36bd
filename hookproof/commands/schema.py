"""The command `hookproof schema`: JSON Schemas of the files that people write, for editors; and
what other tools need to test a service, its OpenAPI document and settings of Schemathesis.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import click

from hookproof.commands.dialect.command import loaded_dialect
from hookproof.conformance.results import baseline
from hookproof.help_examples import examples
from hookproof.load.profile.load_profile import profile_schema
from hookproof.process.exit_codes import CommandError
from hookproof.process.messages import print_document
from hookproof.receiver.replies.script_file import script_schema
from hookproof.spec.completion import complete_dialect
from hookproof.spec.contract.published import document_of, yaml_text
from hookproof.spec.contract.schemathesis_settings import schemathesis_settings
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect_schema import dialect_schema
from hookproof.spec.openapi_document import openapi_text
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


def _openapi(dialect: Dialect | None) -> str:
    if dialect is None:
        return openapi_text()
    return yaml_text(document_of(dialect)).decode()


# What each other tool is given, for a service of this dialect, or of any.
FOR_TOOLS: Final[Mapping[str, Callable[[Dialect | None], str]]] = {
    "openapi": _openapi,
    "schemathesis": schemathesis_settings,
}


@click.command(
    epilog=examples(
        (
            "hookproof schema dialect -o .hookproof/dialect.schema.json",
            "Write the schema that the comment in a dialect file names.",
        ),
        (
            "hookproof schema schemathesis --dialect contrary -o schemathesis.toml",
            "Write settings by which `schemathesis run` tests a service of this dialect.",
        ),
    )
)
@click.argument("kind", type=click.Choice([*SCHEMAS, *FOR_TOOLS]), metavar="KIND")
@click.option(
    "--dialect",
    metavar="TEXT",
    shell_complete=complete_dialect,
    help="Name or file of the dialect that openapi and schemathesis are for; any by default.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="File to write, with its folder; standard output by default.",
)
def schema(*, kind: str, dialect: str | None, output: Path | None) -> None:
    """Print the JSON Schema of a kind of file, by which an editor checks and completes it; or the
    OpenAPI document, or the settings of Schemathesis, for a service with a dialect.

    KIND is one of: dialect (--dialect FILE), target (--target FILE), profile (load FILE), baseline
    (--baseline FILE), script (receive --script FILE). Editors with the YAML language server use the
    schema that a comment in the file names, relative to the file:
    # yaml-language-server: $schema=PATH

    Or KIND is openapi, for any tool that reads such a document, or schemathesis, for a
    schemathesis.toml (--config-file FILE).
    """
    if kind in FOR_TOOLS:
        text = FOR_TOOLS[kind](None if dialect is None else loaded_dialect(dialect))
    elif dialect is not None:
        raise CommandError(f"--dialect is for {' and '.join(FOR_TOOLS)}: a {kind} file has none")
    else:
        text = schema_text(kind, SCHEMAS[kind]())
    if output is None:
        print_document(text, end="")
        return
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{output} cannot be written: {error.strerror or error}") from None
