"""The spoilers of `spoilers.yaml`, and what each may hide."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import combinations
from pathlib import Path
from typing import Final

import msgspec

from hookproof.spec.strict_yaml.reader import read_yaml

SPOILERS: Final = Path(__file__).parent / "spoilers.yaml"


class Hiding(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is hidden for one reason: ids of requirements, and patterns with `*` and `[..]`."""

    because: str
    requirements: tuple[str, ...]


class HidingTogether(Hiding, frozen=True, kw_only=True):
    """What a spoiler named in `one` hides with one in `other`, and neither does alone."""

    one: frozenset[str]
    other: frozenset[str]

    def is_about(self, first: "Spoiler", second: "Spoiler") -> bool:
        names = (first.name, second.name)
        return any(
            one in self.one and other in self.other for one, other in (names, reversed(names))
        )


class _WrittenSpoiler(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A spoiler as the file has it: a fault or a variant."""

    fault: str = ""
    variant: str = ""
    whole_operation: bool = False
    hides: tuple[Hiding, ...] = ()

    def __post_init__(self) -> None:
        if bool(self.fault) == bool(self.variant):
            raise ValueError("a spoiler is a fault or a variant")

    def named(self, name: str) -> "Spoiler":
        kind, deviation = ("fault", self.fault) if self.fault else ("variant", self.variant)
        return Spoiler(
            name=name,
            deviations=(f"--{kind}", deviation),
            whole_operation=self.whole_operation,
            hides=self.hides,
        )


class _WrittenSpoilers(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    spoilers: dict[str, _WrittenSpoiler]
    together: tuple[HidingTogether, ...] = ()
    faults: dict[str, tuple[Hiding, ...]]


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
                second, [each for each in self.together if each.is_about(first, second)]
            )
            for first, second in combinations(self.spoilers, 2)
        )

    def of_fault(self, name: str) -> Spoiler:
        return self.faults.get(name) or _WrittenSpoiler(fault=name).named(name)


def read_spoilers(path: Path = SPOILERS) -> KnownSpoilers:
    """What the file says; raises FileProblems."""
    content = read_yaml(path, msgspec.json.schema(_WrittenSpoilers))
    written = msgspec.convert(content, _WrittenSpoilers)
    return KnownSpoilers(
        spoilers=tuple(each.named(name) for name, each in written.spoilers.items()),
        together=written.together,
        faults={
            name: _WrittenSpoiler(fault=name, hides=hides).named(name)
            for name, hides in written.faults.items()
        },
    )
