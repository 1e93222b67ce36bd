"""The registry of faults and variants: what each breaks, and the collaborator that it replaces."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from types import MappingProxyType
from typing import Any, Final, TypeVar

from hookproof.mockserver.collaborators import Collaborators
from hookproof.mockserver.delivery.collaborators import DeliveryCollaborators
from hookproof.mockserver.faults.renamed import former_names
from hookproof.spec.catalogue import load_catalogue
from hookproof.spec.dialect.answer import Undecided
from hookproof.spec.dialect.model import Dialect

# Whether a fault is one under this dialect: under others it changes nothing, or is right.
Where = Callable[[Dialect], bool]

_NEW_WORD: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_Part = TypeVar("_Part", bound=type)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault, or a variant if it breaks no law. `part` replaces the collaborator `replaces`.

    `laws` are references, as `Catalogue.of_laws` reads them. `seen` describes the defect of a real
    service or client that the fault imitates. `shows_in` names experiments that are enough to see
    it. `delivers`: whether the collaborator belongs to the delivery engine.
    """

    name: str
    broken: str
    laws: tuple[str, ...]
    seen: str
    area: str
    part: type
    replaces: str
    delivers: bool
    where: Where
    shows_in: tuple[str, ...]

    @property
    def violates(self) -> tuple[str, ...]:
        """The requirements that the suites must find violated, and no others."""
        return _violated(self.laws)

    @property
    def is_variant(self) -> bool:
        return not self.laws

    def applies(self, dialect: Dialect) -> bool:
        """Whether it is a fault, or a variant, under this dialect.

        It is not if that depends on an answer that the dialect leaves open.
        """
        try:
            return self.where(dialect)
        except Undecided:
            return False

    def describe(self, dialect: Dialect) -> dict[str, Any]:
        """Describe it as plain data; `applies` is for this dialect."""
        return {
            "name": self.name,
            "former_names": list(former_names(self.name)),
            "broken": self.broken,
            "violates": list(self.violates),
            "also": [],  # part of the format since it listed what is folded or violated now
            "seen": self.seen,
            "area": self.area,
            "replaces": self.replaces,
            "innocent": self.is_variant,
            "applies": self.applies(dialect),
            "shows_in": list(self.shows_in),
        }


_registered: dict[str, Fault] = {}


@cache
def _violated(laws: tuple[str, ...]) -> tuple[str, ...]:
    return load_catalogue().of_laws(laws)


def everywhere(_dialect: Dialect) -> bool:
    return True


def fault(
    laws: str = "",
    *,
    seen: str = "",
    where: Where = everywhere,
    shows_in: Sequence[str] = (),
) -> Callable[[_Part], _Part]:
    """Register a class as a fault of these laws; its docstring says what is broken."""

    def register(part: _Part) -> _Part:
        _register(
            part,
            tuple(laws.split()),
            seen=seen,
            where=where,
            shows_in=tuple(shows_in),
        )
        return part

    return register


def variant(*, where: Where = everywhere) -> Callable[[_Part], _Part]:
    """Register a class as a conforming variant; its docstring says what is different."""
    return fault(where=where)


def registered_faults() -> Mapping[str, Fault]:
    """The faults and variants of all modules that were imported, by name."""
    return MappingProxyType(_registered)


def with_faults(collaborators: Collaborators, faults: Iterable[Fault]) -> Collaborators:
    """The collaborators with each fault in its place.

    Two faults of the same collaborator are combined; the later one overrides the earlier one.
    """
    for item in faults:
        if item.delivers:
            delivery = _with_fault(collaborators.delivery, item)
            collaborators = replace(collaborators, delivery=delivery)
        else:
            collaborators = _with_fault(collaborators, item)
    return collaborators


_Record = TypeVar("_Record", Collaborators, DeliveryCollaborators)


def _with_fault(record: _Record, item: Fault) -> _Record:
    current: type = getattr(record, item.replaces)
    part = item.part
    if not issubclass(part, current):
        # Another fault replaces the same collaborator: inherit from both.
        part = type(part.__name__, (part, current), {})
    changed: dict[str, Any] = {item.replaces: part}
    return replace(record, **changed)


def _register(
    part: type,
    laws: tuple[str, ...],
    *,
    seen: str,
    where: Where,
    shows_in: tuple[str, ...],
) -> None:
    name = _NEW_WORD.sub("_", part.__name__).lower()
    if name in _registered:
        raise ValueError(f"two faults are named {name}")
    replaces, delivers = replaced_collaborator(part)
    _registered[name] = Fault(
        name=name,
        broken=" ".join((part.__doc__ or "").split()),
        laws=laws,
        seen=seen,
        area=part.__module__.rpartition(".")[2],
        part=part,
        replaces=replaces,
        delivers=delivers,
        where=where,
        shows_in=shows_in,
    )


def replaced_collaborator(part: type) -> tuple[str, bool]:
    """The collaborator that a class replaces, and whether it belongs to the delivery engine."""
    for kind in (Collaborators, DeliveryCollaborators):
        for field in fields(kind):
            if isinstance(field.default, type) and issubclass(part, field.default):
                return field.name, kind is DeliveryCollaborators
    raise ValueError(f"{part.__name__} is not a subclass of any collaborator")
