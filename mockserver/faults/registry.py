"""The register of faults and variants: what each breaks, and the collaborator whose place it takes."""

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any, Final, TypeVar

from hookproof.mockserver.collaborators import Collaborators
from hookproof.mockserver.delivery.collaborators import DeliveryCollaborators
from hookproof.spec.dialect.model import Dialect, Undecided

# Whether a fault is one under this dialect: elsewhere it would change nothing, or be the right
# thing to do.
Where = Callable[[Dialect], bool]

_NEW_WORD: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_Part = TypeVar("_Part", bound=type)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One deviation. `part` replaces the collaborator named `replaces`; a variant violates nothing.

    `violates` is what it is held to, `also` what breaks with it and shows only where one looks at
    everything. `seen` says where a service or a client was seen to do this; `shows_in` names
    experiments that are enough to see it.
    """

    name: str
    broken: str
    violates: tuple[str, ...]
    also: tuple[str, ...]
    seen: str
    area: str
    part: type
    replaces: str
    delivers: bool
    where: Where
    shows_in: tuple[str, ...]

    @property
    def innocent(self) -> bool:
        """Whether it is a variant, which the document allows."""
        return not self.violates

    def applies(self, dialect: Dialect) -> bool:
        """Whether it is a fault, or a variant, under this dialect; not if that hangs on what it
        leaves open.
        """
        try:
            return self.where(dialect)
        except Undecided:
            return False

    def described(self, dialect: Dialect) -> dict[str, Any]:
        """What is told of it as JSON; `applies` is for this dialect."""
        return {
            "name": self.name,
            "broken": self.broken,
            "violates": list(self.violates),
            "also": list(self.also),
            "seen": self.seen,
            "area": self.area,
            "replaces": self.replaces,
            "innocent": self.innocent,
            "applies": self.applies(dialect),
            "shows_in": list(self.shows_in),
        }


_registered: dict[str, Fault] = {}


def everywhere(_dialect: Dialect) -> bool:
    """Under every dialect."""
    return True


def fault(
    *violates: str,
    also: Sequence[str] = (),
    seen: str = "",
    where: Where = everywhere,
    shows_in: Sequence[str] = (),
) -> Callable[[_Part], _Part]:
    """Register a class as the fault of its name; its docstring says what is broken."""

    def register(part: _Part) -> _Part:
        _register(
            part,
            tuple(violates),
            also=tuple(also),
            seen=seen,
            where=where,
            shows_in=tuple(shows_in),
        )
        return part

    return register


def variant(*, where: Where = everywhere) -> Callable[[_Part], _Part]:
    """Register a class as a clean variant: its docstring says what is different, and the document
    allows it.
    """
    return fault(where=where)


def catalogue() -> Mapping[str, Fault]:
    """Every fault and variant of the modules beside this one, by name."""
    package = importlib.import_module("hookproof.mockserver.faults.catalogue")
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)
    return MappingProxyType(_registered)


def with_faults(made_of: Collaborators, faults: Iterable[Fault]) -> Collaborators:
    """The collaborators with each fault in its place; two at the same place are both there, the
    later one in front.
    """
    for one in faults:
        made_of = (
            replace(made_of, delivery=_with(made_of.delivery, one))
            if one.delivers
            else _with(made_of, one)
        )
    return made_of


_Record = TypeVar("_Record", Collaborators, DeliveryCollaborators)


def _with(record: _Record, one: Fault) -> _Record:
    known: type = getattr(record, one.replaces)
    part = (
        one.part if issubclass(one.part, known) else type(one.part.__name__, (one.part, known), {})
    )
    changed: dict[str, Any] = {one.replaces: part}
    return replace(record, **changed)


def _register(
    part: type,
    violates: tuple[str, ...],
    *,
    also: tuple[str, ...],
    seen: str,
    where: Where,
    shows_in: tuple[str, ...],
) -> None:
    name = _NEW_WORD.sub("_", part.__name__).lower()
    if name in _registered:
        raise ValueError(f"two faults are named {name}")
    replaces, delivers = _place(part)
    _registered[name] = Fault(
        name=name,
        broken=" ".join((part.__doc__ or "").split()),
        violates=violates,
        also=also,
        seen=seen,
        area=part.__module__.rpartition(".")[2],
        part=part,
        replaces=replaces,
        delivers=delivers,
        where=where,
        shows_in=shows_in,
    )


def _place(part: type) -> tuple[str, bool]:
    """The collaborator that a class can stand in for, and whether it is one of the delivery engine."""
    for kind in (Collaborators, DeliveryCollaborators):
        for place in fields(kind):
            if isinstance(place.default, type) and issubclass(part, place.default):
                return place.name, kind is DeliveryCollaborators
    raise ValueError(f"{part.__name__} is a kind of no collaborator")
