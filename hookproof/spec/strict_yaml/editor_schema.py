"""JSON Schemas for editors: those that the readers use, as files beside what they describe.

A file names its schema by a path relative to itself, in the comment that the YAML language server
looks for. So that works without a public address, and on every machine that has both files.
"""

import json
from collections.abc import Mapping
from inspect import cleandoc
from pathlib import Path
from typing import Any, Final

# Relative to the folder of the file that is described.
SCHEMA_FOLDER: Final = ".hookproof"
DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"


def editor_schema(kind: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a kind of file, such as `baseline`, in a form that any validator reads."""
    portable: dict[str, Any] = _portable(schema)
    return {"$schema": DRAFT, "title": f"A {kind} file of hookproof", **portable}


def schema_text(kind: str, schema: Mapping[str, Any]) -> str:
    """The schema of a kind of file as the text of a JSON file."""
    return f"{json.dumps(editor_schema(kind, schema), indent=1)}\n"


def naming_comment(kind: str) -> str:
    """The first line of a file of this kind, which names its schema for editors."""
    return f"# yaml-language-server: $schema={SCHEMA_FOLDER}/{kind}.schema.json\n"


def write_schema_beside(path: Path, kind: str, schema: Mapping[str, Any]) -> None:
    """Write the schema to where the `naming_comment` of the file at `path` says; raises OSError."""
    folder = path.parent / SCHEMA_FOLDER
    folder.mkdir(exist_ok=True)
    (folder / f"{kind}.schema.json").write_text(schema_text(kind, schema), encoding="utf-8")


def _portable(value: Any, key: str = "") -> Any:
    """A part of a schema, without what only Python's validators understand."""
    if isinstance(value, Mapping):
        return {str(name): _portable(item, name) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_portable(item) for item in value]
    if isinstance(value, str) and key == "pattern":
        return value.replace(r"\Z", "$")  # elsewhere $ means what \Z means in Python
    if isinstance(value, str) and key == "description":
        return cleandoc(value)
    return value
