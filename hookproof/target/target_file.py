"""Reads target.yaml. What the file and the command line say together is in `settings.py`.

base_url: http://127.0.0.1:5005
projects:
  - {id: p1, api_key: "${KEY}"}        # ${NAME} reads the environment
  - {id: p2, api_key: "${KEY2}"}       # a second project enables the isolation requirements
headers: {X-Version: "2"}              # of every request to the API
connection: {ca: api-ca.pem}           # how the API is reached, see hookproof/target/connection.py
dialect: ours.yaml                     # a name, a file beside this one, or an inline mapping
receiver: {bind: "127.0.0.1:0", public_url: "https://127.0.0.1:8443", ca: ca.pem, ca_key: ca.key}
budgets: {request_s: 10, delivery_s: 10, quiet_s: 2, total_s: 120}
provision: ./hooks.py:Provisioner      # or steps for each hook, see hookproof/target/hooks/
fixtures: {p1: {portal_links: [...], sources: [...]}}    # identifiers; found by listing when absent
capabilities: {mtls: no, api_key: yes}                   # auto for those that are not named
egress_canaries: [192.0.2.10]          # addresses of this machine that the target must not reach
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from hookproof.spec.strict_yaml.file_problem import FileProblems, Location, Problem
from hookproof.spec.strict_yaml.parser import YamlText
from hookproof.spec.strict_yaml.reader import check_yaml, parse_yaml, read_text
from hookproof.target.file_schema import SCHEMA

VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetFile:
    """The content of a target file, which agrees with the schema; empty where there is no file."""

    path: Path | None = None
    content: YamlText = field(default_factory=lambda: YamlText(value={}))

    @property
    def folder(self) -> Path:
        """Where the relative paths in the file start."""
        return Path() if self.path is None else self.path.parent

    @property
    def values(self) -> Mapping[str, Any]:
        """The settings by their keys."""
        values: Mapping[str, Any] = self.content.value
        return values

    @property
    def receiver(self) -> Mapping[str, Any]:
        """The settings of the receiver."""
        receiver: Mapping[str, Any] = self.values.get("receiver", {})
        return receiver

    @property
    def api_keys(self) -> dict[str, str]:
        """The API key of each project by its id, in the order of the file."""
        return {project["id"]: project["api_key"] for project in self.values.get("projects", [])}

    def refuse(self, problems: Iterable[tuple[Location, str]]) -> None:
        """Raise FileProblems with the lines of these problems, if there are any."""
        lines = [self.content.problem(location, message) for location, message in problems]
        if lines:
            raise FileProblems(str(self.path), lines)


NO_FILE: Final = TargetFile()


def read_target_file(path: Path | None, environment: Mapping[str, str]) -> TargetFile:
    """The file at `path`, with each ${NAME} replaced; raises FileProblems.

    Variables are replaced in the texts that the YAML holds, so that no value of the environment can
    change the structure of the file, and a comment needs none.
    """
    if path is None:
        return NO_FILE
    content = parse_yaml(read_text(path), str(path))
    problems: list[Problem] = []
    value = _filled(content, (), content.value, environment, problems)
    if problems:
        raise FileProblems(str(path), problems)
    filled = YamlText(value=value, lines=content.lines)
    check_yaml(filled, SCHEMA, str(path))
    return TargetFile(path=path, content=filled)


def read_portable_target_file(
    path: Path, environment: Mapping[str, str], schema: Mapping[str, Any]
) -> TargetFile:
    """The file at `path` as it is wherever some of its variables are not set: each ${NAME} without
    a value stays as it is written; raises FileProblems.

    `schema` is one that accepts variables, as that for editors does.
    """
    content = parse_yaml(read_text(path), str(path))
    check_yaml(content, schema, str(path))
    known = {name: f"${{{name}}}" for name in variables_in(content.value)} | dict(environment)
    value = _filled(content, (), content.value, known, [])
    return TargetFile(path=path, content=YamlText(value=value, lines=content.lines))


def variables_in(value: Any) -> Iterator[str]:
    """The names of the variables in the texts of a value."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from variables_in(item)
    elif isinstance(value, str):
        yield from VARIABLE.findall(value)


def _filled(
    content: YamlText,
    location: Location,
    value: Any,
    environment: Mapping[str, str],
    problems: list[Problem],
) -> Any:
    """A value whose texts have each ${NAME} replaced from the environment."""
    if isinstance(value, dict):
        return {
            key: _filled(content, (*location, key), item, environment, problems)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [
            _filled(content, (*location, index), item, environment, problems)
            for index, item in enumerate(value)
        ]
    if not isinstance(value, str):
        return value
    problems.extend(
        content.problem(location, f"the environment variable {name} is not set")
        for name in VARIABLE.findall(value)
        if name not in environment
    )
    return VARIABLE.sub(lambda match: environment.get(match[1], ""), value)
