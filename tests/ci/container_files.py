"""The Dockerfile and compose.yaml as data."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from tests.source_tree import ROOT

DOCKERFILE: Final = ROOT / "Dockerfile"
COMPOSE: Final = ROOT / "compose.yaml"
KNOWN: Final = frozenset(
    {
        *("ARG", "FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "EXPOSE"),
        *("HEALTHCHECK", "ENTRYPOINT", "CMD"),
    }
)
OPTION: Final = re.compile(r"--([a-z-]+)=(\S+)\s+")


@dataclass(frozen=True, kw_only=True)
class Instruction:
    """A line of a Dockerfile: `options` are those with two dashes, `text` is what follows them."""

    name: str
    options: dict[str, str]
    text: str

    @property
    def words(self) -> list[str]:
        """The words of a command in the form of JSON."""
        return [str(word) for word in json.loads(self.text.removeprefix("CMD "))]


@dataclass(frozen=True, kw_only=True)
class Stage:
    """What is built from one FROM on."""

    base: str
    name: str
    instructions: list[Instruction] = field(default_factory=list)

    def last(self, name: str) -> Instruction:
        return [each for each in self.instructions if each.name == name][-1]


def stages() -> list[Stage]:
    """The stages of the Dockerfile; raises ValueError for an instruction that is not known here."""
    found: list[Stage] = []
    for instruction in _instructions(DOCKERFILE):
        if instruction.name == "FROM":
            base, _, name = instruction.text.partition(" AS ")
            found.append(Stage(base=base, name=name))
        elif found:
            found[-1].instructions.append(instruction)
    return found


def arguments() -> dict[str, str]:
    """What stands before the first stage, with its defaults."""
    given = [each.text for each in _instructions(DOCKERFILE) if each.name == "ARG"]
    return dict(text.split("=", 1) for text in given)


def services() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml.safe_load(COMPOSE.read_text("utf-8"))["services"]
    return found


def _instructions(path: Path) -> Iterator[Instruction]:
    lines = [line for line in path.read_text("utf-8").splitlines() if not line.startswith("#")]
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        name, _, text = line.strip().partition(" ")
        if not name:
            continue
        if name not in KNOWN:
            raise ValueError(f"{path.name}: {name} is not known here")
        options = dict(OPTION.findall(text)) if name in {"COPY", "HEALTHCHECK"} else {}
        yield Instruction(
            name=name,
            options=options,
            text=OPTION.sub("", text).strip() if options else text.strip(),
        )
