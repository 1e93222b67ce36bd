"""Projects and their API keys, from the command line and from a YAML file (section 5).

projects:
- {id: demo, api_key: demo-key}
- {id: other, api_key: other-key}
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from hookproof.spec.strict_yaml.reader import read_yaml

_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["projects"],
    "additionalProperties": False,
    "properties": {
        "projects": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["id", "api_key"],
                "additionalProperties": False,
                "properties": {
                    "id": {"type": "string", "minLength": 1},
                    "api_key": {"type": "string", "minLength": 1},
                },
            },
        }
    },
}


def read_projects(
    path: Path | None, pairs: Iterable[tuple[str, str]]
) -> Mapping[str, Sequence[str]]:
    """All projects with their keys, one project may have several; raises
    spec.yaml_file.FileProblems.
    """
    listed = (
        []
        if path is None
        else [(one["id"], one["api_key"]) for one in read_yaml(path, _SCHEMA)["projects"]]
    )
    projects: dict[str, list[str]] = {}
    for project, key in (*listed, *pairs):
        projects.setdefault(project, []).append(key)
    return projects
