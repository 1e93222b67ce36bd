"""Chooses the operation of the next slot: by weight, and evenly, so that short runs have each."""

from collections.abc import Mapping


class OperationMix:
    """The operation that is furthest behind its weight is next."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        self._weights = dict(weights)
        self._total = sum(self._weights.values())
        self._due = dict.fromkeys(self._weights, 0.0)

    def take(self) -> str:
        """The operationId of the next slot."""
        if len(self._due) == 1:
            return next(iter(self._due))
        for operation_id, weight in self._weights.items():
            self._due[operation_id] += weight
        chosen = max(self._due, key=self._due.__getitem__)
        self._due[chosen] -= self._total
        return chosen
