"""A load profile: what is sent, how fast and how long; one YAML file each in `profiles/`."""

from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Final

from spec.yaml_file import FileProblems, Problem, read_yaml

SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["name", "summary", "rate", "duration_s", "users", "drain_s"],
    "properties": {
        "name": {"type": "string"},
        "summary": {"type": "string"},
        "rate": {"type": "number", "exclusiveMinimum": 0, "maximum": 100_000},
        "duration_s": {"type": "number", "exclusiveMinimum": 0, "maximum": 3600},
        "users": {"type": "integer", "minimum": 1, "maximum": 1024},
        "drain_s": {"type": "number", "minimum": 0, "maximum": 3600},
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """`rate` is broadcasts a second, `users` the most requests in flight; durations are seconds."""

    name: str
    summary: str
    rate: float
    duration_s: float
    users: int
    drain_s: float


def shipped_profiles() -> tuple[str, ...]:
    """The names of the profiles that come with hookproof."""
    return tuple(sorted(one.name.removesuffix(".yaml") for one in _folder().iterdir() if one.suffix == ".yaml"))


def load_profile(name_or_path: str) -> Profile:
    """A shipped profile by name, or any other by path; raises FileProblems."""
    if "/" in name_or_path or name_or_path.endswith((".yaml", ".yml")):
        return Profile(**read_yaml(Path(name_or_path), SCHEMA))
    if name_or_path not in shipped_profiles():
        message = f"no profile has this name; expected a path or one of: {', '.join(shipped_profiles())}"
        raise FileProblems(name_or_path, [Problem(line=None, where="", message=message)])
    return Profile(**read_yaml(_folder() / f"{name_or_path}.yaml", SCHEMA))


def _folder() -> Path:
    return Path(str(resources.files("load") / "profiles"))
