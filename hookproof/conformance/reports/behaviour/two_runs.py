"""What is compared of two runs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from hookproof.conformance.results.behaviour.answers import (
    OperationBehaviour,
    OtherStatus,
    other_statuses,
)
from hookproof.conformance.results.behaviour.behaviour import Behaviour, DeliveryBehaviour
from hookproof.conformance.results.behaviour.shapes import FieldShape

NOTHING: Final = OperationBehaviour(statuses={}, took_s=())


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferingShape:
    """A field of resources, or of what else answers consist of; None where it never was."""

    kind: str
    path: str
    before: FieldShape | None
    after: FieldShape | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoBehaviours:
    """What two targets did, side by side."""

    before: Behaviour
    after: Behaviour

    @property
    def operations(self) -> list[tuple[str, OperationBehaviour, OperationBehaviour]]:
        """Each operation that was called in one of them."""
        first, second = self.before.operations, self.after.operations
        return [
            (name, first.get(name, NOTHING), second.get(name, NOTHING))
            for name in sorted({*first, *second})
        ]

    @property
    def deliveries(self) -> tuple[DeliveryBehaviour, DeliveryBehaviour]:
        return self.before.deliveries, self.after.deliveries

    @property
    def other_statuses(self) -> tuple[int, list[OtherStatus]]:
        return other_statuses(self.before.places, self.after.places)

    @property
    def differing_shapes(self) -> Iterator[DifferingShape]:
        """The fields that are in one of them alone, or have other types, or are not always there.

        What one of the targets was never seen to answer at all is not compared.
        """
        for kind in [kind for kind in self.before.shapes if kind in self.after.shapes]:
            shapes = self.before.shapes[kind], self.after.shapes[kind]
            for path in sorted({*shapes[0], *shapes[1]}):
                before, after = (each.get(path) for each in shapes)
                if not _is_below_another(path, *shapes) and _kinds(before) != _kinds(after):
                    yield DifferingShape(kind=kind, path=path, before=before, after=after)


def _kinds(shape: FieldShape | None) -> object:
    return shape and shape.kinds


def _is_below_another(
    path: str, before: Mapping[str, FieldShape], after: Mapping[str, FieldShape]
) -> bool:
    """Whether what it is in is already in one of them alone."""
    around = path
    while around := around.rpartition(".")[0] if not around.endswith("[]") else around[:-2]:
        if (around in before) != (around in after):
            return True
    return False
