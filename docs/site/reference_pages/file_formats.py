"""The formats of files: their JSON Schemas, and a table of the members of each."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import hookproof.conformance.reports
from docs.site.reference_pages.page import ReferencePage, render
from hookproof.commands.schema import SCHEMAS
from hookproof.receiver.vectors.corpus import SCHEMA_FILE
from hookproof.spec.strict_yaml.editor_schema import editor_schema
from hookproof.spec.strict_yaml.schema_wording import wanted

# A dialect is described field by field on pages of its own.
_DESCRIBED_ELSEWHERE: Final = "dialect"
_DEEPEST: Final = 4
_WRITTEN_FILES: Final = {
    "report": Path(hookproof.conformance.reports.__file__).parent / "report.schema.json",
    "vectors": SCHEMA_FILE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FileMember:
    """A member of a file under its path, as in `projects[].id`."""

    path: str
    expected: str
    required: bool
    description: str


def file_format_pages() -> Iterator[ReferencePage]:
    read = {kind: editor_schema(kind, schema()) for kind, schema in SCHEMAS.items()}
    written = {name: json.loads(path.read_text("utf-8")) for name, path in _WRITTEN_FILES.items()}
    for name, schema in {**read, **written}.items():
        yield ReferencePage(
            path=f"reference/schemas/{name}.schema.json",
            title=name,
            text=f"{json.dumps(schema, indent=1)}\n",
        )
    yield render(
        "reference/file-formats.md",
        "File formats",
        "file_formats.md",
        read={kind: list(_members(SCHEMAS[kind]())) for kind in read},
        written={name: list(_members(schema)) for name, schema in written.items()},
        elsewhere=_DESCRIBED_ELSEWHERE,
    )


def _members(schema: Mapping[str, Any]) -> Iterator[FileMember]:
    yield from _within(schema, "", schema.get("$defs", {}))


def _within(schema: Mapping[str, Any], path: str, defs: Mapping[str, Any]) -> Iterator[FileMember]:
    schema = _resolved(schema, defs)
    required = schema.get("required", ())
    for name, found in schema.get("properties", {}).items():
        member = _resolved(found, defs)
        inner = f"{path}.{name}" if path else name
        yield FileMember(
            path=inner,
            expected=wanted(member),
            required=name in required,
            description=member.get("description", ""),
        )
        if inner.count(".") < _DEEPEST and name != _DESCRIBED_ELSEWHERE:
            yield from _within(member, inner, defs)
    if isinstance(schema.get("items"), Mapping):
        yield from _within(schema["items"], f"{path}[]", defs)
    further = schema.get("additionalProperties")
    if isinstance(further, Mapping) and path:
        yield from _within(further, f"{path}.*", defs)
    for keyword in ("anyOf", "oneOf"):
        for branch in schema.get(keyword, ()):
            yield from _within(branch, path, defs)


def _resolved(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = schema.get("$ref", "")
    return defs.get(reference.rpartition("/")[2], schema) if reference else schema
