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
    """Return the API keys by project id, from the file and from (id, key) pairs.

    A project may have several keys. Raises spec.strict_yaml.FileProblems.
    """
    records = [] if path is None else read_yaml(path, _SCHEMA)["projects"]
    keys: dict[str, list[str]] = {}
    for project, key in (*((record["id"], record["api_key"]) for record in records), *pairs):
        keys.setdefault(project, []).append(key)
    return keys
