"""Operators, and the faults that they make of places.

An operator says in one sentence what is wrong. At a place, with its parameters, it is a fault with
a name that never changes: `text_cut@createEndpoint.stored.name:length=255`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from hookproof.mockserver.faults.operators.place import Place
from hookproof.mockserver.faults.registry import Fault, replaced_collaborator
from hookproof.spec.dialect.model import Dialect

Parameters = Mapping[str, str]

AT: Final = "@"
_NONE: Final[tuple[Parameters, ...]] = ({},)


@dataclass(frozen=True, slots=True, kw_only=True)
class Alteration:
    """What an operator does at one place under a dialect.

    `part` makes the class that takes the place of a collaborator. `equivalent` says why nobody can
    tell the server from the clean one, or why the document allows it; it is empty for a fault.
    """

    part: Callable[[], type]
    violates: tuple[str, ...] = ()
    equivalent: str = ""


# What an operator does at a place, with its parameters; None where it makes no sense.
FindDefect = Callable[[Place, Parameters, Dialect], Alteration | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """`defect` returns None where the operator makes no sense: it has no fault there."""

    name: str
    group: str
    sentence: str
    applies_to: str
    defect: FindDefect = field(repr=False)
    parameters: tuple[Parameters, ...] = _NONE


# Makes operators of one group, each of its name, sentence, places, defect, and parameters.
MakeOperator = Callable[..., Operator]


def operators_of(group: str) -> MakeOperator:
    """A function that makes operators of this group."""

    def make(
        name: str, sentence: str, applies_to: str, defect: FindDefect, *parameters: Parameters
    ) -> Operator:
        return Operator(
            name=name,
            group=group,
            sentence=sentence,
            applies_to=applies_to,
            defect=defect,
            parameters=parameters or _NONE,
        )

    return make


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedFault:
    """An operator at a place, with its parameters, under the dialect that `defect` is for."""

    operator: Operator
    place: Place
    parameters: Parameters
    defect: Alteration

    @property
    def name(self) -> str:
        members = ",".join(f"{name}={value}" for name, value in self.parameters.items())
        name = f"{self.operator.name}{AT}{self.place.name}"
        return f"{name}:{members}" if members else name

    @property
    def broken(self) -> str:
        details = [f"{name} {value}" for name, value in self.parameters.items()]
        return f"{self.operator.sentence} ({', '.join([self.place.words, *details])})"

    @property
    def is_fault(self) -> bool:
        """Whether somebody can tell, and a requirement says that it is wrong."""
        return bool(self.defect.violates) and not self.defect.equivalent

    def fault(self) -> Fault:
        """The fault as the server is built with it."""
        part = self.defect.part()
        replaces, delivers = replaced_collaborator(part)
        return Fault(
            name=self.name,
            broken=self.broken,
            laws=self.defect.violates,
            seen="",
            area=self.operator.group,
            part=part,
            replaces=replaces,
            delivers=delivers,
            where=lambda _dialect: self.is_fault,
            shows_in=(),
        )

    def describe(self) -> dict[str, Any]:
        """Describe it as plain data, without building it."""
        return {
            "name": self.name,
            "operator": self.operator.name,
            "place": self.place.name,
            "broken": self.broken,
            "violates": list(self.defect.violates),
            "equivalent": self.defect.equivalent,
        }
