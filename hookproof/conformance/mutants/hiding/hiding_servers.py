"""The hiding servers of `hiding_servers.yaml`, and what each may hide."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import combinations
from pathlib import Path
from typing import Final

import msgspec

from hookproof.spec.strict_yaml.reader import read_yaml

HIDING_SERVERS: Final = Path(__file__).parent / "hiding_servers.yaml"


class Hiding(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is hidden for one reason: ids of requirements, and patterns with `*` and `[..]`."""

    because: str
    requirements: tuple[str, ...]


class HidingTogether(Hiding, frozen=True, kw_only=True):
    """What a server named in `one` hides together with one in `other`, and neither does alone."""

    one: frozenset[str]
    other: frozenset[str]

    def is_about(self, first: "HidingServer", second: "HidingServer") -> bool:
        names = (first.name, second.name)
        return any(
            one in self.one and other in self.other for one, other in (names, reversed(names))
        )


class _WrittenServer(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A hiding server as the file has it: a fault or a variant."""

    fault: str = ""
    variant: str = ""
    whole_operation: bool = False
    hides: tuple[Hiding, ...] = ()

    def __post_init__(self) -> None:
        if bool(self.fault) == bool(self.variant):
            raise ValueError("a hiding server is a fault or a variant")

    def named(self, name: str) -> "HidingServer":
        kind, deviation = ("fault", self.fault) if self.fault else ("variant", self.variant)
        return HidingServer(
            name=name,
            deviations=(f"--{kind}", deviation),
            whole_operation=self.whole_operation,
            hides=self.hides,
        )


class _WrittenFile(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    servers: dict[str, _WrittenServer]
    together: tuple[HidingTogether, ...] = ()
    faults: dict[str, tuple[Hiding, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class HidingServer:
    """A hiding server, or two in one, with `deviations` as words of the server's command line.

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

    def together_with(self, other: "HidingServer", hides: Iterable[Hiding] = ()) -> "HidingServer":
        """Both at once; they may also hide what is given."""
        return HidingServer(
            name=f"{self.name}+{other.name}",
            deviations=(*self.deviations, *other.deviations),
            whole_operation=self.whole_operation or other.whole_operation,
            hides=(*self.hides, *other.hides, *hides),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownHidingServers:
    """The servers in the order of the file, what two hide together, and faults of the catalogue
    that hide something, by name.
    """

    servers: tuple[HidingServer, ...]
    together: tuple[HidingTogether, ...]
    faults: Mapping[str, HidingServer]

    @property
    def pairs(self) -> tuple[HidingServer, ...]:
        """Every two of the servers in one."""
        return tuple(
            first.together_with(
                second, [each for each in self.together if each.is_about(first, second)]
            )
            for first, second in combinations(self.servers, 2)
        )

    def of_fault(self, name: str) -> HidingServer:
        return self.faults.get(name) or _WrittenServer(fault=name).named(name)


def read_hiding_servers(path: Path = HIDING_SERVERS) -> KnownHidingServers:
    """What the file says; raises FileProblems."""
    content = read_yaml(path, msgspec.json.schema(_WrittenFile))
    written = msgspec.convert(content, _WrittenFile)
    return KnownHidingServers(
        servers=tuple(each.named(name) for name, each in written.servers.items()),
        together=written.together,
        faults={
            name: _WrittenServer(fault=name, hides=hides).named(name)
            for name, hides in written.faults.items()
        },
    )
