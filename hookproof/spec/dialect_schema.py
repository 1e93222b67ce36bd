"""The JSON Schema of a dialect file as a whole, for editors; the reader uses the same parts."""

from typing import Any

from hookproof.spec.described_fields import DescribedField, described_fields
from hookproof.spec.dialect.file_schema import Schema, dialect_writing
from hookproof.spec.dialect.reader import EXTENDS, partial_schema, shipped_dialects


def dialect_schema() -> Schema:
    """The schema of a file that answers everything, or says in `extends` who answers the rest.

    It sees one answer at a time: contradictions between answers are found by the reader alone.
    """
    questions = {field.name: _explanation(field) for field in described_fields()}
    schema = _explained(partial_schema(), "", questions)
    schema["properties"][EXTENDS]["examples"] = list(shipped_dialects())
    return {
        **schema,
        "if": {"required": [EXTENDS]},
        "else": _requirements(dialect_writing().schema),
    }


def _explanation(field: DescribedField) -> str:
    question = field.gap and f"\n\n{field.gap.question} (section {field.gap.section})"
    return f"{field.description}{question or ''}"


def _explained(schema: Schema, name: str, texts: dict[str, str]) -> Schema:
    """A copy of the schema of a group, with a text for each of its fields."""
    properties: dict[str, Any] = {}
    for key, value in schema["properties"].items():
        inner = f"{name}.{key}".removeprefix(".")
        if "required" in value:
            properties[key] = _explained(value, inner, texts)
        else:
            properties[key] = {**value, "description": texts.get(inner, value["description"])}
    return {**schema, "properties": properties}


def _requirements(schema: Schema) -> Schema:
    """What a schema requires of a group and of the groups within it, and nothing else."""
    groups = {key: value for key, value in schema["properties"].items() if "required" in value}
    return {
        "required": schema["required"],
        "properties": {key: _requirements(value) for key, value in groups.items()},
    }
