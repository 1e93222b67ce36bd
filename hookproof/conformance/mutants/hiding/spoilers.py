"""The spoilers of `spoilers.yaml`, and what each may hide."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import combinations
from pathlib import Path
from typing import Any, Final

from hookproof.spec.strict_yaml.reader import read_yaml

SPOILERS: Final = Path(__file__).parent / "spoilers.yaml"

_TEXT: Final = {"type": "string", "minLength": 1}
_TEXTS: Final = {"type": "array", "minItems": 1, "items": _TEXT}
_HIDES: Final = {
    "type": "array",
    "items": {
        "type": "object",
        "additionalProperties": False,
        "required": ["because", "requirements"],
        "properties": {"because": _TEXT, "requirements": _TEXTS},
    },
}
_TOGETHER: Final = {
    "type": "array",
    "items": {
        "type": "object",
        "additionalProperties": False,
        "required": ["one", "other", "because", "requirements"],
        "properties": {
            "one": _TEXTS,
            "other": _TEXTS,
            "because": _TEXT,
            "requirements": _TEXTS,
        },
    },
}
_SPOILER: Final = {
    "type": "object",
    "additionalProperties": False,
    "oneOf": [{"required": ["fault"]}, {"required": ["variant"]}],
    "properties": {
        "fault": _TEXT,
        "variant": _TEXT,
        "whole_operation": {"type": "boolean"},
        "hides": _HIDES,
    },
}
_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["spoilers", "faults"],
    "properties": {
        "spoilers": {"type": "object", "additionalProperties": _SPOILER},
        "together": _TOGETHER,
        "faults": {"type": "object", "additionalProperties": _HIDES},
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Hiding:
    """What is hidden for one reason: ids of requirements, and patterns with `*` and `[..]`."""

    because: str
    requirements: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoiler:
    """One or two spoilers at once, with `deviations` as words of the server's command line.

    `whole_operation` is whether an operation never succeeds, so that everything about it is lost.
    What a server with `generated` faults hides is measured, and named nowhere.
    """

    name: str
    deviations: tuple[str, ...]
    whole_operation: bool = False
    hides: tuple[Hiding, ...] = ()
    generated: bool = False

    @property
    def faults(self) -> int:
        """How many faults or variants the server has at once."""
        return len(self.deviations) // 2  # a flag and a name each

    def may_hide(self, requirement: str) -> bool:
        return any(
            fnmatchcase(requirement, pattern)
            for hiding in self.hides
            for pattern in hiding.requirements
        )

    def together_with(self, other: "Spoiler", hides: Iterable[Hiding] = ()) -> "Spoiler":
        """Both at once; they may also hide what is given."""
        return Spoiler(
            name=f"{self.name}+{other.name}",
            deviations=(*self.deviations, *other.deviations),
            whole_operation=self.whole_operation or other.whole_operation,
            hides=(*self.hides, *other.hides, *hides),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class HidingTogether:
    """What a spoiler named in `one` hides with one in `other`, and neither does alone."""

    one: frozenset[str]
    other: frozenset[str]
    hiding: Hiding

    def is_about(self, first: Spoiler, second: Spoiler) -> bool:
        names = (first.name, second.name)
        return any(
            one in self.one and other in self.other for one, other in (names, reversed(names))
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownSpoilers:
    """The spoilers in the order of the file, what two hide together, and faults of the catalogue
    that hide something, by name.
    """

    spoilers: tuple[Spoiler, ...]
    together: tuple[HidingTogether, ...]
    faults: Mapping[str, Spoiler]

    @property
    def pairs(self) -> tuple[Spoiler, ...]:
        """Every two of the spoilers together."""
        return tuple(
            first.together_with(
                second, [each.hiding for each in self.together if each.is_about(first, second)]
            )
            for first, second in combinations(self.spoilers, 2)
        )

    def of_fault(self, name: str) -> Spoiler:
        """A fault of the catalogue as a spoiler."""
        return self.faults.get(name) or _spoiler(name, {"fault": name})


def read_spoilers(path: Path = SPOILERS) -> KnownSpoilers:
    """What the file says; raises FileProblems."""
    content = read_yaml(path, _SCHEMA)
    return KnownSpoilers(
        spoilers=tuple(_spoiler(name, fields) for name, fields in content["spoilers"].items()),
        together=tuple(
            HidingTogether(
                one=frozenset(item["one"]),
                other=frozenset(item["other"]),
                hiding=_hidings([item])[0],
            )
            for item in content.get("together", ())
        ),
        faults={
            name: _spoiler(name, {"fault": name, "hides": hides})
            for name, hides in content["faults"].items()
        },
    )


def _spoiler(name: str, fields: Mapping[str, Any]) -> Spoiler:
    return Spoiler(
        name=name,
        deviations=tuple(
            word
            for kind in ("fault", "variant")
            if kind in fields
            for word in (f"--{kind}", fields[kind])
        ),
        whole_operation=fields.get("whole_operation", False),
        hides=_hidings(fields.get("hides", ())),
    )


def _hidings(items: Sequence[Mapping[str, Any]]) -> tuple[Hiding, ...]:
    return tuple(
        Hiding(because=item["because"], requirements=tuple(item["requirements"])) for item in items
    )
